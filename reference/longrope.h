#pragma once

#include <optional>

#include "posgauge/reference/rational_logarithm.h"
#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/longrope.h"

namespace posgauge::longrope {

/// Whether the long factors apply: beyond the original length, not at it.
inline bool IsLong(const Params& params) {
  return params.length && *params.length > params.original_length;
}

/// a = sqrt(1 + ln s/ln L0), 1 for s <= 1.  Ding et al. 2024, arXiv:2402.13753, as Phi-3's code has
/// it. Rational where s and L0 are powers of one number, and then maybe exact: L0 = 4096, s = 32768
/// gives 3/2.
template <class R>
void SetMagnitude(const Params& params, Rotation<R>* rotation) {
  const std::optional<double>& own = IsLong(params) ? params.long_mscale : params.short_mscale;
  if (params.attention_factor || own) {
    rotation->magnitude = R(params.attention_factor ? *params.attention_factor : *own);
  } else if (params.factor > 1) {
    R squared = R(1) + Log(R(params.factor)) / Log(R(params.original_length));
    // s^t = L0^k makes s, a rational number, a whole one.
    const auto whole = static_cast<int64_t>(params.factor);
    const auto log = RationalLogarithm(whole, params.original_length);
    if (log && static_cast<double>(whole) == params.factor) {
      const auto [k, t] = *log;
      rotation->magnitude_squared = {t + k, t};
      squared = R(t + k) / R(t);
    }
    rotation->magnitude = RationalPower(squared, 1, 2);
  }
}

/// frequency_i = base^(-2i/d) / F_i, F the long factors for N > L0, else the short ones.
/// Ding et al. 2024, arXiv:2402.13753, eq. 1 and sec. 3.3, with the two lists of Phi-3's code.
template <class R>
Rotation<R> Exact(const Params& params) {
  const auto& factors = IsLong(params) ? params.long_factor : params.short_factor;
  Rotation<R> rotation{.frequency = PlainFrequencies<R>(params.rotary)};
  SetMagnitude(params, &rotation);
  for (size_t i = 0; factors && i < factors->size(); ++i) {
    rotation.frequency[i] = rotation.frequency[i] / R((*factors)[i]);
  }
  return rotation;
}

}  // namespace posgauge::longrope
