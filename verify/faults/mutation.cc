#include "posgauge/verify/faults/mutation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/evidence.h"
#include "posgauge/verify/faults/replay.h"
#include "posgauge/verify/judged_case.h"

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

// The questions to a kernel that forms its frequencies itself.
std::vector<Evidence> Unaided(std::vector<Evidence> all) {
  for (Evidence& evidence : all) {
    for (const char* handed : {"frequency", "magnitude"}) {
      evidence.question.inputs.tensors.erase(handed);
    }
  }
  return all;
}

// The questions with one right table for both sides, where vectors are rotated by one.
std::vector<Evidence> WithSharedTable(std::vector<Evidence> all) {
  for (Evidence& evidence : all) {
    Question& question = evidence.question;
    NamedInputs& inputs = question.inputs;
    if (!IsRotary(question.scheme) || !question.quantity.starts_with("rotate")) continue;
    if (inputs.Find("cos") != nullptr) continue;
    const Values table = *Replay({question.scheme, "table", inputs, {}}, {});
    const auto half = table.begin() + std::ssize(table) / 2;
    const int64_t pairs = RotaryOf(question.scheme).Pairs();
    const std::vector<int64_t> shape = {inputs["positions"].shape[0], pairs};
    inputs.tensors["cos"] = {shape, {table.begin(), half}};
    inputs.tensors["sin"] = {shape, {half, table.end()}};
  }
  return all;
}

// The check of the gate, of what a kernel in place of the honest one answers.
class GateCheck {
 public:
  GateCheck(const Subject& honest, const std::vector<Evidence>& planned) {
    for (const Evidence& evidence : planned) {
      const NamedInputs& inputs = evidence.question.inputs;
      CaseFile asked{honest.scheme(), evidence.question.quantity, {}, {}, {}};
      if (HasEquations(honest.scheme())) {
        asked.inputs = inputs;
      } else {
        if (const ExactTensor* positions = inputs.Find("positions")) {
          asked.positions = positions->values;
        }
        if (const ExactTensor* x = inputs.Find("x")) {
          asked.x = Tensor::FromValues(honest.io(), x->shape, x->values);
        }
      }
      cases_.emplace_back(honest, std::move(asked));
      outputs_.push_back(cases_.back().Exact());
    }
  }

  // The first position that fails with these values of the n-th question, in the order of Replay.
  std::optional<double> FirstFailure(size_t n, const Values& values) const {
    std::vector<Named> answer = outputs_[n];
    for (size_t at = 0; Named & named : answer) {
      if (named.name == "frequency_low") {
        named.tensor = Tensor(named.tensor.dtype(), named.tensor.shape());
        continue;
      }
      const std::span own = std::span(values).subspan(at, named.tensor.size());
      named.tensor = Tensor::FromValues(named.tensor.dtype(), named.tensor.shape(), own);
      at += own.size();
    }
    constexpr double kBudget = 2;  // of the other finding
    const Finding finding = cases_[n].Judge(answer, kBudget).contract;
    if (!finding.first_failure) return std::nullopt;
    return finding.first_failure->position;
  }

 private:
  std::vector<JudgedCase> cases_;
  std::vector<std::vector<Named>> outputs_;
};

// Of the same questions, answered by an honest kernel and by one with the fault, the values at one
// position after the other.
struct Pair {
  size_t number;  // of the question
  const Evidence* evidence;
  Values honest, faulty;  // not rounded
};

// Nothing where the fault has nothing to act on in any of them.
std::vector<Pair> Replayed(const std::vector<Evidence>& all, const Fault& fault) {
  std::vector<Pair> pairs;
  const Fault* one = &fault;
  for (size_t number = 0; number < all.size(); ++number) {
    const Evidence& evidence = all[number];
    std::optional<Values> faulty = Replay(evidence.question, std::span(&one, 1));
    if (!faulty || faulty->size() != evidence.answer.size()) continue;
    std::optional<Values> honest = Replay(evidence.question, {});
    if (honest) pairs.push_back({number, &evidence, *std::move(honest), *std::move(faulty)});
  }
  return pairs;
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
  const std::vector<Evidence> asked = Unaided(Observe(honest, plan, test.positions));
  const std::vector<Evidence> tested = test.table_is_shared ? WithSharedTable(asked) : asked;
  const std::vector<Evidence> shared = WithSharedTable(planned);
  const GateCheck gate(honest, planned);
  std::vector<Mutant> mutants;
  for (const Fault& fault : FaultBank()) {
    const std::vector<Pair> pairs = Replayed(planned, fault);
    Mutant mutant{.fault = &fault};
    bool differs = false;
    for (const Pair& pair : pairs) {
      for (size_t i = 0; i < pair.faulty.size(); ++i) {
        if (pair.faulty[i] == pair.honest[i]) continue;
        differs = true;
        const double effect = std::fabs(pair.faulty[i] - pair.honest[i]);
        if (!(effect <= 2 * pair.evidence->limits[i])) {
          Lower(mutant.counts_from, pair.evidence->positions[i]);
        }
      }
      if (const auto first = gate.FirstFailure(pair.number, pair.faulty)) {
        Lower(mutant.killed_from, *first);
      }
    }
    if (!differs) continue;
    mutant.killed_by_test = FirstToFail(test.rule, dtype, Replayed(tested, fault)).has_value();
    if (!mutant.killed_by_test) {
      const std::optional<double> with_all = FirstToFail(test.rule, dtype, pairs);
      const bool hidden =
          test.table_is_shared && FirstToFail(test.rule, dtype, Replayed(asked, fault)).has_value();
      if (hidden) {
        mutant.remedy = "form the table in the test, apart from the kernel's";
      } else if (with_all && *with_all <= std::ranges::max(test.positions)) {
        mutant.remedy = "ask for what shows it: " + fault.shows;  // a call of other tokens
      } else if (with_all) {
        const bool needs_table =
            test.table_is_shared && !FirstToFail(test.rule, dtype, Replayed(shared, fault));
        mutant.remedy = fmt::format(
            "{}test position {}", needs_table ? "form the table in the test, and " : "", *with_all);
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
