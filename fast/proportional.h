#pragma once

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/proportional.h"

namespace posgauge::proportional {

/// base^(-2i/rotary_dim)/factor for the first int(proportion * rotary_dim)/2 pairs, 0 for the rest.
inline FastRotation Frequencies(const Params& params) {
  const auto width =
      static_cast<int64_t>(params.proportion * static_cast<double>(params.rotary.rotary_dim));
  std::vector<fast::Wide> frequencies = fast::PlainFrequencies(params.rotary);
  frequencies.resize(static_cast<size_t>(width / 2));
  for (fast::Wide& frequency : frequencies) frequency = frequency / params.factor;
  frequencies.resize(static_cast<size_t>(params.rotary.Pairs()));
  return fast::Rotation(params.rotary, frequencies);
}

}  // namespace posgauge::proportional
