#pragma once

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/rope.h"

namespace posgauge::rope {

/// frequency_i = base^(-2i/rotary_dim). Su et al. 2021, arXiv:2104.09864.
inline FastRotation Frequencies(const Params& params) {
  return fast::Rotation(params.rotary, fast::PlainFrequencies(params.rotary));
}

}  // namespace posgauge::rope
