/* Rotary embedding of f32 vectors, every angle formed in double. One kernel, of the scheme rope in
 * all its layouts. docs/kernel-abi.md explains the interface by it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "posgauge/kernel.h"

enum { kLargestRotaryDim = 512 };

/* A field of the scheme; NaN if the scheme has none of that name, or it is not set. */
static double Scalar(const posgauge_call* call, const char* name) {
  for (uint32_t i = 0; i < call->num_scalars; ++i) {
    if (strcmp(call->scalars[i].name, name) == 0) return call->scalars[i].value;
  }
  return NAN;
}

/* The channels of one head at one token. Strides count elements, byte_offset counts bytes. */
static float* Channels(const DLTensor* x, int64_t token, int64_t head) {
  float* first = (float*)((char*)x->data + x->byte_offset);
  return first + token * x->strides[0] + head * x->strides[1];
}

static int32_t Rotate(const posgauge_call* call, char* why, size_t why_size) {
  /* In the order of the descriptor. */
  const DLTensor* x = &call->inputs[0].tensor;
  const DLTensor* positions = &call->inputs[1].tensor;
  const DLTensor* out = &call->outputs[0].tensor;
  if (x->strides[2] != 1 || out->strides[2] != 1) {
    snprintf(why, why_size, "the channels of a head must be contiguous");
    return POSGAUGE_UNSUPPORTED;
  }
  const int64_t tokens = x->shape[0], heads = x->shape[1], head_dim = x->shape[2];
  const int64_t pairs = (int64_t)Scalar(call, "rotary_dim") / 2;
  const int64_t offset = (int64_t)Scalar(call, "rotary_offset");
  const int64_t step = Scalar(call, "pairing") == 0 ? 1 : 2; /* half, interleaved */
  const int64_t partner = step == 1 ? pairs : 1;
  const double sign = Scalar(call, "direction") == 0 ? 1 : -1; /* counterclockwise, clockwise */

  double frequency[kLargestRotaryDim / 2]; /* radians per token */
  for (int64_t pair = 0; pair < pairs; ++pair) {
    frequency[pair] = pow(Scalar(call, "base"), -(double)pair / (double)pairs);
  }
  for (int64_t token = 0; token < tokens; ++token) {
    const int64_t* position = (int64_t*)((char*)positions->data + positions->byte_offset);
    for (int64_t head = 0; head < heads; ++head) {
      memmove(Channels(out, token, head), Channels(x, token, head),
              (size_t)head_dim * sizeof(float));
    }
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const double angle = (double)position[token * positions->strides[0]] * frequency[pair];
      const double c = cos(angle), s = sign * sin(angle);
      for (int64_t head = 0; head < heads; ++head) {
        float* first = Channels(out, token, head) + offset + step * pair;
        float* second = first + partner;
        const double u = *first, v = *second;
        *first = (float)(u * c - v * s);
        *second = (float)(u * s + v * c);
      }
    }
  }
  return POSGAUGE_OK;
}

static const posgauge_kernel kKernel = {
    .size = sizeof(posgauge_kernel),
    .name = "c.rotate.f32",
    .schemes = "rope",
    .quantity = "rotate",
    .inputs = "x:f32 positions:i64",
    .outputs = "out:f32",
    .pairings = "half interleaved",
    .contract =
        "position=i64 frequency=f64:pow angle=f64 trig=1ulp:f64 table=f64 rotate=f64 "
        "store=f32:rne flush=no",
    .invariances = "chunking batch alignment pairing",
    .in_place = 1, /* memmove: out may be the memory of x */
    .largest_rotary_dim = kLargestRotaryDim,
    .run = Rotate};

const posgauge_kernel* posgauge_kernels(uint32_t abi_version, size_t* count) {
  *count = 1;
  return abi_version == POSGAUGE_ABI_VERSION ? &kKernel : NULL;
}
