/* Version 1 of the kernel interface as it was frozen, for LP64: where every field lies, what every
 * number is. Compiles as C99 and as C++, or the interface was changed. */
#include "posgauge/kernel.h"

#define HOLDS(condition) (sizeof(char[(condition) ? 1 : -1]) == 1)
#define AT(type, field, offset, bytes) \
  (HOLDS(offsetof(type, field) == (offset)) && HOLDS(sizeof(((type*)0)->field) == (bytes)))

int KernelInterfaceIsFrozen(void);
int KernelInterfaceIsFrozen(void) {
  return HOLDS(sizeof(void*) == 8 && sizeof(int64_t) == 8 && sizeof(double) == 8) &&
         HOLDS(POSGAUGE_ABI_VERSION == 1) &&

         HOLDS(POSGAUGE_F64 == 0) && HOLDS(POSGAUGE_F32 == 1) && HOLDS(POSGAUGE_BF16 == 2) &&
         HOLDS(POSGAUGE_F16 == 3) && HOLDS(POSGAUGE_I64 == 4) && HOLDS(POSGAUGE_I32 == 5) &&
         HOLDS(POSGAUGE_U8 == 6) && HOLDS(POSGAUGE_F8E4M3 == 7) && HOLDS(POSGAUGE_F8E5M2 == 8) &&
         HOLDS(POSGAUGE_OK == 0) && HOLDS(POSGAUGE_UNSUPPORTED == 1) &&
         HOLDS(POSGAUGE_FAILED == 2) &&

         AT(DLTensor, data, 0, 8) && AT(DLTensor, device, 8, 8) && AT(DLTensor, ndim, 16, 4) &&
         AT(DLTensor, dtype, 20, 4) && AT(DLTensor, shape, 24, 8) && AT(DLTensor, strides, 32, 8) &&
         AT(DLTensor, byte_offset, 40, 8) && HOLDS(sizeof(DLTensor) == 48) &&

         /* Of these two there are arrays: they never grow. */
         AT(posgauge_scalar, name, 0, 8) && AT(posgauge_scalar, value, 8, 8) &&
         HOLDS(sizeof(posgauge_scalar) == 16) &&

         AT(posgauge_tensor, size, 0, 4) && AT(posgauge_tensor, dtype, 4, 4) &&
         AT(posgauge_tensor, name, 8, 8) && AT(posgauge_tensor, tensor, 16, 48) &&
         HOLDS(sizeof(posgauge_tensor) == 64) &&

         /* These may get fields behind the last one. */
         AT(posgauge_call, size, 0, 4) && AT(posgauge_call, num_scalars, 4, 4) &&
         AT(posgauge_call, scheme, 8, 8) && AT(posgauge_call, quantity, 16, 8) &&
         AT(posgauge_call, scalars, 24, 8) && AT(posgauge_call, inputs, 32, 8) &&
         AT(posgauge_call, outputs, 40, 8) && AT(posgauge_call, num_inputs, 48, 4) &&
         AT(posgauge_call, num_outputs, 52, 4) && HOLDS(sizeof(posgauge_call) >= 56) &&

         AT(posgauge_kernel, size, 0, 4) && AT(posgauge_kernel, name, 8, 8) &&
         AT(posgauge_kernel, schemes, 16, 8) && AT(posgauge_kernel, quantity, 24, 8) &&
         AT(posgauge_kernel, inputs, 32, 8) && AT(posgauge_kernel, outputs, 40, 8) &&
         AT(posgauge_kernel, pairings, 48, 8) && AT(posgauge_kernel, contract, 56, 8) &&
         AT(posgauge_kernel, invariances, 64, 8) && AT(posgauge_kernel, in_place, 72, 4) &&
         AT(posgauge_kernel, largest_rotary_dim, 80, 8) &&
         AT(posgauge_kernel, largest_position, 88, 8) && AT(posgauge_kernel, run, 96, 8) &&
         HOLDS(sizeof(posgauge_kernel) >= 104);
}
