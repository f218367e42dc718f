#include "posgauge/properties/yarn.h"

#include <rapidcheck.h>

#include <algorithm>
#include <numbers>

#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/properties/law_bounds.h"

namespace posgauge::yarn {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// s, from two lengths in the dynamic form. arXiv:2309.00071, sec. 3.3.
double Factor(const Params& params) {
  if (!params.length) return params.factor;
  return std::max(
      1.0, static_cast<double>(*params.length) / static_cast<double>(params.original_length));
}

// r_i = L0 w_i/2 pi, the turns of a pair over the original context, within 2^-50.
double Turns(const Params& params, double plain) {
  return static_cast<double>(params.original_length) * plain / (2 * std::numbers::pi);
}

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
                 schedule.plain[i] / Factor(params));
    AddFrequency(comparisons, subject, pair, schedule.measured[i], Relation::at_most,
                 schedule.plain[i]);
  }
  return comparisons.Take();
}

// Whether a pair is surely kept, surely divided, or perhaps blended.
enum class Side { kept, divided, blended };

std::vector<Side> SidesOf(const Params& params, const std::vector<double>& plain) {
  const bool by_turns = params.ramp == RampOver::turns;
  const Ramp ramp = by_turns ? Ramp{} : RampOf(params);
  std::vector<Side> sides;
  for (size_t i = 0; i < plain.size(); ++i) {
    const double turns = Turns(params, plain[i]), index = static_cast<double>(i);
    const bool kept = by_turns ? turns * (1 - 0x1p-50) > params.beta_fast : index <= ramp.kept;
    const bool divided =
        by_turns ? turns * (1 + 0x1p-50) < params.beta_slow : index >= ramp.divided;
    sides.push_back(kept ? Side::kept : divided ? Side::divided : Side::blended);
  }
  return sides;
}

Verdict CheckEnds(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const double kept =
      (1 - params.extrapolation_factor) / Factor(params) + params.extrapolation_factor;
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  const std::vector<Side> sides = SidesOf(params, schedule.plain);
  Comparisons comparisons;
  for (size_t i = 0; i < schedule.plain.size(); ++i) {
    if (sides[i] == Side::blended) continue;
    const double ratio = sides[i] == Side::kept ? kept : 1 / Factor(params);
    AddFrequency(comparisons, subject, static_cast<int64_t>(i), schedule.measured[i],
                 Relation::equal, schedule.plain[i] * ratio);
  }
  return comparisons.Take();
}

Verdict CheckMonotone(const Subject& subject, const LawCase& law_case) {
  return HoldRatioNonIncreasing(subject, law_case);
}

// rho = 1/s + (1 - 1/s) ext k. Over pairs k is linear in the index: a step is at most 1/(high -
// low). Over turns it is at most (r_i - r_(i+1))/(beta_fast - beta_slow), whose turns are each
// within 2^-50.
Verdict CheckContinuous(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const bool by_turns = params.ramp == RampOver::turns;
  const std::vector<double> plain = FrequenciesOfPlainRope(subject.layout());
  const double width = by_turns ? params.beta_fast - params.beta_slow : RampOf(params).width;
  return HoldRatioSteps(subject, law_case, [&](int64_t pair) {
    double share = width > 1 ? 1 / width : 1;
    if (by_turns) {
      const double here = Turns(params, plain[static_cast<size_t>(pair)]);
      const double next = Turns(params, plain[static_cast<size_t>(pair) + 1]);
      // A step leaves 0/0 or more than 1.
      share =
          width > 0 ? std::min((std::fabs(here - next) + (here + next) * 0x1p-49) / width, 1.0) : 1;
    }
    const double steepest = (1 - 1 / Factor(params)) * params.extrapolation_factor * share;
    return steepest * (1 + 0x1p-50) + 0x1p-50;
  });
}

Verdict CheckDecreasing(const Subject& subject, const LawCase& law_case) {
  return HoldStrictlyDecreasing(subject, law_case);
}

Params Unscaled(const Subject& subject) {
  Params unscaled = ParamsOf(subject);
  unscaled.factor = 1;
  unscaled.length.reset();
  return unscaled;
}

Params WithLength(Params params, int64_t length) {
  params.length = length;
  return params;
}

// A length up to the original one changes nothing; at one more the factor is above 1, and s times
// the original length is the factor s.
Verdict CheckLengths(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const int64_t original = params.original_length;
  Comparisons comparisons;
  for (const int64_t length : {int64_t{0}, original - 1, original}) {
    const Subject at = Rebind(subject, WithLength(params, length));
    const MeasuredSchedule schedule = MeasureSchedule(at, law_case);
    for (size_t i = 0; i < schedule.plain.size(); ++i) {
      AddFrequency(comparisons, at, static_cast<int64_t>(i), schedule.measured[i], Relation::equal,
                   schedule.plain[i]);
    }
  }
  for (const int64_t length : {original + 1, 4 * original}) {
    if (length > kLargestLength) continue;
    const Subject at = Rebind(subject, WithLength(params, length));
    const double factor = Factor(WithLength(params, length));
    const MeasuredSchedule schedule = MeasureSchedule(at, law_case);
    const std::vector<Side> sides = SidesOf(params, schedule.plain);
    for (size_t i = 0; i < schedule.plain.size(); ++i) {
      if (sides[i] != Side::divided) continue;
      AddFrequency(comparisons, at, static_cast<int64_t>(i), schedule.measured[i], Relation::equal,
                   schedule.plain[i] / factor);
    }
  }
  return comparisons.Take();
}

Verdict CheckIdentity(const Subject& subject, const LawCase& law_case) {
  return HoldFrequencies(Rebind(subject, Unscaled(subject)), law_case, Relation::equal,
                         [](int64_t, double plain) { return plain; });
}

Verdict CheckMagnitude(const Subject& subject, const LawCase&) {
  RequireMagnitude(subject);
  Comparisons comparisons;
  AddMagnitude(comparisons, subject, MagnitudeOf(subject));
  const Params unscaled = Unscaled(subject);
  AddMagnitude(comparisons, Rebind(subject, unscaled),
               {unscaled.attention_factor.value_or(unscaled.attention_multiplier), 0});
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
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
      {"identity", "at factor 1 nothing is scaled", kShowFrequencies, true, CheckIdentity},
      {"magnitude", "the magnitude is the scheme's, and the multiplier alone at factor 1",
       "frequencies", true, CheckMagnitude}};
  if (params.rotary.base > 1) {
    laws.push_back({"decreasing", "every pair is slower than the one before", kShowFrequencies,
                    true, CheckDecreasing});
  }
  if (params.length) {
    laws.push_back({"lengths",
                    "up to the original length nothing is scaled; beyond it slow pairs are divided "
                    "by length/L0",
                    kShowFrequencies, true, CheckLengths});
  }
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Rotary rotary, double factor, int64_t length, double slow, double ratio,
                       bool truncate, double extrapolation, Magnitude magnitude, RampOver ramp,
                       std::optional<int64_t> current) {
    // Where the base leaves no ramp over pairs the scheme refuses; huggingface's reading is then
    // taken.
    if (!(rotary.base > 1) && ramp == RampOver::pairs) rotary.base = 10000;
    return Params{.rotary = rotary,
                  .factor = current ? 1 : factor,
                  .original_length = length,
                  .beta_fast = std::min(slow * ratio, kLargestScale),
                  .beta_slow = slow,
                  .ramp = ramp,
                  .truncate = truncate,
                  .extrapolation_factor = extrapolation,
                  .magnitude = magnitude,
                  .inverted_ramp = InvertedRamp::huggingface,
                  .length = current};
  };
  const auto current =
      rc::gen::map(rc::gen::pair(rc::gen::element(false, true), AnyLength()),
                   [](const std::pair<bool, int64_t>& drawn) {
                     return drawn.first ? std::optional(drawn.second) : std::nullopt;
                   });
  return rc::gen::apply(make, AnyRotary(), AnyFactor(1), AnyLength(), AnyFactor(0.25), AnyFactor(1),
                        rc::gen::element(true, false), rc::gen::element(1.0, 0.5, 0.0),
                        rc::gen::element(Magnitude::huggingface, Magnitude::deepseek,
                                         Magnitude::telechat3, Magnitude::none),
                        rc::gen::element(RampOver::pairs, RampOver::turns), current);
}

}  // namespace posgauge::yarn
