#include "posgauge/cli/law_check.h"

#include "posgauge/properties/laws.h"
#include "posgauge/properties/standard_cases.h"

namespace posgauge::cli {

std::vector<Verdict> CheckLawsOf(const Subject& subject, const std::vector<Subject>& others,
                                 const CheckPlan& plan, int64_t largest_position,
                                 std::string_view only) {
  const CasePlan cases{.heads = plan.heads, .largest_position = largest_position};
  std::vector<LawCase> standard = StandardCases(subject, cases, plan.seed);
  for (LawCase& law_case : standard) law_case.transpose = FindTranspose(subject, others);
  std::vector<Verdict> verdicts;
  for (const Law& law : Laws(subject.scheme())) {
    // A law of another quantity, or of frequencies that posgauge itself handed over, is not a check
    // of this kernel.
    if (!AppliesTo(law, subject.info().quantity)) continue;
    if (!only.empty() && law.name != only) continue;
    if (AppliesTo(law, "frequencies") && !subject.NotCovered().empty()) continue;
    verdicts.push_back(CheckLaw(law, subject, standard));
  }
  return verdicts;
}

}  // namespace posgauge::cli
