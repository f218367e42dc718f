#pragma once

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/llama3.h"

namespace posgauge::llama3 {

/// Kept above high_frequency_factor turns over the original length, divided by factor below
/// low_frequency_factor turns, blended linearly in turns between; equal factors are a step.
/// Meta llama-models apply_scaling.
///
/// Relative error of a blended pair: that of the plain frequency, e = 2^-95 for published bases,
/// and the blend's e high/(high - low) seen through a quotient of at most `factor`: e (1 + factor
/// high/(high - low)) + 2^-101.
inline FastRotation Frequencies(const Params& params) {
  using fast::Wide;
  const Wide low = params.low_frequency_factor, high = params.high_frequency_factor;
  const Wide length = static_cast<double>(params.original_length);
  std::vector<Wide> frequencies = fast::PlainFrequencies(params.rotary);
  for (Wide& frequency : frequencies) {
    const Wide turns = length * frequency / (Wide(2) * fast::kPi);
    if (high < turns) continue;
    const Wide interpolated = frequency / params.factor;
    if (turns < low || !(low < high)) {
      frequency = interpolated;
    } else {
      const Wide kept = (turns - low) / (high - low);
      const Wide rest = (high - turns) / (high - low);
      frequency = rest * interpolated + kept * frequency;
    }
  }
  return fast::Rotation(params.rotary, frequencies);
}

}  // namespace posgauge::llama3
