// cos and sin by SLEEF of angles formed in float, four at a time: what many caches hold. SLEEF is
// as good as it says; what limits the table is the angle before it.
#include <sleef.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "posgauge/kernel.h"

namespace {

constexpr int64_t kLanes = 4;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

template <class T>
T* Row(const posgauge_tensor& tensor, int64_t row = 0) {
  const DLTensor& array = tensor.tensor;
  return reinterpret_cast<T*>(static_cast<char*>(array.data) + array.byte_offset) +
         row * array.strides[0];
}

int32_t Table(const posgauge_call* call, char* why, size_t why_size) {
  const posgauge_tensor *inputs = call->inputs, &cos = call->outputs[0], &sin = call->outputs[1];
  if (cos.tensor.strides[1] != 1 || sin.tensor.strides[1] != 1) {
    std::snprintf(why, why_size, "rows must be contiguous");
    return POSGAUGE_UNSUPPORTED;
  }
  const float* frequency = Row<const float>(inputs[1]);  // radians per token
  const float magnitude = *Row<const float>(inputs[2]);
  const int64_t tokens = cos.tensor.shape[0], pairs = cos.tensor.shape[1];
  for (int64_t token = 0; token < tokens; ++token) {
    const auto position = static_cast<float>(*Row<const int64_t>(inputs[0], token));
    for (int64_t pair = 0; pair < pairs; pair += kLanes) {
      const size_t bytes = static_cast<size_t>(std::min(kLanes, pairs - pair)) * sizeof(float);
      Lanes angle = {};
      std::memcpy(&angle, frequency + pair, bytes);
      angle *= position;
      const auto wave = Sleef_sincosf4_u10(angle);
      const Lanes sine = magnitude * wave.x, cosine = magnitude * wave.y;
      std::memcpy(Row<float>(sin, token) + pair, &sine, bytes);
      std::memcpy(Row<float>(cos, token) + pair, &cosine, bytes);
    }
  }
  return POSGAUGE_OK;
}

const posgauge_kernel kKernel = {
    .size = sizeof(posgauge_kernel),
    .name = "sleef.table.f32",
    .schemes = "*",
    .quantity = "table",
    .inputs = "positions:i64 frequency:f32 magnitude:f32",
    .outputs = "cos:f32 sin:f32",
    .pairings = "",
    .contract = "position=f32 angle=f32 trig=1ulp:f32 table=f32 store=f32:rne flush=no",
    .invariances = "chunking batch",
    .in_place = 0,
    .largest_rotary_dim = 0,
    .largest_position = 0,
    .run = Table};

}  // namespace

extern "C" const posgauge_kernel* posgauge_kernels(uint32_t abi_version, size_t* count) {
  *count = 1;
  return abi_version == POSGAUGE_ABI_VERSION ? &kKernel : nullptr;
}
