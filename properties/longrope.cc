#include "posgauge/properties/longrope.h"

#include <rapidcheck.h>

#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/properties/law_bounds.h"

namespace posgauge::longrope {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

Params WithLength(Params params, int64_t length) {
  params.length = length;
  return params;
}

// Every frequency against the plain one divided by its factor.
void AddDivided(Comparisons& comparisons, const Subject& subject, const LawCase& law_case,
                const std::optional<std::vector<double>>& factors) {
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  for (size_t i = 0; i < schedule.plain.size(); ++i) {
    const double factor = factors ? (*factors)[i] : 1;
    AddFrequency(comparisons, subject, static_cast<int64_t>(i), schedule.measured[i],
                 Relation::equal, schedule.plain[i] / factor);
  }
}

// Lengths on both sides of the switch, each with the factors that must hold there.
Verdict CheckSwitch(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const int64_t original = params.original_length;
  Comparisons comparisons;
  for (const int64_t length : {int64_t{0}, original - 1, original}) {
    AddDivided(comparisons, Rebind(subject, WithLength(params, length)), law_case,
               params.short_factor);
  }
  for (const int64_t length : {original + 1, 2 * original}) {
    if (length > kLargestLength) continue;
    AddDivided(comparisons, Rebind(subject, WithLength(params, length)), law_case,
               params.long_factor);
  }
  return comparisons.Take();
}

Verdict CheckDivided(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const bool is_long = params.length.value_or(0) > params.original_length;
  Comparisons comparisons;
  AddDivided(comparisons, subject, law_case, is_long ? params.long_factor : params.short_factor);
  return comparisons.Take();
}

Verdict CheckMagnitude(const Subject& subject, const LawCase&) {
  RequireMagnitude(subject);
  Comparisons comparisons;
  AddMagnitude(comparisons, subject, MagnitudeOf(subject));
  Params unscaled = ParamsOf(subject);
  unscaled.factor = 1;
  unscaled.attention_factor = unscaled.short_mscale = unscaled.long_mscale = std::nullopt;
  AddMagnitude(comparisons, Rebind(subject, unscaled), {1, 0});
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"divided_pairs", "every frequency is the plain one divided by the factor of its pair",
       kShowFrequencies, true, CheckDivided},
      {"magnitude", "the magnitude is the scheme's, and 1 at factor 1", "frequencies", true,
       CheckMagnitude}};
  if (params.length) {
    laws.push_back({"switch",
                    "the short factors hold up to the original length, the long ones from one more",
                    kShowFrequencies, true, CheckSwitch});
  }
  return laws;
}

rc::Gen<Params> AnyParams() {
  // Lists that rise from 1 to their last entry, as the published ones nearly do.
  const auto rising = [](int64_t pairs, double last) {
    std::vector<double> list;
    for (int64_t i = 0; i < pairs; ++i) {
      const double part = pairs == 1 ? 1 : static_cast<double>(i) / static_cast<double>(pairs - 1);
      list.push_back(1 + (last - 1) * part);
    }
    return list;
  };
  const auto make = [rising](Rotary rotary, bool listed, double shorter, double longer,
                             int64_t original, int64_t length, double factor) {
    Params params{
        .rotary = rotary, .original_length = std::max(original, int64_t{2}), .factor = factor};
    if (listed) {
      params.short_factor = rising(rotary.Pairs(), shorter);
      params.long_factor = rising(rotary.Pairs(), longer);
      params.length = length;
    }
    return params;
  };
  return rc::gen::apply(make, AnyRotary(), rc::gen::element(false, true, true), AnyFactor(0.25),
                        AnyFactor(1), AnyLength(), AnyLength(), AnyFactor(0.25));
}

}  // namespace posgauge::longrope
