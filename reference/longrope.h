#pragma once

#include <numeric>
#include <optional>
#include <utility>

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/longrope.h"

namespace posgauge::longrope {

/// Whether the long factors apply: beyond the original length, not at it.
inline bool IsLong(const Params& params) {
  return params.length && *params.length > params.original_length;
}

/// ln s/ln L0 = k/t where that is rational, s > 1: L0 = r^t for the largest such t, so that r is no
/// power itself, and s = r^k. (s^n = r^m makes s, a number of finitely many digits, an integral
/// power of r.)
inline std::optional<std::pair<int64_t, int64_t>> RationalLog(double s, int64_t original_length) {
  // base^exponent, or one more than the largest length where it exceeds that.
  const auto power = [](int64_t base, int64_t exponent) {
    int64_t result = 1;
    for (int64_t i = 0; i < exponent && result <= kLargestLength; ++i) result *= base;
    return result;
  };
  int64_t t = 40;  // 2^40 is the largest length
  int64_t root = 0;
  for (; t >= 1; --t) {
    root = std::llround(std::pow(static_cast<double>(original_length), 1 / static_cast<double>(t)));
    if (root >= 2 && power(root, t) == original_length) break;
  }
  int64_t k = 0;
  while (static_cast<double>(power(root, k)) < s) ++k;
  if (static_cast<double>(power(root, k)) != s) return std::nullopt;
  return std::pair(k, t);
}

/// a = sqrt(1 + ln s/ln L0), 1 for s <= 1.  Ding et al. 2024, arXiv:2402.13753, as Phi-3's code has
/// it. Rational where s and L0 are powers of one number, and then maybe exact: L0 = 4096, s = 32768
/// gives 3/2.
template <class R>
R MagnitudeOf(const Params& params) {
  if (params.attention_factor) return R(*params.attention_factor);
  const std::optional<double>& own = IsLong(params) ? params.long_mscale : params.short_mscale;
  if (own) return R(*own);
  if (params.factor <= 1) return R(1);
  if (const auto log = RationalLog(params.factor, params.original_length)) {
    const auto [k, t] = *log;
    return RationalPower(R(t + k) / R(t), 1, 2);
  }
  return RationalPower(R(1) + Log(R(params.factor)) / Log(R(params.original_length)), 1, 2);
}

/// frequency_i = base^(-2i/d) / F_i, F the long factors for N > L0, else the short ones.
/// Ding et al. 2024, arXiv:2402.13753, eq. 1 and sec. 3.3, with the two lists of Phi-3's code.
template <class R>
Rotation<R> Exact(const Params& params) {
  const auto& factors = IsLong(params) ? params.long_factor : params.short_factor;
  Rotation<R> rotation{.frequency = PlainFrequencies<R>(params.rotary),
                       .magnitude = MagnitudeOf<R>(params)};
  for (size_t i = 0; factors && i < factors->size(); ++i) {
    rotation.frequency[i] = rotation.frequency[i] / R((*factors)[i]);
  }
  return rotation;
}

}  // namespace posgauge::longrope
