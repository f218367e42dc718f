#include "posgauge/properties/comparisons.h"

namespace posgauge {

Verdict Comparisons::Take(std::string note) {
  verdict_.note = std::move(note);
  if (verdict_.use.over() > 0) {
    verdict_.outcome = Outcome::fail;
    verdict_.note.clear();
  } else if (verdict_.use.count() == 0) {
    verdict_.outcome = Outcome::unsupported;
    if (verdict_.note.empty()) verdict_.note = "nothing was compared";
  } else if (blind_ >= verdict_.use.count()) {
    verdict_.outcome = Outcome::blind;
    verdict_.note = "the contract allows an error above a tenth of what is compared, everywhere";
  }
  return std::move(verdict_);
}

}  // namespace posgauge
