#include "posgauge/properties/rope.h"

#include <rapidcheck.h>

#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"

namespace posgauge::rope {

namespace {

Verdict CheckGeometricSeries(const Subject& subject, const LawCase& law_case) {
  return HoldFrequencies(subject, law_case, Relation::equal,
                         [](int64_t, double plain) { return plain; });
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {{"geometric_series",
           "frequencies fall from 1 to base^(-(d-2)/d), each base^(-2/d) times the one before",
           kShowFrequencies, true, CheckGeometricSeries}};
}

rc::Gen<Params> AnyParams() {
  return rc::gen::map(AnyRotary(), [](Rotary rotary) { return Params{.rotary = rotary}; });
}

}  // namespace posgauge::rope
