#pragma once

#include <string>

#include "posgauge/verify/check.h"

namespace posgauge::cli {

/// What tests by the usual rules, with a perfect reference, would have said of a kernel that
/// rotates, at up to a few hundred of the planned positions: "torch.testing.assert_close fails from
/// position 2 on; ...". Empty for other kernels, and where the kernel does not answer.
std::string UsualRules(const Subject& subject, const CheckPlan& plan);

}  // namespace posgauge::cli
