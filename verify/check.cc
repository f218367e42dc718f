#include "posgauge/verify/check.h"

#include <algorithm>
#include <cmath>

#include "posgauge/verify/plan.h"

namespace posgauge {

namespace {

constexpr const char* kContractClaim =
    "every value is within the bound derived from the declared arithmetic";

std::string BudgetClaim(double budget) {
  return fmt::format("every pair is within {:g} spacings of its dtype of exact arithmetic", budget);
}

// Working memory stays bounded: positions are checked in blocks.
constexpr size_t kBlock = 1024;

// Two findings over disjoint sets of positions, the second farther out.
void Append(Finding& all, Finding block) {
  const bool unbroken = all.use.over() == 0;
  all.use.Merge(block.use);
  all.blind += block.blind;
  if (!all.first_failure) all.first_failure = block.first_failure;
  if (!all.worst || (block.worst && block.worst->use > all.worst->use)) all.worst = block.worst;
  if (unbroken && block.holds_to >= 0) all.holds_to = std::max(all.holds_to, block.holds_to);
  if (all.profile.empty() && block.use.over() > 0) all.holds_to = block.holds_to;
  all.profile.insert(all.profile.end(), block.profile.begin(), block.profile.end());
}

struct Findings {
  Finding contract, budget;
};

Findings CheckBlock(const Subject& subject, Positions positions, const CheckPlan& plan) {
  const KernelInfo& info = subject.info();
  const Rotary& layout = subject.layout();
  const TruthTable exact = TruthOf(subject.exact(), positions);
  if (info.quantity == "table") {
    const TablePair table = subject.Table(positions);
    const TruthTable given = TruthOf(subject.given(), positions);
    return {
        HoldToBound(table, layout, positions, given, subject.local_bound(), subject.magnitude()),
        HoldToBudget(table, layout, positions, exact, subject.magnitude(), plan.budget)};
  }
  const Tensor x = PlanInput(layout, positions, plan.heads, subject.io(), exact, plan.seed);
  const Tensor out = subject.Rotate(positions, x);
  const Rotated rotated{layout, positions, x, out, info.quantity == "rotate_backward"};
  const TruthTable given = subject.TakesTable() ? TruthOf(subject.SuppliedTable(positions))
                                                : TruthOf(subject.given(), positions);
  return {HoldToBound(rotated, given, subject.local_bound()),
          HoldToBudget(rotated, exact, subject.magnitude(), plan.budget)};
}

}  // namespace

std::vector<double> ServedPositions(const KernelInfo& info, const std::vector<double>& positions) {
  std::vector<double> served;
  const double largest = info.kernel->largest_position;
  for (double position : positions) {
    if (largest == 0 || std::fabs(position) <= largest) served.push_back(position);
  }
  return served;
}

KernelCheck CheckKernel(const Subject& subject, const CheckPlan& plan) {
  const KernelInfo& info = subject.info();
  KernelCheck check;
  const auto give_up = [&](Outcome outcome, const std::string& why) {
    check.keeps_contract = ToVerdict("contract", kContractClaim, info.name, {});
    check.keeps_contract.outcome = outcome;
    check.keeps_contract.note = why;
    check.adequate.reset();
  };
  try {
    if (info.quantity == "frequencies") {
      const Finding finding =
          HoldToBound(subject.Frequencies(), subject.exact(), subject.local_bound());
      check.keeps_contract = ToVerdict("contract", kContractClaim, info.name, finding);
      return check;
    }
    const std::vector<double> positions = ServedPositions(info, plan.positions);
    Findings all;
    for (size_t begin = 0; begin < positions.size(); begin += kBlock) {
      const size_t count = std::min(kBlock, positions.size() - begin);
      Findings block = CheckBlock(subject, Positions(positions).subspan(begin, count), plan);
      Append(all.contract, std::move(block.contract));
      Append(all.budget, std::move(block.budget));
    }
    check.keeps_contract = ToVerdict("contract", kContractClaim, info.name, all.contract);
    check.adequate = ToVerdict("adequate", BudgetClaim(plan.budget), info.name, all.budget);
    check.contract_horizon = all.contract.holds_to;
    check.adequate_horizon = all.budget.holds_to;
    check.blind = all.contract.blind;
    if (positions.size() < plan.positions.size()) {
      check.keeps_contract.note = fmt::format("{} of {} positions are in the kernel's range",
                                              positions.size(), plan.positions.size());
    }
  } catch (const Unsupported& unsupported) {
    give_up(Outcome::unsupported, unsupported.what());
  } catch (const KernelFailure& failure) {
    give_up(Outcome::fail, failure.what());
  }
  return check;
}

}  // namespace posgauge
