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
  all.idle += block.idle;
  if (!all.first_failure) all.first_failure = block.first_failure;
  if (!all.worst || (block.worst && block.worst->use > all.worst->use)) all.worst = block.worst;
  if (unbroken && block.holds_to >= 0) all.holds_to = std::max(all.holds_to, block.holds_to);
  if (all.profile.empty() && block.use.over() > 0) all.holds_to = block.holds_to;
  all.profile.insert(all.profile.end(), block.profile.begin(), block.profile.end());
}

struct Findings {
  Finding contract, budget;
};

Findings CheckBlock(const Subject& subject, Positions positions, const TruthTable& exact,
                    const CheckPlan& plan) {
  const KernelInfo& info = subject.info();
  const Rotary& layout = subject.layout();
  std::optional<TruthTable> own;
  if (subject.TakesTable()) {
    own = TruthOf(subject.SuppliedTable(positions));
  } else if (!subject.GivenIsExact()) {
    own = TruthOf(subject.given(), positions);
  }
  const TruthTable& given = own ? *own : exact;
  if (info.quantity == "table") {
    const TablePair table = subject.Table(positions);
    return {
        HoldToBound(table, layout, positions, given, subject.local_bound(), subject.magnitude()),
        HoldToBudget(table, layout, positions, exact, subject.magnitude(), plan.budget)};
  }
  const Tensor x = PlanInput(layout, positions, plan.heads, subject.io(), exact, plan.seed);
  const Tensor out = subject.Rotate(positions, x);
  const Rotated rotated{layout, positions, x, out, info.quantity == "rotate_backward"};
  return {HoldToBound(rotated, given, subject.local_bound()),
          HoldToBudget(rotated, exact, subject.magnitude(), plan.budget)};
}

// One kernel's state while blocks go by.
struct Running {
  Findings all;
  uint64_t positions = 0;
  std::optional<std::pair<Outcome, std::string>> ended;  // by the kernel's own answer

  template <class Step>
  void Try(Step step) {
    if (ended) return;
    try {
      step();
    } catch (const Unsupported& unsupported) {
      ended = {Outcome::unsupported, unsupported.what()};
    } catch (const KernelFailure& failure) {
      ended = {Outcome::fail, failure.what()};
    }
  }
};

void RunBlock(const Subject& subject, const std::vector<double>& block, const TruthTable& exact,
              const CheckPlan& plan, Running& running) {
  running.Try([&] {
    const std::vector<double> served = ServedPositions(subject.info(), block);
    if (served.empty()) return;
    Findings findings = served.size() == block.size()
                            ? CheckBlock(subject, block, exact, plan)
                            : CheckBlock(subject, served, TruthOf(subject.exact(), served), plan);
    Append(running.all.contract, std::move(findings.contract));
    Append(running.all.budget, std::move(findings.budget));
    running.positions += served.size();
  });
}

KernelCheck Conclude(const Subject& subject, const Running& running, const CheckPlan& plan) {
  const std::string& name = subject.info().name;
  KernelCheck check;
  check.keeps_contract = ToVerdict("contract", kContractClaim, name, running.all.contract);
  if (running.ended) {
    check.keeps_contract.outcome = running.ended->first;
    check.keeps_contract.note = running.ended->second;
    return check;
  }
  check.blind = running.all.contract.blind;
  if (subject.info().quantity == "frequencies") return check;
  check.adequate = ToVerdict("adequate", BudgetClaim(plan.budget), name, running.all.budget);
  check.contract_horizon = running.all.contract.holds_to;
  check.adequate_horizon = running.all.budget.holds_to;
  if (running.positions < plan.positions.size()) {
    check.keeps_contract.note = fmt::format("{} of {} positions are in the kernel's range",
                                            running.positions, plan.positions.size());
  }
  return check;
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

std::vector<KernelCheck> CheckKernels(const std::vector<Subject>& subjects, const CheckPlan& plan) {
  std::vector<Running> running(subjects.size());
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].info().quantity != "frequencies") continue;
    running[i].Try([&] {
      running[i].all.contract =
          HoldToBound(subjects[i].Frequencies(), subjects[i].exact().EncloseFrequencies(),
                      subjects[i].exact().EncloseMagnitude(), subjects[i].local_bound());
    });
  }
  for (size_t begin = 0; begin < plan.positions.size() && !subjects.empty(); begin += kBlock) {
    const auto first = plan.positions.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kBlock, plan.positions.size() - begin));
    const std::vector<double> block(first, first + count);
    const TruthTable exact = TruthOf(subjects.front().exact(), block);
    for (size_t i = 0; i < subjects.size(); ++i) {
      if (subjects[i].info().quantity == "frequencies") continue;
      RunBlock(subjects[i], block, exact, plan, running[i]);
    }
  }
  std::vector<KernelCheck> checks;
  for (size_t i = 0; i < subjects.size(); ++i) {
    checks.push_back(Conclude(subjects[i], running[i], plan));
  }
  return checks;
}

}  // namespace posgauge
