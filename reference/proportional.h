#pragma once

#include <cmath>

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/proportional.h"

namespace posgauge::proportional {

/// k = floor(f d / 2), the product in binary64 as transformers, Gemma and vLLM compute it: int(f *
/// d
/// // 2) in Python. (MLX rounds up.)
inline int64_t TurningPairs(const Params& params) {
  const double width = params.proportion * static_cast<double>(params.rotary.rotary_dim);
  return static_cast<int64_t>(std::floor(width / 2));
}

/// frequency_i = b^(-2i/d) / s for i < k, else 0.  huggingface/transformers,
/// modeling_rope_utils, rope type `proportional`.
template <class R>
Rotation<R> Exact(const Params& params) {
  Rotation<R> rotation{.frequency = PlainFrequencies<R>(params.rotary)};
  const int64_t turning = TurningPairs(params);
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    R& frequency = rotation.frequency[static_cast<size_t>(i)];
    frequency = i < turning ? frequency / R(params.factor) : R(0);
  }
  return rotation;
}

}  // namespace posgauge::proportional
