#pragma once

#include <string>
#include <vector>

#include "posgauge/verify/faults/evidence.h"

namespace posgauge {

/// How well a hypothesis explains what a kernel answered.
struct Explanation {
  std::vector<const Fault*> faults;
  /// Of the values that tell it from an honest kernel, or do not explain themselves by one, the
  /// share that lies within the contract's bound of what a kernel with these faults computes.
  double share = 0;
  double misfit = 0;  // mean of log2(1 + (error/bound)^2); 0 is perfect
};

/// The name of what is wrong with a kernel.
struct Diagnosis {
  /// The best explanation; no faults where none of the known ones explains the answers.
  Explanation cause;
  /// Faults, or pairs of them, that these questions cannot tell from it.
  std::vector<std::vector<const Fault*>> twins;
  /// The next best that is no twin.
  Explanation runner_up;
  double honest_misfit = 0;
  /// Smallest position asked at which the fault's effect exceeds twice the bound; -1 if none does.
  double shows_from = -1;

  bool IsNamed() const { return !cause.faults.empty(); }
};

/// Replays every fault of the bank, and pairs where no single one explains, on what a kernel was
/// asked, and ranks them by how well they explain its answers. An answer that an honest kernel of
/// the contract may give is not diagnosed, nor is one that no hypothesis brings within the bound:
/// a name is never forced. Library functions may be an ulp or two beyond the contract.
Diagnosis Diagnose(const std::vector<Evidence>& evidence);

/// The same of a kernel that failed a check: asks it at a few positions of the plan, `failing`
/// among them. Not named where it does not answer.
Diagnosis Diagnose(const Subject& subject, const CheckPlan& plan, double failing);

/// "frequency_bf16", "frequency_bf16 + sin_sign".
std::string IdsOf(const std::vector<const Fault*>& faults);

}  // namespace posgauge
