#include "posgauge/verify/faults/mutation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/evidence.h"
#include "posgauge/verify/faults/replay.h"

namespace posgauge {

namespace {

using Values = std::vector<double>;

// What a kernel with the fault stores.
Values Stored(Dtype dtype, Values values) {
  if (!IsFloat(dtype)) return values;
  const Format format = FormatOf(dtype);
  for (double& value : values) value = RoundTo(format, value);
  return values;
}

void Lower(std::optional<double>& smallest, double position) {
  position = std::fabs(position);
  if (!smallest || position < *smallest) smallest = position;
}

// The questions to a kernel that computes everything itself.
std::vector<Evidence> Unaided(std::vector<Evidence> all) {
  for (Evidence& evidence : all) {
    for (const char* handed : {"frequency", "magnitude", "cos", "sin", "axis", "rows", "slopes"}) {
      evidence.question.inputs.tensors.erase(handed);
    }
  }
  return all;
}

// Of the same questions, answered by an honest kernel and by one with the fault, the values at one
// position after the other.
struct Pair {
  const Evidence* evidence;
  Values honest, faulty;  // not rounded
};

// Nothing where the fault has nothing to act on in any of them.
std::vector<Pair> Replayed(const std::vector<Evidence>& all, const Fault& fault) {
  std::vector<Pair> pairs;
  const Fault* one = &fault;
  for (const Evidence& evidence : all) {
    std::optional<Values> faulty = Replay(evidence.question, std::span(&one, 1));
    if (!faulty || faulty->size() != evidence.answer.size()) continue;
    std::optional<Values> honest = Replay(evidence.question, {});
    if (honest) pairs.push_back({&evidence, *std::move(honest), *std::move(faulty)});
  }
  return pairs;
}

// The limit at what the faulty kernel stores: the evidence holds half the spacing at the honest
// kernel's answer.
double LimitAt(const Evidence& evidence, Dtype dtype, size_t i, double stored) {
  if (!IsFloat(dtype) || !std::isfinite(stored) || !std::isfinite(evidence.answer[i])) {
    return evidence.limits[i];
  }
  const Format format = FormatOf(dtype);
  return evidence.limits[i] +
         std::max(0.0, (Ulp(format, stored) - Ulp(format, evidence.answer[i])) / 2);
}

bool IsOfTable(const Fault& fault) {
  const std::string_view stage = StageOf(fault);
  return stage == "frequency" || stage == "position" || stage == "angle" || stage == "table";
}

// The smallest position such that a test by the rule up to there tells.
std::optional<double> FirstToFail(const Custom& rule, Dtype dtype, const std::vector<Pair>& pairs) {
  std::optional<double> first;
  for (const Pair& pair : pairs) {
    const std::vector<double>& positions = pair.evidence->positions;
    const Values got = Stored(dtype, pair.faulty);
    std::map<double, std::pair<Values, std::vector<DoubleDouble>>> by_position;
    for (size_t i = 0; i < got.size(); ++i) {
      auto& [values, exact] = by_position[std::fabs(positions[i])];
      values.push_back(got[i]);
      exact.push_back({pair.honest[i], 0});
    }
    CustomsCollector customs(dtype);
    for (const auto& [position, values] : by_position) {
      customs.Add(position, values.first, values.second);
    }
    const auto finding = std::ranges::find(customs.findings(), rule.name,
                                           [](const auto& each) { return each.custom.name; });
    if (finding->fails_from) Lower(first, *finding->fails_from);
  }
  return first;
}

}  // namespace

std::vector<Mutant> RunMutants(const Subject& honest, const CheckPlan& plan,
                               const UsualTest& test) {
  const Dtype dtype = honest.io();
  const std::vector<Evidence> planned = Unaided(Observe(honest, plan, plan.positions));
  const std::vector<Evidence> tested = Unaided(Observe(honest, plan, test.positions));
  std::vector<Mutant> mutants;
  for (const Fault& fault : FaultBank()) {
    const std::vector<Pair> pairs = Replayed(planned, fault);
    Mutant mutant{.fault = &fault};
    bool differs = false;
    for (const Pair& pair : pairs) {
      const Values stored = Stored(dtype, pair.faulty);
      for (size_t i = 0; i < stored.size(); ++i) {
        const double position = pair.evidence->positions[i];
        if (stored[i] == pair.honest[i] || (std::isnan(stored[i]) && std::isnan(pair.honest[i]))) {
          continue;
        }
        differs = differs || pair.faulty[i] != pair.honest[i];
        const double limit = LimitAt(*pair.evidence, dtype, i, stored[i]);
        const auto beyond = [&](double value, double times) {
          return !(std::fabs(value - pair.honest[i]) <= times * limit);
        };
        if (beyond(pair.faulty[i], 2)) Lower(mutant.counts_from, position);
        if (beyond(stored[i], 1)) Lower(mutant.killed_from, position);
      }
    }
    if (!differs) continue;
    const std::vector<Pair> seen = Replayed(tested, fault);
    const bool hidden = test.table_is_shared && IsOfTable(fault);
    mutant.killed_by_test = !hidden && FirstToFail(test.rule, dtype, seen).has_value();
    if (!mutant.killed_by_test) {
      const std::optional<double> with_all = FirstToFail(test.rule, dtype, pairs);
      if (hidden && FirstToFail(test.rule, dtype, seen)) {
        mutant.remedy = "form the table in the test, apart from the kernel's";
      } else if (with_all && *with_all <= std::ranges::max(test.positions)) {
        mutant.remedy = "ask for what shows it: " + fault.shows;  // a call of other tokens
      } else if (with_all) {
        mutant.remedy = fmt::format("{}test position {}",
                                    hidden ? "form the table in the test, and " : "", *with_all);
      } else if (mutant.killed_from) {
        mutant.remedy =
            fmt::format("hold to the contract's bound, at position {}", *mutant.killed_from);
      } else {
        mutant.remedy = "none: the contract allows its effect";
      }
    }
    mutants.push_back(std::move(mutant));
  }
  return mutants;
}

}  // namespace posgauge
