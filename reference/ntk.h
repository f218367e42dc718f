#pragma once

#include <algorithm>

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/ntk.h"

namespace posgauge::ntk {

/// The factor alpha by which the slowest pair is stretched: s, or in the dynamic form
///   alpha = s L/L_trained - (s - 1) = 1 + s (L - L_trained)/L_trained,  L = max(length,
///   L_trained),
/// written so that alpha is exactly 1 up to the trained length (Peng et al. 2023,
/// arXiv:2309.00071, sec. 3.3), or in Qwen-1's form, its get_ntk_alpha,
///   alpha = max(2^(k + 1) - 1, 1),  k = ceil(log2(length/L_trained)),
/// the smallest k whose 2^k L_trained reaches the length: 1, 3, 7 up to 1, 2, 4 times L_trained.
template <class R>
R Alpha(const Params& params) {
  if (params.form == Form::qwen) {
    int64_t alpha = 1;
    for (int64_t reach = *params.trained_length; reach < *params.length; reach *= 2) {
      alpha = 2 * alpha + 1;
    }
    return R(alpha);
  }
  if (params.form != Form::dynamic) return R(params.factor);
  const int64_t beyond = std::max(*params.length - *params.trained_length, int64_t{0});
  return R(1) + R(params.factor) * R(beyond) / R(*params.trained_length);
}

/// b^(-2i/d) s^(-2(i+1)/d), the powers multiplied before the root is taken: it may be rational
/// where its factors' roots are not.  Su 2023, kexue.fm/archives/9706.
template <class R>
R FixedFrequency(const Rotary& rotary, const R& factor, int64_t i) {
  const R power = RationalPower(R(rotary.base), i, 1) * RationalPower(factor, i + 1, 1);
  return RationalPower(power, -2, rotary.rotary_dim);
}

/// s^(((i+1)/(d/2))^B), by which the mixed form divides; exp(A (i+1)^B) there, with A = ln
/// s/(d/2)^B. s itself in the last pair and for B = 0.  Su 2023, kexue.fm/archives/9706.
template <class R>
R MixedStretch(const Params& params, int64_t i) {
  const R factor(params.factor), exponent(*params.mixed_exponent);
  const int64_t pairs = params.rotary.Pairs();
  if (*params.mixed_exponent == 0 || i + 1 == pairs) return factor;
  const R share = Exp(exponent * Log(R(i + 1) / R(pairs)));
  return Exp(share * Log(factor));
}

/// aware, dynamic, qwen: b' = b alpha^(d/(d-2)), so frequency_i = b^(-2i/d) alpha^(-2i/(d-2)); the
/// first pair is kept and the last is divided by alpha.  naive: b' = b s.  arXiv:2309.00071, Def.
/// 1, eqs. 14-16.
template <class R>
Rotation<R> Exact(const Params& params) {
  const int64_t d = params.rotary.rotary_dim;
  Rotation<R> rotation{.frequency = PlainFrequencies<R>(params.rotary)};
  const R alpha = Alpha<R>(params);
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    R& frequency = rotation.frequency[static_cast<size_t>(i)];
    switch (params.form) {
      case Form::aware:
      case Form::dynamic:
      case Form::qwen:
        frequency = frequency * RationalPower(alpha, -2 * i, d - 2);
        break;
      case Form::naive:
        // The base is multiplied first: a power of it may be exact where its factors' are not.
        frequency = RationalPower(R(params.rotary.base) * alpha, -2 * i, d);
        break;
      case Form::fixed:
        frequency = FixedFrequency(params.rotary, alpha, i);
        break;
      case Form::mixed:
        frequency = *params.mixed_exponent == 1 ? FixedFrequency(params.rotary, alpha, i)
                                                : frequency / MixedStretch<R>(params, i);
        break;
    }
  }
  return rotation;
}

}  // namespace posgauge::ntk
