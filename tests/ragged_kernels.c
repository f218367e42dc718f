/* Rotary embedding of f32 vectors in ragged batches: cu_seqlens says where each sequence of the
 * token axis begins. FAULT is a mistake that such kernels make, 0 for none. */
#include <math.h>
#include <string.h>

#include "posgauge/kernel.h"

enum Fault { kNone, kPositionsGoOn, kEmptyCounts, kLastLeftOut, kOffsetIgnored, kShortLeftOut };
#ifndef FAULT
#define FAULT kNone
#endif

static double Scalar(const posgauge_call* call, const char* name) {
  for (uint32_t i = 0; i < call->num_scalars; ++i) {
    if (strcmp(call->scalars[i].name, name) == 0) return call->scalars[i].value;
  }
  return NAN;
}

static const posgauge_tensor* Find(const posgauge_call* call, const char* name) {
  for (uint32_t i = 0; i < call->num_inputs; ++i) {
    if (strcmp(call->inputs[i].name, name) == 0) return &call->inputs[i];
  }
  return NULL;
}

static int64_t Integer(const posgauge_tensor* tensor, int64_t at) {
  return tensor->dtype == POSGAUGE_I32 ? ((const int32_t*)tensor->tensor.data)[at]
                                       : ((const int64_t*)tensor->tensor.data)[at];
}

static float* Row(const DLTensor* x, int64_t token, int64_t head) {
  return (float*)((char*)x->data + x->byte_offset) + token * x->strides[0] + head * x->strides[1];
}

static void Turn(const DLTensor* x, const DLTensor* out, int64_t token, double position,
                 double base) {
  const int64_t pairs = x->shape[2] / 2;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const double angle = position * pow(base, -(double)pair / (double)pairs);
    const double c = cos(angle), s = sin(angle);
    for (int64_t head = 0; head < x->shape[1]; ++head) {
      const double u = Row(x, token, head)[pair], v = Row(x, token, head)[pair + pairs];
      Row(out, token, head)[pair] = (float)(u * c - v * s);
      Row(out, token, head)[pair + pairs] = (float)(u * s + v * c);
    }
  }
}

static int32_t Rotate(const posgauge_call* call, char* why, size_t why_size) {
  const DLTensor* x = &Find(call, "x")->tensor;
  const DLTensor* out = &call->outputs[0].tensor;
  const posgauge_tensor *bounds = Find(call, "cu_seqlens"), *offsets = Find(call, "offsets"),
                        *positions = Find(call, "positions");
  const int64_t sequences = bounds->tensor.shape[0] - 1;
  (void)why;
  (void)why_size;
  if (Integer(bounds, 0) != 0 || Integer(bounds, sequences) != x->shape[0]) return POSGAUGE_FAILED;
  int64_t filled = 0; /* sequences that have tokens */
  for (int64_t sequence = 0; sequence < sequences; ++sequence) {
    const int64_t begin = Integer(bounds, sequence), end = Integer(bounds, sequence + 1);
    if (end < begin) return POSGAUGE_FAILED;
    for (int64_t token = begin; token < end; ++token) {
      int64_t position = FAULT == kPositionsGoOn ? token : token - begin;
      if (offsets != NULL && FAULT != kOffsetIgnored) {
        position += Integer(offsets, FAULT == kEmptyCounts ? filled : sequence);
      }
      if (positions != NULL) position = Integer(positions, token);
      if (FAULT == kLastLeftOut && token + 1 == end) position = 0;
      if (FAULT == kShortLeftOut && end - begin == 1) position = 0;
      Turn(x, out, token, (double)position, Scalar(call, "base"));
    }
    if (end > begin) ++filled;
  }
  return POSGAUGE_OK;
}

#define KERNEL(kernel_name, kernel_inputs, farthest)                                               \
  {                                                                                                \
    .size = sizeof(posgauge_kernel), .name = kernel_name, .schemes = "rope", .quantity = "rotate", \
    .inputs = kernel_inputs, .outputs = "out:f32", .pairings = "half",                             \
    .contract =                                                                                    \
        "position=i64 frequency=f64:pow angle=f64 trig=1ulp:f64 table=f64 rotate=f64 "             \
        "store=f32:rne flush=no",                                                                  \
    .invariances = "chunking batch alignment", .largest_position = farthest, .run = Rotate         \
  }

static const posgauge_kernel kKernels[] = {
    KERNEL("ragged.offsets", "x:f32 cu_seqlens:i32 offsets:i64", 0),
    KERNEL("ragged.from_zero", "x:f32 cu_seqlens:i64", LARGEST),
    KERNEL("ragged.positions", "x:f32 positions:i64 cu_seqlens:i32", 0),
};

const posgauge_kernel* posgauge_kernels(uint32_t abi_version, size_t* count) {
  *count = sizeof kKernels / sizeof *kKernels;
  return abi_version == POSGAUGE_ABI_VERSION ? kKernels : NULL;
}
