#include "posgauge/cli/law_check.h"

#include "posgauge/properties/grouped_heads.h"
#include "posgauge/properties/laws.h"
#include "posgauge/properties/standard_cases.h"

namespace posgauge::cli {

std::vector<Verdict> CheckLawsOf(const Subject& subject, const std::vector<Subject>& others,
                                 const CheckPlan& plan, int64_t largest_position,
                                 const RunDeadline& deadline, std::string_view only) {
  const CasePlan cases{.heads = plan.heads, .largest_position = largest_position};
  std::vector<LawCase> standard = StandardCases(subject, cases, plan.seed);
  for (LawCase& law_case : standard) law_case.transpose = FindTranspose(subject, others);
  std::vector<Verdict> verdicts;
  std::vector<Law> laws = Laws(subject.scheme());
  if (subject.info().Declares("grouped")) laws.push_back(GroupedHeadsLaw());
  for (const Law& law : laws) {
    // A law of another quantity, or of frequencies that posgauge itself handed over, is not a check
    // of this kernel.
    if (!AppliesTo(law, subject.info().quantity)) continue;
    if (!only.empty() && law.name != only) continue;
    if (AppliesTo(law, "frequencies") && !subject.NotCovered().empty()) continue;
    verdicts.push_back(deadline.IsOver()
                           ? deadline.NotRun(law.name, law.statement, subject.info().name)
                           : CheckLaw(law, subject, standard));
  }
  return verdicts;
}

}  // namespace posgauge::cli
