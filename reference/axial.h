#pragma once

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/axial.h"

namespace posgauge::axial {

/// base^(-2j/(2 section)), j counted on each axis anew (`restarting`), or base^(-2i/d) with the
/// axes in turn (`alternating`). Heo et al. 2024, arXiv:2403.13298, eq. 8.
template <class R>
Rotation<R> Exact(const Params& params) {
  Rotation<R> rotation;
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    const auto [index, pairs] = params.ExponentOf(i);
    rotation.frequency.push_back(RationalPower(R(params.rotary.base), -index, pairs));
  }
  return rotation;
}

}  // namespace posgauge::axial
