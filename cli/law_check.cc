#include "posgauge/cli/law_check.h"

#include "posgauge/properties/laws.h"
#include "posgauge/properties/standard_cases.h"

namespace posgauge::cli {

std::vector<Verdict> CheckLawsOf(const Subject& subject, const std::vector<Subject>& others,
                                 const CheckPlan& plan, int64_t largest_position) {
  const CasePlan cases{.heads = plan.heads, .largest_position = largest_position};
  std::vector<LawCase> standard = StandardCases(subject, cases, plan.seed);
  for (LawCase& law_case : standard) law_case.transpose = FindTranspose(subject, others);
  std::vector<Verdict> verdicts = CheckLaws(subject, standard);
  // A law of another quantity is not a check of this kernel.
  std::erase_if(verdicts, [&](const Verdict& verdict) {
    const std::optional<Law> law = FindLaw(subject.scheme(), verdict.check);
    return verdict.outcome == Outcome::unsupported && law &&
           law->quantities.find(subject.info().quantity) == std::string_view::npos;
  });
  return verdicts;
}

}  // namespace posgauge::cli
