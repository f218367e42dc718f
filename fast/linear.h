#pragma once

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/linear.h"

namespace posgauge::linear {

/// frequency_i = base^(-2i/rotary_dim) / factor. Chen et al. 2023, arXiv:2306.15595, eq. 4.
inline FastRotation Frequencies(const Params& params) {
  std::vector<fast::Wide> frequencies = fast::PlainFrequencies(params.rotary);
  for (fast::Wide& frequency : frequencies) frequency = frequency / params.factor;
  return fast::Rotation(params.rotary, frequencies);
}

}  // namespace posgauge::linear
