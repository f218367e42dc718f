#pragma once

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/linear.h"

namespace posgauge::linear {

/// frequency_i = base^(-2i/d) / s.  Chen et al. 2023, arXiv:2306.15595, eq. 4.
template <class R>
Rotation<R> Exact(const Params& params) {
  Rotation<R> rotation{.frequency = PlainFrequencies<R>(params.rotary)};
  for (R& frequency : rotation.frequency) frequency = frequency / R(params.factor);
  return rotation;
}

}  // namespace posgauge::linear
