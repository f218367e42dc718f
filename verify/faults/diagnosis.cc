#include "posgauge/verify/faults/diagnosis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/replay.h"

namespace posgauge {

namespace {

// Beyond the contract's bound: a fault counts where its effect is more than twice that, and an ulp
// or two of library functions is about as much.
constexpr double kNoise = 2;

// Of the values that tell a hypothesis from an honest kernel, how many must fit: what overflows or
// meets a clamp in the kernel's own way is left aside.
constexpr double kFits = 0.97;

// A hypothesis that explains has to explain much better than honesty does.
constexpr double kBetter = 0.5;

// Positions asked of a kernel, and of them of one whose calls are of one position each.
constexpr size_t kPositions = 40, kCalls = 6;

// How many single faults are tried in pairs with all others, and how many of the best hypotheses
// are looked at with care.
constexpr size_t kPaired = 4, kCareful = 24;

// Replays with library functions that are off, which show what that changes: under a fault vectors
// may be longer, angles larger and roundings others than the limits of an honest kernel suppose.
constexpr double kNoiseUlps = 2;
constexpr uint64_t kNoisyRuns = 3;

double Use(double answer, double replayed, double limit) {
  if (answer == replayed || (std::isnan(answer) && std::isnan(replayed))) return 0;
  const double error = std::fabs(answer - replayed);
  return std::isfinite(error) && limit > 0 ? error / limit : HUGE_VAL;
}

// What is far off is far off.
constexpr double kWorst = 0x1p20;

double Cost(double use) { return std::log2(1 + std::pow(std::min(use, kWorst), 2)); }

// Of what no honest kernel answers alone.
double ExcessCost(double use) { return std::log2(std::clamp(use, 1.0, kWorst)); }

using Values = std::vector<double>;

// Replays of one hypothesis over all the evidence, one after another.
std::optional<Values> ReplayAll(const std::vector<Evidence>& evidence,
                                std::span<const Fault* const> faults,
                                const LibraryNoise& noise = {}) {
  Values all;
  bool acted = false;
  for (const Evidence& each : evidence) {
    std::optional<Values> values = Replay(each.question, faults, noise);
    // Where it has nothing to act on an honest kernel answers.
    if (values && values->size() == each.answer.size()) {
      acted = true;
    } else {
      values = Replay(each.question, {}, noise);
    }
    if (!values || values->size() != each.answer.size()) return std::nullopt;
    all.insert(all.end(), values->begin(), values->end());
  }
  if (!acted && !faults.empty()) return std::nullopt;
  return all;
}

struct Hypothesis {
  Explanation explanation;
  double excess = 0;  // sum of log2(error/bound) beyond the bound
  Values values;
};

class Ranking {
 public:
  explicit Ranking(const std::vector<Evidence>& evidence) : evidence_(evidence) {
    for (const Evidence& each : evidence) {
      answer_.insert(answer_.end(), each.answer.begin(), each.answer.end());
      limits_.insert(limits_.end(), each.limits.begin(), each.limits.end());
      positions_.insert(positions_.end(), each.positions.begin(), each.positions.end());
    }
    if (const std::optional<Values> honest = ReplayAll(evidence, {})) honest_ = *honest;
  }

  bool IsHonest() const {
    for (size_t i = 0; i < answer_.size(); ++i) {
      if (Use(answer_[i], honest_[i], limits_[i]) > 1) return false;
    }
    return true;
  }
  bool IsKnown() const { return honest_.size() == answer_.size() && !answer_.empty(); }
  double HonestMisfit() const { return Misfit(honest_, limits_); }
  double HonestExcess() const { return Excess(honest_, limits_); }

  // Nothing where it makes no difference on this evidence.
  std::optional<Hypothesis> Try(std::vector<const Fault*> faults) const {
    std::optional<Values> values = ReplayAll(evidence_, faults);
    if (!values || values->size() != answer_.size()) return std::nullopt;
    Hypothesis hypothesis{{std::move(faults)}, 0, *std::move(values)};
    if (!Fit(hypothesis, limits_)) return std::nullopt;
    return hypothesis;
  }

  // Again, with limits as wide as its own noise.
  void LookWithCare(Hypothesis& hypothesis) const {
    Values limits = limits_;
    for (uint64_t run = 1; run <= kNoisyRuns; ++run) {
      const std::optional<Values> noisy =
          ReplayAll(evidence_, hypothesis.explanation.faults, {kNoiseUlps, run});
      for (size_t i = 0; noisy && i < limits.size(); ++i) {
        const double moved = std::fabs((*noisy)[i] - hypothesis.values[i]);
        if (std::isfinite(moved)) limits[i] = std::max(limits[i], moved);
      }
    }
    Fit(hypothesis, limits);
  }

  // Whether no value tells two hypotheses apart.
  bool AreTwins(const Hypothesis& a, const Hypothesis& b) const {
    for (size_t i = 0; i < answer_.size(); ++i) {
      if (Use(a.values[i], b.values[i], limits_[i]) > 1) return false;
    }
    return true;
  }

  double ShowsFrom(const Hypothesis& hypothesis) const {
    double from = HUGE_VAL;
    for (size_t i = 0; i < answer_.size(); ++i) {
      if (Use(hypothesis.values[i], honest_[i], limits_[i]) > kNoise) {
        from = std::min(from, std::fabs(positions_[i]));
      }
    }
    return std::isfinite(from) ? from : -1;
  }

 private:
  // False where the hypothesis changes nothing, or no value tells anything.
  bool Fit(Hypothesis& hypothesis, const Values& limits) const {
    uint64_t telling = 0, fitting = 0;
    bool differs = false;
    for (size_t i = 0; i < answer_.size(); ++i) {
      const double own = Use(answer_[i], hypothesis.values[i], limits[i]);
      const bool tells_own = Use(hypothesis.values[i], honest_[i], limits_[i]) > 1;
      const bool tells = tells_own || Use(answer_[i], honest_[i], limits_[i]) > 1;
      differs = differs || hypothesis.values[i] != honest_[i];
      if (!tells) continue;
      ++telling;
      if (own <= kNoise) ++fitting;
    }
    if (!differs || telling == 0) return false;
    hypothesis.explanation.share = static_cast<double>(fitting) / static_cast<double>(telling);
    hypothesis.explanation.misfit = Misfit(hypothesis.values, limits);
    hypothesis.excess = Excess(hypothesis.values, limits);
    return true;
  }

  double Misfit(const Values& values, const Values& limits) const {
    double sum = 0;
    for (size_t i = 0; i < answer_.size(); ++i) sum += Cost(Use(answer_[i], values[i], limits[i]));
    return sum / static_cast<double>(answer_.size());
  }

  double Excess(const Values& values, const Values& limits) const {
    double sum = 0;
    for (size_t i = 0; i < answer_.size(); ++i) {
      sum += ExcessCost(Use(answer_[i], values[i], limits[i]));
    }
    return sum;
  }

  const std::vector<Evidence>& evidence_;
  Values answer_, limits_, positions_, honest_;
};

bool IsBetter(const Hypothesis& a, const Hypothesis& b) {
  return a.explanation.misfit < b.explanation.misfit;
}

}  // namespace

std::string IdsOf(const std::vector<const Fault*>& faults) {
  std::string ids;
  for (const Fault* fault : faults) ids += (ids.empty() ? "" : " + ") + fault->id;
  return ids;
}

Diagnosis Diagnose(const std::vector<Evidence>& evidence) {
  Diagnosis diagnosis;
  const Ranking ranking(evidence);
  if (!ranking.IsKnown()) return diagnosis;
  diagnosis.honest_misfit = ranking.HonestMisfit();
  if (ranking.IsHonest()) return diagnosis;
  std::vector<Hypothesis> hypotheses;
  const auto explains = [&](const Hypothesis& hypothesis) {
    return hypothesis.explanation.share >= kFits &&
           hypothesis.excess <= kBetter * ranking.HonestExcess();
  };
  for (const Fault& fault : FaultBank()) {
    if (auto tried = ranking.Try({&fault})) hypotheses.push_back(*std::move(tried));
  }
  const auto rank = [&] {
    std::ranges::stable_sort(hypotheses, IsBetter);
    const size_t careful = std::min(kCareful, hypotheses.size());
    for (size_t i = 0; i < careful; ++i) ranking.LookWithCare(hypotheses[i]);
    std::stable_sort(hypotheses.begin(), hypotheses.begin() + static_cast<std::ptrdiff_t>(careful),
                     IsBetter);
  };
  rank();
  if (std::ranges::none_of(hypotheses, explains)) {
    const size_t paired = std::min(kPaired, hypotheses.size());
    std::vector<const Fault*> leading, all;
    for (size_t i = 0; i < hypotheses.size(); ++i) {
      if (i < paired) leading.push_back(hypotheses[i].explanation.faults[0]);
      all.push_back(hypotheses[i].explanation.faults[0]);
    }
    for (const Fault* first : leading) {
      for (const Fault* second : all) {
        const auto tried_before = std::ranges::find(leading, second);
        if (tried_before <= std::ranges::find(leading, first)) continue;
        if (auto tried = ranking.Try({first, second})) hypotheses.push_back(*std::move(tried));
      }
    }
    rank();
  }
  if (hypotheses.empty()) return diagnosis;
  const auto best = std::ranges::find_if(hypotheses, explains);
  if (best == hypotheses.end()) {
    diagnosis.runner_up = hypotheses.front().explanation;
    return diagnosis;
  }
  diagnosis.cause = best->explanation;
  diagnosis.shows_from = ranking.ShowsFrom(*best);
  for (const Hypothesis& other : hypotheses) {
    if (&other == &*best) continue;
    if (ranking.AreTwins(*best, other)) {
      diagnosis.twins.push_back(other.explanation.faults);
    } else if (diagnosis.runner_up.faults.empty()) {
      diagnosis.runner_up = other.explanation;
    }
  }
  return diagnosis;
}

Diagnosis Diagnose(const Subject& subject, const CheckPlan& plan, double failing) {
  std::vector<double> served = ServedPositions(subject.info(), plan.positions);
  if (const auto count = PositionCount(subject.scheme())) {
    std::erase_if(served, [&](double p) { return p >= static_cast<double>(*count); });
  }
  if (served.empty()) return {};
  const bool one_each = HasEquations(subject.scheme()) && !IsOfRows(subject.equations().quantity());
  const size_t most = one_each ? kCalls : kPositions;
  // The first few, the failing one and those beside it, and the rest spread over the plan.
  std::vector<double> chosen;
  const auto at = std::ranges::lower_bound(served, failing) - served.begin();
  for (std::ptrdiff_t i = -1; i <= (one_each ? 1 : 4); ++i) {
    const std::ptrdiff_t near = at + i;
    if (near >= 0 && near < std::ssize(served)) {
      chosen.push_back(served[static_cast<size_t>(near)]);
    }
  }
  const size_t rest = most - std::min(most, chosen.size());
  for (size_t i = 0; i < rest; ++i) {
    chosen.push_back(served[rest == 1 ? 0 : i * (served.size() - 1) / (rest - 1)]);
  }
  for (size_t i = 0; i < std::min<size_t>(one_each ? 1 : 4, served.size()); ++i) {
    chosen.push_back(served[i]);
  }
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  try {
    return Diagnose(Observe(subject, plan, chosen));
  } catch (const Unsupported&) {
    return {};
  } catch (const KernelFailure&) {
    return {};
  }
}

}  // namespace posgauge
