#pragma once

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/llama3.h"

namespace posgauge::llama3 {

/// With r = original_length * frequency / 2 pi, the turns a pair makes over the original context:
///   sigma = clamp((r - low)/(high - low), 0, 1),  frequency' = (1 - sigma) frequency/s + sigma
///   frequency.
/// Meta llama-models apply_scaling, in closed form; the branches there are sigma = 0 and sigma = 1.
/// low = high is a step at r = high, where r never lies (it would make pi algebraic); code that
/// divides by high - low anyway (FlashInfer, litgpt) leaves such a model unscaled or gets NaN.
template <class R>
Rotation<R> Exact(const Params& params) {
  const R low(params.low_frequency_factor), high(params.high_frequency_factor);
  Rotation<R> rotation{.frequency = PlainFrequencies<R>(params.rotary)};
  for (R& frequency : rotation.frequency) {
    const R turns = R(params.original_length) * frequency / (R(2) * Pi<R>());
    const R sigma = params.low_frequency_factor == params.high_frequency_factor
                        ? R(Less(high, turns) ? 1 : 0)
                        : ClampToUnit((turns - low) / (high - low));
    frequency = (R(1) - sigma) * frequency / R(params.factor) + sigma * frequency;
  }
  return rotation;
}

}  // namespace posgauge::llama3
