#pragma once

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/rope.h"

namespace posgauge::rope {

/// Su et al. 2021, arXiv:2104.09864, eqs. 13-16.
template <class R>
Rotation<R> Exact(const Params& params) {
  return {.frequency = PlainFrequencies<R>(params.rotary)};
}

}  // namespace posgauge::rope
