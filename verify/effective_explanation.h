#pragma once

#include <vector>

#include "posgauge/verify/effective_difference.h"

namespace posgauge {

/// Names why fields are wrong that are said: by one cause that gives all that is said; else for
/// each field by one that gives that field, or for frequencies two together; else without a cause.
/// `rounding` is how frequencies that are not wrong fit. A cause may give its frequencies rounded
/// to bf16 or f16: that is then a second one.
std::vector<EffectiveDifference> Explain(const ReplayContext& context,
                                         const std::vector<EffectiveField>& said,
                                         const std::vector<EffectiveField>& wrong, Fit rounding);

}  // namespace posgauge
