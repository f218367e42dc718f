#include "posgauge/verify/check.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <deque>
#include <iterator>
#include <limits>
#include <set>

#include "posgauge/verify/equation_plan.h"
#include "posgauge/verify/judged_call.h"
#include "posgauge/verify/plan.h"

namespace posgauge {

namespace {

// Working memory stays bounded: positions are checked in blocks. No power of two, so that kernels
// which work in such blocks end in a part of one; the gate's 2048 positions are two calls.
constexpr size_t kBlock = 1536;

// Positions at which every head of the model is tried.
constexpr size_t kMoreHeadsPositions = 32;

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

// By the kind of the scheme: what a block of positions is held to, and how; its frequencies.

TruthTable ExactTruth(const RotationTruth& truth, Positions positions) {
  return TruthOf(truth.exact(), positions);
}

Tensor InputOf(const Subject& subject, const RotationTruth&, Positions positions,
               const TruthTable& exact, const CheckPlan& plan) {
  return PlanInput(subject.layout(), positions, plan.heads, subject.io(), exact, plan.seed,
                   subject.axes());
}

// The planned positions as the kernel is asked for them.
std::vector<double> Placed(const RotationTruth& truth, Positions planned, uint64_t seed) {
  return PlaceOnAxes(truth.axes(), planned, seed);
}

std::vector<double> Placed(const AdditionTruth&, Positions planned, uint64_t) {
  return {planned.begin(), planned.end()};
}

RowTruth ExactTruth(const AdditionTruth& truth, Positions positions) {
  return TruthOf(truth.exact(), positions);
}

Tensor InputOf(const Subject& subject, const AdditionTruth& truth, Positions positions,
               const RowTruth& exact, const CheckPlan& plan) {
  return PlanEmbeddings(truth.exact().width(), positions, subject.io(), exact, plan.seed);
}

template <class Truth, class Exact>
CallFindings CheckBlock(const Subject& subject, const Truth& truth, Positions positions,
                        const Exact& exact, const CheckPlan& plan) {
  const std::optional<Exact> own = OwnTruth(subject, truth, positions);
  const Tensor x = subject.info().quantity == "table"
                       ? Tensor()
                       : InputOf(subject, truth, positions, exact, plan);
  return JudgeAnswer(subject, truth, HeldCall<Exact>{positions, x, exact, own ? *own : exact},
                     subject.Answer(positions, x), plan.budget);
}

// One kernel's state while blocks go by.
struct Running {
  CallFindings all;
  RowShifts shifts;
  uint64_t positions = 0;
  uint64_t planned = 0;  // of equations, whose quantities take fewer than the plan has
  struct Ended {
    Outcome outcome;
    std::string why;
    std::optional<Failure> failure;
  };
  std::optional<Ended> ended;  // by the kernel's own answer

  template <class Step>
  void Try(Step step) {
    if (ended) return;
    try {
      step();
    } catch (const Unsupported& unsupported) {
      ended = {Outcome::unsupported, unsupported.what(), std::nullopt};
    } catch (const KernelFailure& failure) {
      ended = {Outcome::fail, failure.what(), failure.failure()};
    }
  }
};

template <class Truth, class Exact>
void RunBlock(const Subject& subject, const Truth& truth, const std::vector<double>& planned,
              const std::vector<double>& block, const Exact& exact, const CheckPlan& plan,
              Running& running) {
  running.Try([&] {
    const std::vector<double> served = ServedPositions(subject.info(), planned);
    if (served.empty()) return;
    const auto check_served = [&] {
      const std::vector<double> placed = Placed(truth, served, plan.seed);
      return CheckBlock(subject, truth, placed, ExactTruth(truth, placed), plan);
    };
    CallFindings findings = served.size() == planned.size()
                                ? CheckBlock(subject, truth, block, exact, plan)
                                : check_served();
    Append(running.all.contract, std::move(findings.contract));
    Append(running.all.budget, std::move(findings.budget));
    running.positions += served.size();
  });
}

// Where the kernel's own answer ended the check, that is the outcome.
void Overrule(Verdict& verdict, const Running& running) {
  if (!running.ended) return;
  verdict.outcome = running.ended->outcome;
  verdict.note = running.ended->why;
  verdict.failure = running.ended->failure;
}

KernelCheck Conclude(const Subject& subject, const Running& running, const CheckPlan& plan) {
  const std::string& name = subject.info().name;
  KernelCheck check{.heads = plan.heads};
  check.keeps_contract = ToVerdict("contract", kContractClaim, name, running.all.contract);
  Overrule(check.keeps_contract, running);
  if (!running.ended) {
    check.blind = running.all.contract.blind;
    check.telling = running.all.contract.use.count() - running.all.contract.idle;
    check.contract_horizon = running.all.contract.holds_to;
  }
  if (subject.info().quantity == "frequencies") return check;
  check.adequate =
      ToVerdict("adequate", BudgetClaim(subject.scheme(), plan.budget), name, running.all.budget);
  Overrule(*check.adequate, running);
  check.planned = plan.positions.size();
  if (running.ended) return check;
  check.adequate_horizon = running.all.budget.holds_to;
  check.served = running.positions;
  check.keeps_contract.note = running.shifts.Text();
  if (HasEquations(subject.scheme())) check.planned = running.planned;
  if (const auto count = PositionCount(subject.scheme()); count && check.planned == 0) {
    check.keeps_contract.note =
        fmt::format("positions of {} are 0..{}", Name(subject.scheme()), *count - 1);
  }
  if (check.served < check.planned) {
    check.keeps_contract.note =
        fmt::format("{} of {} positions are in the kernel's range", check.served, check.planned);
  }
  return check;
}

// A verdict of more calls of the same kernel; true if it is the more telling one.
bool Join(Verdict& verdict, const Verdict& more) {
  Statistics use = verdict.use;
  use.Merge(more.use);
  const bool worse = verdict.outcome == Outcome::pass && more.outcome != Outcome::pass;
  if (worse) verdict = more;
  verdict.TakeGraver(more);
  verdict.use = use;
  return worse;
}

// The check with the heads of a model joins the one with a few.
void Join(KernelCheck& check, const KernelCheck& more) {
  check.blind += more.blind;
  check.telling += more.telling;
  bool worse = Join(check.keeps_contract, more.keeps_contract);
  if (worse) check.contract_horizon = more.contract_horizon;
  if (check.adequate && Join(*check.adequate, *more.adequate)) {
    check.adequate_horizon = more.adequate_horizon;
    worse = true;
  }
  if (worse) check.heads = more.heads;
}

// At most `most` of the plan's positions, evenly spread, the last among them; so many heads.
CheckPlan WithHeads(const CheckPlan& plan, int64_t heads, size_t most) {
  CheckPlan wide = plan;
  wide.heads = heads;
  wide.positions.clear();
  const size_t count = plan.positions.size(), step = (count + most - 1) / most;
  for (size_t from_end = 0; from_end < count; from_end += step) {
    wide.positions.push_back(plan.positions[count - 1 - from_end]);
  }
  std::ranges::reverse(wide.positions);
  return wide;
}

}  // namespace

Tensor InputFor(const Subject& subject, const CheckPlan& plan) {
  return std::visit(
      [&]<class Truth>(const Truth& truth) -> Tensor {
        if constexpr (std::same_as<Truth, EquationTruth>) {
          throw ParameterError("inputs of a scheme that is given by equations are more than x");
        } else {
          const std::vector<double> placed = Placed(truth, plan.positions, plan.seed);
          return InputOf(subject, truth, placed, ExactTruth(truth, placed), plan);
        }
      },
      subject.truth());
}

std::string BudgetClaim(const Scheme& scheme, double budget) {
  return fmt::format("every {} is within {:g} spacings of its dtype of exact arithmetic",
                     IsRotary(scheme) ? "pair" : "value", budget);
}

std::vector<double> ServedPositions(const KernelInfo& info, const std::vector<double>& positions) {
  std::vector<double> served;
  const double largest = info.kernel->largest_position;
  for (double position : positions) {
    if (largest == 0 || std::fabs(position) <= largest) served.push_back(position);
  }
  return served;
}

namespace {

// Every quantity but frequencies, in blocks of positions.
template <class Truth>
void RunBlocks(const std::vector<Subject>& subjects, const Truth& first, const CheckPlan& plan,
               std::vector<Running>& running) {
  for (size_t begin = 0; begin < plan.positions.size(); begin += kBlock) {
    const auto from = plan.positions.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count = static_cast<std::ptrdiff_t>(std::min(kBlock, plan.positions.size() - begin));
    const std::vector<double> planned(from, from + count);
    const std::vector<double> block = Placed(first, planned, plan.seed);
    const auto exact = ExactTruth(first, block);
    for (size_t i = 0; i < subjects.size(); ++i) {
      if (subjects[i].info().quantity == "frequencies") continue;
      RunBlock(subjects[i], std::get<Truth>(subjects[i].truth()), planned, block, exact, plan,
               running[i]);
    }
  }
}

// Where equations give the truth, one position after the other, or rows of many. What several
// kernels are held to alike is enclosed once.
class Enclosures {
 public:
  const EnclosedEach& Of(const ExactEquations& exact, EquationQuantity quantity,
                         const NamedInputs& inputs) {
    for (const Known& known : known_) {
      if (known.quantity == quantity && known.inputs == inputs) return known.truth;
    }
    known_.push_back({quantity, inputs, exact.Enclose(quantity, inputs)});
    return known_.back().truth;
  }

 private:
  struct Known {
    EquationQuantity quantity;
    NamedInputs inputs;
    EnclosedEach truth;
  };
  std::deque<Known> known_;
};

// What a kernel is asked at some positions: one, unless it is of rows.
NamedInputs PlannedInputs(const Subject& subject, Positions positions, uint64_t seed) {
  const EquationTruth& own = subject.equations();
  const Dtype held = IsFloat(subject.io()) ? subject.io() : Dtype::f32;
  return IsOfRows(own.quantity())
             ? PlanRows(subject.scheme(), own.exact(), own.quantity(), held, positions, seed)
             : PlanAttention(subject.scheme(), own.exact(), own.quantity(), held, positions[0],
                             seed);
}

void CheckPositions(const Subject& subject, Positions positions, const CheckPlan& plan,
                    Enclosures& enclosures, Running& running) {
  const EquationTruth& own = subject.equations();
  const EquationQuantity quantity = own.quantity();
  const NamedInputs inputs = PlannedInputs(subject, positions, plan.seed);
  const Tensor out = subject.Evaluate(inputs);
  const EquationResult judged{quantity, inputs, out, positions[0],
                              subject.info().Declares("rowshift")};
  running.positions += positions.size();
  if (quantity == EquationQuantity::buckets) {
    const Finding finding = HoldToIntegers(judged, own.exact().Buckets(inputs));
    Append(running.all.contract, finding);
    Append(running.all.budget, finding);
    return;
  }
  const NamedInputs given = own.Given(inputs);
  const EnclosedEach& truth = enclosures.Of(own.exact(), quantity, inputs);
  const EnclosedEach& local = enclosures.Of(own.exact(), quantity, given);
  const std::vector<EquationLimit> limits = own.bound().Limits(quantity, given, out.shape());
  CallFindings findings = JudgeAnswer(subject, {truth, local, limits}, judged, plan.budget);
  Append(running.all.contract, std::move(findings.contract));
  Append(running.all.budget, std::move(findings.budget));
  running.shifts.Merge(FindRowShifts(judged, local, limits, own.bound().contract()));
}

// Products, or what costs as much, that one position takes.
double WorkOf(const Subject& subject) {
  const EquationQuantity quantity = subject.equations().quantity();
  if (IsOfRows(quantity)) return 8 * static_cast<double>(WidthOf(subject.scheme()));
  if (quantity == EquationQuantity::slopes) return HUGE_VAL;
  if (quantity == EquationQuantity::buckets) return 1;
  // Two queries, about twenty-four keys, and for attention two products a pair.
  const Attention& attention = AttentionOf(subject.scheme());
  double weights = 0;
  for (const Weight& weight : WeightsOf(subject.scheme())) {
    weights += static_cast<double>(weight.Elements());
  }
  if (quantity == EquationQuantity::bias) {
    return 48 * (static_cast<double>(attention.heads) + weights);
  }
  // Those of a matrix meet every key, by products that are cheaper.
  return 96 * static_cast<double>(attention.heads * attention.head_dim) + 6 * weights;
}

// Positions that a quantity is checked at: all that the scheme has, or as many as keep the work
// within a few seconds, the first, the last and some with long calls among them; one for what has
// no position.
std::vector<double> PositionsFor(const Subject& subject, const std::vector<double>& planned) {
  constexpr double kProducts = 1 << 22;
  const double fewest = std::isinf(WorkOf(subject)) ? 1 : 3;
  const auto count = static_cast<double>(
      PositionCount(subject.scheme()).value_or(std::numeric_limits<int64_t>::max()));
  std::vector<double> positions;
  std::ranges::copy_if(planned, std::back_inserter(positions),
                       [&](double position) { return position < count; });
  const auto most = static_cast<size_t>(std::max(fewest, kProducts / WorkOf(subject)));
  if (positions.size() <= most) return positions;
  std::vector<double> chosen;
  for (size_t i = 0; i < most; ++i) {
    chosen.push_back(
        positions[most == 1 ? positions.size() - 1 : i * (positions.size() - 1) / (most - 1)]);
  }
  if (most == 1 || IsOfRows(subject.equations().quantity())) return chosen;
  const double largest = subject.info().kernel->largest_position;
  for (const auto& is_wide : {AsksManyKeys, AsksManyQueries}) {
    const auto last = std::find_if(positions.rbegin(), positions.rend(), [&](double position) {
      return is_wide(position) && (largest == 0 || position <= largest);
    });
    if (last != positions.rend()) chosen.push_back(*last);
  }
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

void RunBlocks(const std::vector<Subject>& subjects, const EquationTruth&, const CheckPlan& plan,
               std::vector<Running>& running) {
  const bool of_rows = !ActsInAttention(subjects.front().scheme());
  std::vector<std::set<double>> wanted;
  for (size_t i = 0; i < subjects.size(); ++i) {
    const std::vector<double> all = PositionsFor(subjects[i], plan.positions);
    running[i].planned = all.size();
    const std::vector<double> served = ServedPositions(subjects[i].info(), all);
    wanted.emplace_back(served.begin(), served.end());
  }
  const size_t block = of_rows ? kBlock : 1;
  for (size_t begin = 0; begin < plan.positions.size(); begin += block) {
    const size_t end = std::min(begin + block, plan.positions.size());
    Enclosures enclosures;
    for (size_t i = 0; i < subjects.size(); ++i) {
      std::vector<double> positions;
      for (size_t at = begin; at < end; ++at) {
        if (wanted[i].contains(plan.positions[at])) positions.push_back(plan.positions[at]);
      }
      if (positions.empty()) continue;
      running[i].Try([&] { CheckPositions(subjects[i], positions, plan, enclosures, running[i]); });
    }
  }
}

}  // namespace

std::vector<KernelCheck> CheckKernels(const std::vector<Subject>& subjects, const CheckPlan& plan) {
  if (subjects.empty()) return {};
  std::vector<Running> running(subjects.size());
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].info().quantity != "frequencies") continue;
    running[i].Try([&] {
      running[i].all.contract = JudgeFrequencies(subjects[i], subjects[i].Frequencies());
    });
  }
  const auto run = [&](const CheckPlan& run_plan, std::vector<Running>& into) {
    std::visit([&](const auto& truth) { RunBlocks(subjects, truth, run_plan, into); },
               subjects.front().truth());
  };
  run(plan, running);
  std::vector<KernelCheck> checks;
  for (size_t i = 0; i < subjects.size(); ++i) {
    checks.push_back(Conclude(subjects[i], running[i], plan));
  }
  if (!IsRotary(subjects.front().scheme())) return checks;
  for (int64_t heads : plan.more_heads) {
    const CheckPlan wide = WithHeads(plan, heads, kMoreHeadsPositions);
    std::vector<Running> wide_running(subjects.size());
    run(wide, wide_running);
    for (size_t i = 0; i < subjects.size(); ++i) {
      // Tables and frequencies have no heads.
      if (subjects[i].info().Input("x") == nullptr) continue;
      Join(checks[i], Conclude(subjects[i], wide_running[i], wide));
    }
  }
  return checks;
}

}  // namespace posgauge
