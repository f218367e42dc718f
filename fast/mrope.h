#pragma once

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/mrope.h"

namespace posgauge::mrope {

/// frequency_i = base^(-2i/rotary_dim). Wang et al. 2024, arXiv:2409.12191.
inline FastRotation Frequencies(const Params& params) {
  return fast::Rotation(params.rotary, fast::PlainFrequencies(params.rotary));
}

}  // namespace posgauge::mrope
