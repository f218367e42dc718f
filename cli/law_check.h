#pragma once

#include <string_view>
#include <vector>

#include "posgauge/cli/run_deadline.h"
#include "posgauge/verify/check.h"

namespace posgauge::cli {

/// The laws of a subject's scheme over the standard cases of a plan. `others` are the kernels at
/// hand: a law that needs a forward kernel and its transpose finds the partner there. Laws that are
/// not begun by the deadline are not run. `only`: the law of that name alone, if it is not empty.
std::vector<Verdict> CheckLawsOf(const Subject& subject, const std::vector<Subject>& others,
                                 const CheckPlan& plan, int64_t largest_position,
                                 const RunDeadline& deadline = RunDeadline(),
                                 std::string_view only = {});

}  // namespace posgauge::cli
