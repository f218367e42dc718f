#include "posgauge/fast/kernels.h"

// The kernels as a shared library of their own, for the same door that everybody's kernels take.
extern "C" const posgauge_kernel* posgauge_kernels(uint32_t abi_version, size_t* count) {
  return abi_version == POSGAUGE_ABI_VERSION ? posgauge::FastKernels(count) : nullptr;
}
