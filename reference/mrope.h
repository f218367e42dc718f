#pragma once

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/mrope.h"

namespace posgauge::mrope {

/// The frequencies of rope, whatever axis a pair counts. Wang et al. 2024, arXiv:2409.12191.
template <class R>
Rotation<R> Exact(const Params& params) {
  return {.frequency = PlainFrequencies<R>(params.rotary)};
}

}  // namespace posgauge::mrope
