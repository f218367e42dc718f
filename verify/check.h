#pragma once

#include <optional>
#include <string>
#include <vector>

#include "posgauge/verify/judge.h"

namespace posgauge {

/// What an absolute check runs over. A row of the input depends on the seed, its position and its
/// head only, so one failing position can be run again alone.
struct CheckPlan {
  std::vector<double> positions;  // tokens, ascending; PlaceOnAxes where there are several axes
  int64_t heads = 4;
  uint64_t seed = 1;
  double budget = 2;                     // spacings of the io dtype: what counts as adequate
  std::vector<int64_t> more_heads = {};  // the model's, each tried in calls at a few positions
};

/// The absolute check of one kernel: every value it yields over the plan.
struct KernelCheck {
  Verdict keeps_contract;           // against the truth given what posgauge supplied
  std::optional<Verdict> adequate;  // against exact arithmetic; absent for frequencies
  // Largest position up to which every checked one keeps the contract, -1 if the first does not or
  // the kernel answered no call; the same for the budget.
  double contract_horizon = -1, adequate_horizon = -1;
  // Values whose bound could not have failed, of those that tell something of an angle.
  uint64_t blind = 0, telling = 0;
  int64_t heads = 0;                 // of the calls that the verdicts' failures are from
  uint64_t planned = 0, served = 0;  // positions of the plan, and those in the kernel's range
};

/// Checks kernels of one scheme side by side: positions go by in blocks, whose truth is enclosed
/// once for all. Positions beyond a kernel's declared range are left out for it; none left is
/// `unsupported`. A kernel that answers `unsupported` or fails gives verdicts that say so.
std::vector<KernelCheck> CheckKernels(const std::vector<Subject>& subjects, const CheckPlan& plan);

/// The input of a kernel that takes one, over the plan: PlanInput or PlanEmbeddings.
Tensor InputFor(const Subject& subject, const CheckPlan& plan);

/// What the verdict `contract` claims.
inline constexpr const char* kContractClaim =
    "every value is within the bound derived from the declared arithmetic";

/// What the verdict `adequate` claims.
std::string BudgetClaim(const Scheme& scheme, double budget);

/// The positions of the plan that the kernel says it serves.
std::vector<double> ServedPositions(const KernelInfo& info, const std::vector<double>& positions);

}  // namespace posgauge
