#include "posgauge/properties/yarn.h"

#include <rapidcheck.h>

#include <algorithm>
#include <numbers>

#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/properties/law_bounds.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::yarn {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// The pair that makes `turns` turns over the original context, and how far the double arithmetic
// may be off: the logarithm's argument carries 2^-51, so the logarithm that much absolutely.
struct PairOfTurns {
  double index, error;
};

PairOfTurns PairThatTurns(const Params& params, double turns) {
  const double log =
      std::log(static_cast<double>(params.original_length) / (2 * std::numbers::pi * turns));
  const double scale =
      static_cast<double>(params.rotary.rotary_dim) / (2 * std::log(params.rotary.base));
  return {scale * log, std::fabs(scale) * (0x1p-51 + std::fabs(log) * 0x1p-49)};
}

// The ends of the ramp, as far inside as they may lie: pairs up to `kept` are surely kept, those
// from `divided` on surely divided, and the ramp is at least `width` wide.
struct Ramp {
  double kept, divided, width;
};

Ramp RampOf(const Params& params) {
  const PairOfTurns low = PairThatTurns(params, params.beta_fast);
  const PairOfTurns high = PairThatTurns(params, params.beta_slow);
  Ramp ramp{low.index - low.error, high.index + high.error, 0};
  if (params.truncate) ramp = {std::floor(ramp.kept), std::ceil(ramp.divided), 0};
  const double largest = static_cast<double>(params.rotary.rotary_dim) - 1;
  // What these ends may be at the narrowest, before and after the clamps.
  const double narrow_low =
      params.truncate ? std::floor(low.index + low.error) : low.index + low.error;
  const double narrow_high =
      params.truncate ? std::ceil(high.index - high.error) : high.index - high.error;
  ramp.width = std::min(narrow_high, largest) - std::max(narrow_low, 0.0);
  if (std::min(ramp.divided, largest) < std::max(ramp.kept, 0.0)) {
    throw Unsupported("the ramp is inverted: implementations disagree on its ends");
  }
  ramp.kept = std::max(ramp.kept, 0.0);
  ramp.divided = std::min(ramp.divided, largest);
  // Equal ends become a step one thousandth of a pair wide.
  if (ramp.divided == ramp.kept) ramp.divided = ramp.kept + 1;
  return ramp;
}

Verdict CheckInterpolated(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  Comparisons comparisons;
  for (size_t i = 0; i < schedule.plain.size(); ++i) {
    const auto pair = static_cast<int64_t>(i);
    AddFrequency(comparisons, subject, pair, schedule.measured[i], Relation::at_least,
                 schedule.plain[i] / params.factor);
    AddFrequency(comparisons, subject, pair, schedule.measured[i], Relation::at_most,
                 schedule.plain[i]);
  }
  return comparisons.Take();
}

Verdict CheckEnds(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const Ramp ramp = RampOf(params);
  const double kept =
      (1 - params.extrapolation_factor) / params.factor + params.extrapolation_factor;
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  Comparisons comparisons;
  for (size_t i = 0; i < schedule.plain.size(); ++i) {
    const auto pair = static_cast<int64_t>(i);
    const double plain = schedule.plain[i];
    if (static_cast<double>(i) <= ramp.kept) {
      AddFrequency(comparisons, subject, pair, schedule.measured[i], Relation::equal, plain * kept);
    } else if (static_cast<double>(i) >= ramp.divided) {
      AddFrequency(comparisons, subject, pair, schedule.measured[i], Relation::equal,
                   plain / params.factor);
    }
  }
  return comparisons.Take();
}

Verdict CheckMonotone(const Subject& subject, const LawCase& law_case) {
  return HoldRatioNonIncreasing(subject, law_case);
}

// rho is linear in the pair index on the ramp: a step is at most (1 - 1/s) ext / (high - low).
Verdict CheckContinuous(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const Ramp ramp = RampOf(params);
  const double share = ramp.width > 1 ? 1 / ramp.width : 1;
  const double steepest = (1 - 1 / params.factor) * params.extrapolation_factor * share;
  return HoldRatioSteps(subject, law_case,
                        [&](int64_t) { return steepest * (1 + 0x1p-50) + 0x1p-50; });
}

Verdict CheckDecreasing(const Subject& subject, const LawCase& law_case) {
  return HoldStrictlyDecreasing(subject, law_case);
}

Params Unscaled(const Subject& subject) {
  Params unscaled = ParamsOf(subject);
  unscaled.factor = 1;
  return unscaled;
}

Verdict CheckIdentity(const Subject& subject, const LawCase& law_case) {
  return HoldFrequencies(Rebind(subject, Unscaled(subject)), law_case, Relation::equal,
                         [](int64_t, double plain) { return plain; });
}

// The magnitude travels as one binary64 number: one rounding at least; where frequencies are formed
// in a narrower arithmetic, so is it, in two.
void AddMagnitude(Comparisons& comparisons, const Subject& subject, DoubleDouble want) {
  const double got = subject.Frequencies().magnitude;
  const double e = std::max(0x1p-53, 2 * subject.bound().Frequency(0));
  comparisons.Add(0, std::fabs((got - want.high) - want.low), e * want.high, want.high, [&] {
    return Witness{.where = "magnitude",
                   .got = HexFloat(got),
                   .want = HexFloat(want.high),
                   .positioned = false};
  });
}

Verdict CheckMagnitude(const Subject& subject, const LawCase&) {
  const auto& outputs = subject.info().outputs;
  if (std::ranges::find(outputs, "magnitude", &TensorSpec::name) == outputs.end()) {
    throw Unsupported("exports no magnitude");
  }
  Comparisons comparisons;
  AddMagnitude(comparisons, subject, MagnitudeOf(subject));
  const Params unscaled = Unscaled(subject);
  AddMagnitude(comparisons, Rebind(subject, unscaled),
               {unscaled.attention_factor.value_or(unscaled.attention_multiplier), 0});
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {
      {"interpolated", "every frequency lies between the plain one and the plain one divided by s",
       kShowFrequencies, true, CheckInterpolated},
      {"ends",
       "pairs with more than beta_fast turns over L0 are kept, those with fewer than beta_slow "
       "have their frequency divided by s",
       kShowFrequencies, true, CheckEnds},
      {"monotone", "the ratio to the plain frequency does not rise from fast pairs to slow",
       kShowFrequencies, true, CheckMonotone},
      {"continuous", "between neighbours the ratio moves no more than the ramp's slope allows",
       kShowFrequencies, true, CheckContinuous},
      {"decreasing", "every pair is slower than the one before", kShowFrequencies, true,
       CheckDecreasing},
      {"identity", "at factor 1 nothing is scaled", kShowFrequencies, true, CheckIdentity},
      {"magnitude", "the magnitude is the scheme's, and the multiplier alone at factor 1",
       "frequencies", true, CheckMagnitude}};
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Rotary rotary, double factor, int64_t length, double slow, double ratio,
                       bool truncate, double extrapolation, Magnitude magnitude) {
    // Where the base leaves no ramp the scheme refuses; huggingface's reading is then taken.
    if (!(rotary.base > 1)) rotary.base = 10000;
    return Params{.rotary = rotary,
                  .factor = factor,
                  .original_length = length,
                  .beta_fast = std::min(slow * ratio, kLargestScale),
                  .beta_slow = slow,
                  .truncate = truncate,
                  .extrapolation_factor = extrapolation,
                  .magnitude = magnitude,
                  .inverted_ramp = InvertedRamp::huggingface};
  };
  return rc::gen::apply(make, AnyRotary(), AnyFactor(1), AnyLength(), AnyFactor(0.25), AnyFactor(1),
                        rc::gen::element(true, false), rc::gen::element(1.0, 0.5, 0.0),
                        rc::gen::element(Magnitude::huggingface, Magnitude::deepseek,
                                         Magnitude::telechat3, Magnitude::none));
}

}  // namespace posgauge::yarn
