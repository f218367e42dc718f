#pragma once

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/axial.h"

namespace posgauge::axial {

/// base^(-2j/(2 section)), or base^(-2i/rotary_dim) with the axes in turn. Heo et al. 2024,
/// arXiv:2403.13298.
inline FastRotation Frequencies(const Params& params) {
  const fast::Wide log_base = fast::Log(params.rotary.base);
  std::vector<fast::Wide> frequencies;
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    const auto [index, pairs] = params.ExponentOf(i);
    frequencies.push_back(fast::InversePower(log_base, index, pairs));
  }
  return fast::Rotation(params.rotary, frequencies);
}

}  // namespace posgauge::axial
