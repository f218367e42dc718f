#pragma once

#include <algorithm>

#include "posgauge/fast/rotation.h"
#include "posgauge/schemes/yarn.h"

namespace posgauge::yarn {

/// The pair index that makes `turns` turns over the original context,
/// d ln(L / (2 pi turns)) / (2 ln base): absolute error at most 2^-98 (|index| + 1).
inline fast::Wide PairThatTurns(const Params& params, double turns) {
  using fast::Wide;
  const Wide length = static_cast<double>(params.original_length);
  const Wide dim = static_cast<double>(params.rotary.rotary_dim);
  return dim * fast::Log(length / (Wide(2) * fast::kPi * turns)) /
         (Wide(2) * fast::Log(params.rotary.base));
}

/// s: given, or N/L for a current length N beyond the original one, two integers.
inline fast::Wide Factor(const Params& params) {
  if (!params.length) return params.factor;
  const int64_t longest = std::max(*params.length, params.original_length);
  return fast::Wide(static_cast<double>(longest)) / static_cast<double>(params.original_length);
}

/// Whether the pair index i is kept (1), interpolated (0) or between, before extrapolation_factor.
class Ramp {
 public:
  /// The ends may come so close to an integer that 100 bits do not tell on which side they lie, in
  /// theory: they are never integers (pi would be algebraic), and the number of parameters that
  /// come within 2^-90 of one is one in 2^90.
  explicit Ramp(const Params& params)
      : low_(PairThatTurns(params, params.beta_fast)),
        high_(PairThatTurns(params, params.beta_slow)) {
    if (params.truncate) {
      low_ = fast::Floor(low_);
      high_ = fast::Ceil(high_);
    }
    // d - 1, not d/2 - 1, in all deployed code.
    const fast::Wide last = static_cast<double>(params.rotary.rotary_dim - 1);
    if (low_ < 0) low_ = 0;
    if (last < high_) high_ = last;
    const fast::Wide step = fast::Wide(1) / 1000;
    if (high_ < low_) {
      Require(params.inverted_ramp != InvertedRamp::refuse,
              "yarn: the ramp is inverted: low end {} above high end {}, where implementations "
              "disagree; inverted_ramp=huggingface or ggml chooses one",
              low_.high, high_.high);
      if (params.inverted_ramp == InvertedRamp::ggml) high_ = low_ + step;
    } else if (!(low_ < high_)) {
      high_ = high_ + step;
    }
  }

  /// 1 - clamp((i - low)/(high - low), 0, 1), without cancelling near the high end, where little is
  /// kept and a large factor would magnify what cancels.
  fast::Wide Kept(int64_t i) const {
    const fast::Wide index = static_cast<double>(i);
    const fast::Wide kept = (high_ - index) / (high_ - low_);
    if (kept < 0) return 0;
    return fast::Wide(1) < kept ? fast::Wide(1) : kept;
  }

 private:
  fast::Wide low_, high_;
};

/// The share of a pair that is kept, linear in its turns over the original context.
inline fast::Wide KeptByTurns(const Params& params, fast::Wide frequency) {
  using fast::Wide;
  const Wide slow = params.beta_slow, fast_end = params.beta_fast;
  const Wide turns =
      Wide(static_cast<double>(params.original_length)) * frequency / (Wide(2) * fast::kPi);
  if (fast_end < turns) return 1;
  if (turns < slow || !(slow < fast_end)) return 0;
  return (turns - slow) / (fast_end - slow);
}

/// g(s, m) = 1 for s <= 1, else m ln s / 10 + 1 (eq. 22); 1/10 is hundredths/100, 10 of them by
/// default.
inline fast::Wide Attention(fast::Wide factor, double mscale, double hundredths = 10) {
  if (!(fast::Wide(1) < factor)) return 1;
  return fast::Wide(mscale) * fast::Log(factor) * hundredths / 100 + 1;
}

/// The factor on cos and sin; schemes/yarn.h names the rules.
inline fast::Wide AttentionMagnitude(const Params& params) {
  if (params.attention_factor) return *params.attention_factor;
  const fast::Wide factor = Factor(params);
  fast::Wide magnitude = 1;
  switch (params.magnitude) {
    case Magnitude::huggingface: {
      const double mscale = params.mscale.value_or(0), all_dim = params.mscale_all_dim.value_or(0);
      magnitude = mscale != 0 && all_dim != 0
                      ? Attention(factor, mscale) / Attention(factor, all_dim)
                      : Attention(factor, 1);
      break;
    }
    case Magnitude::deepseek:
      magnitude = Attention(factor, params.mscale.value_or(1)) /
                  Attention(factor, params.mscale_all_dim.value_or(0));
      break;
    case Magnitude::telechat3:
      magnitude = Attention(factor, 1, 7);
      break;
    case Magnitude::none:
      break;
  }
  return magnitude * params.attention_multiplier;
}

/// YaRN. Peng et al. 2023, arXiv:2309.00071.
///
/// Relative error: that of the plain frequency, e, and 40 u^2 where the ramp's ends are whole
/// pairs; otherwise also 2^-98 factor (high + 1)/(high - low); over turns e factor
/// beta_fast/(beta_fast - beta_slow). Throws ParameterError on an inverted ramp that is to be
/// refused.
inline FastRotation Frequencies(const Params& params) {
  const bool by_turns = params.ramp == RampOver::turns;
  const std::optional<Ramp> ramp = by_turns ? std::nullopt : std::optional<Ramp>(params);
  const fast::Wide factor = Factor(params);
  std::vector<fast::Wide> frequencies = fast::PlainFrequencies(params.rotary);
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    fast::Wide& frequency = frequencies[static_cast<size_t>(i)];
    const fast::Wide on_ramp = by_turns ? KeptByTurns(params, frequency) : ramp->Kept(i);
    const fast::Wide kept = on_ramp * params.extrapolation_factor;
    frequency = frequency / factor * (fast::Wide(1) - kept) + frequency * kept;
  }
  return fast::Rotation(params.rotary, frequencies, AttentionMagnitude(params));
}

}  // namespace posgauge::yarn
