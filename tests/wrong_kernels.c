/* Kernel libraries that posgauge must refuse, one for each WRONG_... that is defined. */
#include <stddef.h>

#include "posgauge/kernel.h"

static int32_t Run(const posgauge_call* call, char* why, size_t why_size) {
  (void)call;
  (void)why;
  (void)why_size;
  return POSGAUGE_OK;
}

#define KERNEL(bytes, kernel_name)                                                               \
  {                                                                                              \
    .size = (bytes), .name = (kernel_name), .schemes = "*", .quantity = "rotate",                \
    .inputs = "x:f32 cos:f32 sin:f32", .outputs = "out:f32", .pairings = "half", .contract = "", \
    .invariances = "", .run = Run                                                                \
  }

static const posgauge_kernel kKernels[2] = {
#ifdef WRONG_DESCRIPTOR
    KERNEL(16, "a"),
    KERNEL(16, "b"),
#else
    KERNEL(sizeof(posgauge_kernel), "a"),
    KERNEL(sizeof(posgauge_kernel), "a"),
#endif
};

#ifdef WRONG_SYMBOL
#define posgauge_kernels posgauge_kernel_list
const posgauge_kernel* posgauge_kernels(uint32_t abi_version, size_t* count);
#endif

const posgauge_kernel* posgauge_kernels(uint32_t abi_version, size_t* count) {
#if defined(WRONG_VERSION)
  if (abi_version != POSGAUGE_ABI_VERSION + 1) return NULL;
#else
  (void)abi_version;
#endif
#if defined(WRONG_COUNT)
  *count = 0;
#else
  *count = 2;
#endif
  return kKernels;
}
