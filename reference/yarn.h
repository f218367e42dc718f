#pragma once

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/yarn.h"

namespace posgauge::yarn {

/// The pair index whose pair makes `turns` turns over the original context:
///   c(n) = d ln(L0/(2 pi n)) / (2 ln b).
template <class R>
R PairOfTurns(const Params& params, double turns) {
  const R length = R(params.original_length);
  return R(params.rotary.rotary_dim) * Log(length / (R(2) * Pi<R>() * R(turns))) /
         (R(2) * Log(R(params.rotary.base)));
}

/// The ends of the ramp over the pair index. The upper clamp is d - 1, not d/2 - 1, in all deployed
/// code. c(n) is never an integer (pi would be algebraic), so rounding it is always decidable.
template <class R>
struct Ramp {
  R low, high;
  bool inverted = false;
};

template <class R>
Ramp<R> RampOf(const Params& params) {
  R low = PairOfTurns<R>(params, params.beta_fast);
  R high = PairOfTurns<R>(params, params.beta_slow);
  if (params.truncate) {
    low = Floor(low);
    high = Ceil(high);
  }
  low = Max(low, R(0));
  high = Min(high, R(params.rotary.rotary_dim - 1));
  // Untruncated ends of equal betas are one real number, which no enclosure can tell; a clamp that
  // moves one of them separates them again.
  const bool same = !params.truncate && params.beta_fast == params.beta_slow && Less(R(0), high) &&
                    Less(low, R(params.rotary.rotary_dim - 1));
  if (same) return {low, low + R(1) / R(1000)};
  if (Less(high, low)) return {low, high, true};
  // Equal ends become a step one thousandth of a pair wide.
  if (!Less(low, high)) high = high + R(1) / R(1000);
  return {low, high};
}

/// g(s, m) = 1 for s <= 1, else 0.1 m ln s + 1.  arXiv:2309.00071, eq. 22 (sqrt(1/t)).
template <class R>
R MagnitudeOf(double factor, double mscale, int slope_hundredths = 10) {
  if (factor <= 1) return R(1);
  return R(slope_hundredths) / R(100) * R(mscale) * Log(R(factor)) + R(1);
}

template <class R>
R Magnitude(const Params& params) {
  if (params.attention_factor) return R(*params.attention_factor);
  const auto ratio = [&](double numerator, double denominator) {
    if (numerator == denominator) return R(1);
    return MagnitudeOf<R>(params.factor, numerator) / MagnitudeOf<R>(params.factor, denominator);
  };
  const double mscale = params.mscale.value_or(0), all_dim = params.mscale_all_dim.value_or(0);
  const auto by_rule = [&] {
    switch (params.magnitude) {
      case Magnitude::huggingface:
        return mscale != 0 && all_dim != 0 ? ratio(mscale, all_dim)
                                           : MagnitudeOf<R>(params.factor, 1);
      case Magnitude::deepseek:
        return ratio(params.mscale.value_or(1), all_dim);
      case Magnitude::telechat3:
        return MagnitudeOf<R>(params.factor, 1, 7);
      case Magnitude::none:
        break;
    }
    return R(1);
  };
  return by_rule() * R(params.attention_multiplier);
}

/// DeepSeek's model code multiplies the softmax scale by g(s, m)^2, m = mscale_all_dim; its own
/// inference code, which leaves cos and sin pure, by g(s, mscale)^2. Others leave the softmax
/// alone.
template <class R>
R SoftmaxMultiplier(const Params& params) {
  double mscale = 0;
  if (params.magnitude == Magnitude::deepseek) mscale = params.mscale_all_dim.value_or(0);
  if (params.magnitude == Magnitude::none) mscale = params.mscale.value_or(0);
  const R g = MagnitudeOf<R>(params.factor, mscale);
  return g * g;
}

/// frequency'_i = (frequency_i/s)(1 - mu_i) + frequency_i mu_i,  mu_i = (1 - R_i)
/// extrapolation_factor, R_i = clamp((i - low)/(high - low), 0, 1).  Peng et al. 2023,
/// arXiv:2309.00071, with the ramp of the authors' code (linear in i) in place of eqs. 17-18
/// (linear in turns). Throws ParameterError for an inverted ramp that the parameters refuse.
template <class R>
Rotation<R> Exact(const Params& params) {
  Ramp<R> ramp = RampOf<R>(params);
  if (ramp.inverted) {
    Require(
        params.inverted_ramp != InvertedRamp::refuse,
        "yarn: the ramp is inverted (its low end lies above its high end), where implementations "
        "disagree: check original_length {}, beta_fast {}, beta_slow {}, base {}, or choose "
        "inverted_ramp=huggingface or ggml",
        params.original_length, params.beta_fast, params.beta_slow, params.rotary.base);
    if (params.inverted_ramp == InvertedRamp::ggml) ramp.high = ramp.low + R(1) / R(1000);
  }
  Rotation<R> rotation{.frequency = PlainFrequencies<R>(params.rotary),
                       .magnitude = Magnitude<R>(params),
                       .softmax_multiplier = SoftmaxMultiplier<R>(params)};
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    R& frequency = rotation.frequency[static_cast<size_t>(i)];
    const R position_on_ramp = ClampToUnit((R(i) - ramp.low) / (ramp.high - ramp.low));
    const R kept = (R(1) - position_on_ramp) * R(params.extrapolation_factor);
    frequency = frequency / R(params.factor) * (R(1) - kept) + frequency * kept;
  }
  return rotation;
}

}  // namespace posgauge::yarn
