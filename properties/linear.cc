#include "posgauge/properties/linear.h"

#include <rapidcheck.h>

#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"

namespace posgauge::linear {

namespace {

double Factor(const Subject& subject) { return std::get<Params>(subject.scheme()).factor; }

// The angle p w' stays below L0 w for every p below s L0 just where s w' <= w, whatever L0 is.
Verdict CheckTrainedAngles(const Subject& subject, const LawCase& law_case) {
  const double factor = Factor(subject);
  return HoldFrequencies(subject, law_case, Relation::at_most,
                         [&](int64_t, double plain) { return plain / factor; });
}

Verdict CheckDividedAngles(const Subject& subject, const LawCase& law_case) {
  const double factor = Factor(subject);
  return HoldFrequencies(subject, law_case, Relation::equal,
                         [&](int64_t, double plain) { return plain / factor; });
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {{"trained_angles",
           "with L0 the trained length, every angle at p < s L0 is below L0 times its frequency",
           kShowFrequencies, true, CheckTrainedAngles},
          {"divided_angles", "every angle is that of plain RoPE divided by the factor",
           kShowFrequencies, true, CheckDividedAngles}};
}

rc::Gen<Params> AnyParams() {
  return rc::gen::apply(
      [](Rotary rotary, double factor) { return Params{.rotary = rotary, .factor = factor}; },
      AnyRotary(), AnyFactor(0.25));
}

}  // namespace posgauge::linear
