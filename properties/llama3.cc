#include "posgauge/properties/llama3.h"

#include <rapidcheck.h>

#include <algorithm>
#include <numbers>

#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/properties/pairs.h"

namespace posgauge::llama3 {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// r_i = L0 w_i / 2 pi, the turns of a pair over the original context, within 2^-50.
double Turns(const Params& params, double plain) {
  return static_cast<double>(params.original_length) * plain / (2 * std::numbers::pi);
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

// Only pairs that are surely on one side of a limit: r carries a relative error of 2^-50.
Verdict CheckEnds(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  Comparisons comparisons;
  for (size_t i = 0; i < schedule.plain.size(); ++i) {
    const double plain = schedule.plain[i], turns = Turns(params, plain);
    const auto pair = static_cast<int64_t>(i);
    if (turns * (1 - 0x1p-50) > params.high_frequency_factor) {
      AddFrequency(comparisons, subject, pair, schedule.measured[i], Relation::equal, plain);
    } else if (turns * (1 + 0x1p-50) < params.low_frequency_factor) {
      AddFrequency(comparisons, subject, pair, schedule.measured[i], Relation::equal,
                   plain / params.factor);
    }
  }
  return comparisons.Take();
}

Verdict CheckMonotone(const Subject& subject, const LawCase& law_case) {
  return HoldRatioNonIncreasing(subject, law_case);
}

// rho = 1/s + (1 - 1/s) sigma, and sigma moves by at most (r_i - r_(i+1))/(high - low) between
// neighbours; the turns' relative error of 2^-50 counts for both.
Verdict CheckContinuous(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const std::vector<double> plain = FrequenciesOfPlainRope(subject.layout());
  const double width = params.high_frequency_factor - params.low_frequency_factor;
  return HoldRatioSteps(subject, law_case, [&](int64_t pair) {
    const double here = Turns(params, plain[static_cast<size_t>(pair)]);
    const double next = Turns(params, plain[static_cast<size_t>(pair) + 1]);
    const double steepest = (std::fabs(here - next) + (here + next) * 0x1p-49) / width;
    return (1 - 1 / params.factor) * std::min(steepest, 1.0) + 0x1p-50;
  });
}

Verdict CheckDecreasing(const Subject& subject, const LawCase& law_case) {
  return HoldStrictlyDecreasing(subject, law_case);
}

Verdict CheckIdentity(const Subject& subject, const LawCase& law_case) {
  Params unscaled = ParamsOf(subject);
  unscaled.factor = 1;
  return HoldFrequencies(Rebind(subject, unscaled), law_case, Relation::equal,
                         [](int64_t, double plain) { return plain; });
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"interpolated", "every frequency lies between the plain one and the plain one divided by s",
       kShowFrequencies, true, CheckInterpolated},
      {"ends",
       "wavelengths below L0/high are kept, those above L0/low have their frequency divided by s",
       kShowFrequencies, true, CheckEnds},
      {"monotone", "the ratio to the plain frequency does not rise from fast pairs to slow",
       kShowFrequencies, true, CheckMonotone},
      {"identity", "at factor 1 nothing is scaled", kShowFrequencies, true, CheckIdentity}};
  if (params.high_frequency_factor > params.low_frequency_factor) {
    laws.push_back({"continuous",
                    "between neighbours the ratio moves no more than the blend's slope allows",
                    kShowFrequencies, true, CheckContinuous});
  }
  if (params.rotary.base > 1) {
    laws.push_back({"decreasing", "every pair is slower than the one before", kShowFrequencies,
                    true, CheckDecreasing});
  }
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Rotary rotary, double factor, double low, double ratio, int64_t length) {
    return Params{.rotary = rotary,
                  .factor = factor,
                  .low_frequency_factor = low,
                  .high_frequency_factor = low * ratio,
                  .original_length = length};
  };
  return rc::gen::apply(make, AnyRotary(), AnyFactor(1), AnyFactor(0.25), AnyFactor(1),
                        AnyLength());
}

}  // namespace posgauge::llama3
