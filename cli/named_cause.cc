#include "posgauge/cli/named_cause.h"

#include "posgauge/verify/faults/diagnosis.h"

namespace posgauge::cli {

void NameCause(const Subject& subject, const CheckPlan& plan, KernelCheck& check) {
  Verdict& verdict = check.keeps_contract;
  if (verdict.outcome != Outcome::fail || verdict.failure || !verdict.first_failure) return;
  CheckPlan asked = plan;
  asked.heads = check.heads;
  const double failing = verdict.first_failure->positioned ? verdict.first_failure->position : 0;
  const Diagnosis diagnosis = Diagnose(subject, asked, failing);
  if (!diagnosis.IsNamed()) {
    verdict.note += fmt::format("{}none of the known faults explains the values",
                                verdict.note.empty() ? "" : "; ");
    return;
  }
  Cause cause{.id = IdsOf(diagnosis.cause.faults),
              .share = diagnosis.cause.share,
              .shows_from = diagnosis.shows_from};
  for (const Fault* fault : diagnosis.cause.faults) {
    cause.what += (cause.what.empty() ? "" : "; ") + fault->cause;
    cause.fix += (cause.fix.empty() ? "" : "; ") + fault->fix;
    cause.links.insert(cause.links.end(), fault->links.begin(), fault->links.end());
  }
  for (const auto& twin : diagnosis.twins) cause.twins.push_back(IdsOf(twin));
  if (!diagnosis.runner_up.faults.empty()) {
    cause.runner_up = IdsOf(diagnosis.runner_up.faults);
    cause.runner_up_share = diagnosis.runner_up.share;
  }
  verdict.cause = std::move(cause);
}

}  // namespace posgauge::cli
