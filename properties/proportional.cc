#include "posgauge/properties/proportional.h"

#include <rapidcheck.h>

#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/properties/pairs.h"

namespace posgauge::proportional {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// The largest k with 2k <= proportion * d.
size_t TurningPairs(const Params& params) {
  const double width = params.proportion * static_cast<double>(params.rotary.rotary_dim);
  size_t turning = 0;
  while (2 * static_cast<double>(turning + 1) <= width) ++turning;
  return turning;
}

Verdict CheckTurning(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  const size_t turning = TurningPairs(params);
  if (turning == 0) throw Unsupported("no pair turns");
  Comparisons comparisons;
  for (size_t i = 0; i < turning; ++i) {
    AddFrequency(comparisons, subject, static_cast<int64_t>(i), schedule.measured[i],
                 Relation::equal, schedule.plain[i] / params.factor);
  }
  return comparisons.Take();
}

// What a pair would turn by is what stillness is measured by.
Verdict CheckStill(const Subject& subject, const LawCase& law_case) {
  const MeasuredSchedule schedule = MeasureSchedule(subject, law_case);
  const size_t turning = TurningPairs(ParamsOf(subject));
  if (turning == schedule.plain.size()) throw Unsupported("every pair turns");
  Comparisons comparisons;
  for (size_t i = turning; i < schedule.plain.size(); ++i) {
    const FrequencyInterval& measured = schedule.measured[i];
    comparisons.Add(0, std::fabs(measured.middle), measured.radius, schedule.plain[i], [&] {
      return Witness{.where = NameOfPair(subject, static_cast<int64_t>(i)),
                     .got = fmt::format("{:.9g} radians per token (within {:.2g})", measured.middle,
                                        measured.radius),
                     .want = "0",
                     .positioned = false};
    });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {
      {"turning_pairs",
       "the first floor(proportion d/2) frequencies are those of the full width, divided by the "
       "factor",
       kShowFrequencies, true, CheckTurning},
      {"still_pairs", "the other pairs do not turn", kShowFrequencies, true, CheckStill}};
}

rc::Gen<Params> AnyParams() {
  return rc::gen::apply(
      [](Rotary rotary, double proportion, double factor) {
        return Params{.rotary = rotary, .proportion = proportion, .factor = factor};
      },
      AnyRotary(), rc::gen::element(1.0, 0.25, 0.5, 0.0, 0.29, 0.75), AnyFactor(0.25));
}

}  // namespace posgauge::proportional
