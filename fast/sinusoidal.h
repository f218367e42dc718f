#pragma once

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/sinusoidal.h"

namespace posgauge::sinusoidal {

/// frequency_k = scale * base^(-k/D), one a wave: one product (5 2^-106) more than a plain power.
inline FastRotation Frequencies(const Params& params) {
  const fast::Wide log_base = fast::Log(params.base);
  FastRotation waves;
  for (int64_t k = 0; k < params.Waves(); ++k) {
    waves.frequency.push_back(DoubleDouble(
        fast::InversePower(log_base, 2 * k, params.TwiceDenominator()) * fast::Wide(params.scale)));
  }
  return waves;
}

}  // namespace posgauge::sinusoidal
