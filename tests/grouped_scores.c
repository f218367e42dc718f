/* Scores of alibi with grouped heads, f32 in and out, everything formed in double: query head h
 * reads key head h kv_heads / heads. FAULT 1: h modulo kv_heads. FAULT 2: k has as many heads as q.
 */
#include <math.h>
#include <string.h>

#include "posgauge/kernel.h"

#ifndef FAULT
#define FAULT 0
#endif

static double Scalar(const posgauge_call* call, const char* name) {
  for (uint32_t i = 0; i < call->num_scalars; ++i) {
    if (strcmp(call->scalars[i].name, name) == 0) return call->scalars[i].value;
  }
  return NAN;
}

static int32_t Scores(const posgauge_call* call, char* why, size_t why_size) {
  const DLTensor *from = &call->inputs[0].tensor, *to = &call->inputs[1].tensor;
  const DLTensor *q = &call->inputs[2].tensor, *k = &call->inputs[3].tensor;
  const float *slopes = (const float*)call->inputs[4].tensor.data, *q_row, *k_row;
  float* out = (float*)call->outputs[0].tensor.data;
  const int64_t queries = q->shape[0], heads = q->shape[1], width = q->shape[2];
  const int64_t keys = k->shape[0], kv_heads = FAULT == 2 ? heads : k->shape[1];
  const int causal = Scalar(call, "causal") != 0;
  (void)why;
  (void)why_size;
  for (int64_t head = 0; head < heads; ++head) {
    const int64_t read = FAULT == 1 ? head % kv_heads : head * kv_heads / heads;
    for (int64_t i = 0; i < queries; ++i) {
      for (int64_t j = 0; j < keys; ++j) {
        const int64_t distance = ((int64_t*)from->data)[i] - ((int64_t*)to->data)[j];
        double sum = 0;
        q_row = (const float*)q->data + (i * heads + head) * width;
        k_row = (const float*)k->data + (j * kv_heads + read) * width;
        for (int64_t c = 0; c < width; ++c) sum += (double)q_row[c] * k_row[c];
        sum = sum / sqrt((double)width) - (double)slopes[head] * (double)distance;
        out[(head * queries + i) * keys + j] =
            causal && distance < 0 ? -(float)INFINITY : (float)sum;
      }
    }
  }
  return POSGAUGE_OK;
}

static const posgauge_kernel kKernel = {
    .size = sizeof(posgauge_kernel),
    .name = "grouped.scores",
    .schemes = "alibi",
    .quantity = "scores",
    .inputs = "query_positions:i64 key_positions:i64 q:f32 k:f32 slopes:f32",
    .outputs = "scores:f32",
    .contract = "position=i64 rotate=f64 accumulate=f64 store=f32:rne flush=no",
    .invariances = "grouped",
    .run = Scores};

const posgauge_kernel* posgauge_kernels(uint32_t abi_version, size_t* count) {
  *count = 1;
  return abi_version == POSGAUGE_ABI_VERSION ? &kKernel : NULL;
}
