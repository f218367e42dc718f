#pragma once

#include <vector>

#include "posgauge/verify/check.h"
#include "posgauge/verify/faults/fault.h"

namespace posgauge {

/// What a kernel was asked and what it answered, beside how far an honest kernel of its contract
/// may be from the truth.
struct Evidence {
  Question question;
  std::vector<double> answer;     // in the order of Replay
  std::vector<double> limits;     // absolute, the store's rounding included; one a value
  std::vector<double> positions;  // tokens, whose value it is; by |.| that of the farthest axis
};

/// Calls the kernel at these positions. What is asked depends on the plan's seed and heads, and on
/// each position alone. Of a kernel of equations, whose calls are of one position each, there is
/// one for every position. Throws Unsupported and KernelFailure.
std::vector<Evidence> Observe(const Subject& subject, const CheckPlan& plan,
                              const std::vector<double>& positions);

}  // namespace posgauge
