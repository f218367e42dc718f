#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/statistics.h"
#include "posgauge/verify/verdict.h"

namespace posgauge {

/// What holding a result to something found.
struct Finding {
  Statistics use;                        // error / limit, one a value
  std::optional<Witness> first_failure;  // the smallest |position| that fails
  std::optional<Witness> worst;
  uint64_t blind = 0;   // values whose limit exceeds a tenth of the pair norm, or of x and 1
  uint64_t idle = 0;    // values that say nothing of an angle: pairs and channels of zeros, copies
  double holds_to = 0;  // the largest |position| up to which every checked one holds
  std::vector<std::pair<double, double>> profile;  // |position| ascending, largest use there
};

/// A finding as a verdict: fail if any value is over, blind if more than half of them could not
/// have been.
Verdict ToVerdict(std::string check, std::string claim, std::string subject,
                  const Finding& finding);

}  // namespace posgauge
