#include "posgauge/verify/finding.h"

namespace posgauge {

Verdict ToVerdict(std::string check, std::string claim, std::string subject,
                  const Finding& finding) {
  Verdict verdict;
  verdict.check = std::move(check);
  verdict.claim = std::move(claim);
  verdict.subject = std::move(subject);
  verdict.use = finding.use;
  verdict.first_failure = finding.first_failure;
  verdict.worst = finding.worst;
  if (finding.use.over() > 0) {
    verdict.outcome = Outcome::fail;
  } else if (finding.blind > 0 && finding.blind + finding.idle >= finding.use.count()) {
    verdict.outcome = Outcome::blind;
    verdict.note = "the contract allows an error above a tenth of the pair norm everywhere";
  } else if (finding.use.count() == 0) {
    verdict.outcome = Outcome::unsupported;
    verdict.note = "nothing was compared";
  }
  return verdict;
}

}  // namespace posgauge
