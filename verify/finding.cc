#include "posgauge/verify/finding.h"

#include <fmt/format.h>

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
  } else if (2 * finding.blind > finding.use.count() - finding.idle) {
    verdict.outcome = Outcome::blind;
    verdict.note = fmt::format(
        "the contract allows an error above a tenth of the pair norm for {} of {} values",
        finding.blind, finding.use.count() - finding.idle);
  } else if (finding.use.count() == 0) {
    verdict.outcome = Outcome::unsupported;
    verdict.note = "nothing was compared";
  }
  return verdict;
}

}  // namespace posgauge
