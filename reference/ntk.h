#pragma once

#include <algorithm>

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/ntk.h"

namespace posgauge::ntk {

/// The factor alpha by which the slowest pair is stretched: s, or in the dynamic form
///   alpha = s L/L_trained - (s - 1) = 1 + s (L - L_trained)/L_trained,  L = max(length,
///   L_trained),
/// written so that alpha is exactly 1 up to the trained length.
/// Peng et al. 2023, arXiv:2309.00071, sec. 3.3.
template <class R>
R Alpha(const Params& params) {
  if (params.form != Form::dynamic) return R(params.factor);
  const int64_t beyond = std::max(*params.length - *params.trained_length, int64_t{0});
  return R(1) + R(params.factor) * R(beyond) / R(*params.trained_length);
}

/// aware, dynamic: b' = b alpha^(d/(d-2)), so frequency_i = b^(-2i/d) alpha^(-2i/(d-2)); the first
/// pair is kept and the last is divided by alpha.  naive: b' = b s.  arXiv:2309.00071, Def. 1, eqs.
/// 14-16.
template <class R>
Rotation<R> Exact(const Params& params) {
  const int64_t d = params.rotary.rotary_dim;
  Rotation<R> rotation{.frequency = PlainFrequencies<R>(params.rotary)};
  const R alpha = Alpha<R>(params);
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    R& frequency = rotation.frequency[static_cast<size_t>(i)];
    // The naive base is multiplied first: a power of it may be exact where its factors' are not.
    frequency = params.form == Form::naive ? RationalPower(R(params.rotary.base) * alpha, -2 * i, d)
                                           : frequency * RationalPower(alpha, -2 * i, d - 2);
  }
  return rotation;
}

}  // namespace posgauge::ntk
