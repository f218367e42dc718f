#pragma once

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/yarn.h"

namespace posgauge::yarn {

/// Whether anything is scaled: s > 1.
inline bool Extends(const Params& params) {
  return params.length ? *params.length > params.original_length : params.factor > 1;
}

/// s: given, or max(1, N/L0) for a current length N.  arXiv:2309.00071, sec. 3.3.
template <class R>
R Factor(const Params& params) {
  if (!Extends(params)) return R(1);
  return params.length ? R(*params.length) / R(params.original_length) : R(params.factor);
}

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
R MagnitudeOf(const Params& params, double mscale, int slope_hundredths = 10) {
  if (!Extends(params)) return R(1);
  return R(slope_hundredths) / R(100) * R(mscale) * Log(Factor<R>(params)) + R(1);
}

template <class R>
R Magnitude(const Params& params) {
  if (params.attention_factor) return R(*params.attention_factor);
  const auto ratio = [&](double numerator, double denominator) {
    if (numerator == denominator) return R(1);
    return MagnitudeOf<R>(params, numerator) / MagnitudeOf<R>(params, denominator);
  };
  const double mscale = params.mscale.value_or(0), all_dim = params.mscale_all_dim.value_or(0);
  const auto by_rule = [&] {
    switch (params.magnitude) {
      case Magnitude::huggingface:
        return mscale != 0 && all_dim != 0 ? ratio(mscale, all_dim) : MagnitudeOf<R>(params, 1);
      case Magnitude::deepseek:
        return ratio(params.mscale.value_or(1), all_dim);
      case Magnitude::telechat3:
        return MagnitudeOf<R>(params, 1, 7);
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
  const R g = MagnitudeOf<R>(params, mscale);
  return g * g;
}

/// gamma(r) = clamp((r - alpha)/(beta - alpha), 0, 1), r = L0 frequency/2 pi the turns of a pair
/// over the original context, alpha = beta_slow, beta = beta_fast.  arXiv:2309.00071, eqs. 17-18.
/// Equal ends are a step, on which r never lies (it would make pi algebraic).
template <class R>
R KeptByTurns(const Params& params, const R& frequency) {
  const R alpha(params.beta_slow), beta(params.beta_fast);
  const R turns = R(params.original_length) * frequency / (R(2) * Pi<R>());
  if (params.beta_slow == params.beta_fast) return R(Less(beta, turns) ? 1 : 0);
  return ClampToUnit((turns - alpha) / (beta - alpha));
}

/// The ramp over pairs, an inverted one as the parameters choose. Throws ParameterError for one
/// that they refuse.
template <class R>
Ramp<R> ChosenRamp(const Params& params) {
  Ramp<R> ramp = RampOf<R>(params);
  if (!ramp.inverted) return ramp;
  Require(params.inverted_ramp != InvertedRamp::refuse,
          "yarn: the ramp is inverted (its low end lies above its high end), where implementations "
          "disagree: check original_length {}, beta_fast {}, beta_slow {}, base {}, or choose "
          "inverted_ramp=huggingface or ggml",
          params.original_length, params.beta_fast, params.beta_slow, params.rotary.base);
  if (params.inverted_ramp == InvertedRamp::ggml) ramp.high = ramp.low + R(1) / R(1000);
  return ramp;
}

/// frequency'_i = (frequency_i/s)(1 - mu_i) + frequency_i mu_i,  mu_i = (1 - R_i)
/// extrapolation_factor, R_i = clamp((i - low)/(high - low), 0, 1).  Peng et al. 2023,
/// arXiv:2309.00071, with the ramp of the authors' code (linear in i), or, where the parameters
/// say so, with 1 - R_i = gamma(r_i), eqs. 17-20 (linear in turns).
template <class R>
Rotation<R> Exact(const Params& params) {
  Rotation<R> rotation{.frequency = PlainFrequencies<R>(params.rotary),
                       .magnitude = Magnitude<R>(params),
                       .softmax_multiplier = SoftmaxMultiplier<R>(params)};
  const bool by_turns = params.ramp == RampOver::turns;
  const Ramp<R> ramp = by_turns ? Ramp<R>{} : ChosenRamp<R>(params);
  if (!Extends(params)) return rotation;  // both terms are the plain frequency, whatever mu is
  const R factor = Factor<R>(params);
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    R& frequency = rotation.frequency[static_cast<size_t>(i)];
    const R on_ramp = by_turns ? KeptByTurns(params, frequency)
                               : R(1) - ClampToUnit((R(i) - ramp.low) / (ramp.high - ramp.low));
    const R kept = on_ramp * R(params.extrapolation_factor);
    frequency = frequency / factor * (R(1) - kept) + frequency * kept;
  }
  return rotation;
}

}  // namespace posgauge::yarn
