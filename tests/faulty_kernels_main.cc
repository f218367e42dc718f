// The kernels of faulty_kernels.h as a library of their own, for the gate to load.
#include "faulty_kernels.h"

extern "C" __attribute__((visibility("default"))) const posgauge_kernel* posgauge_kernels(
    uint32_t abi_version, size_t* count) {
  if (abi_version != POSGAUGE_ABI_VERSION) return nullptr;
  const auto kernels = posgauge::FaultyKernels();
  *count = kernels.size();
  return kernels.data();
}
