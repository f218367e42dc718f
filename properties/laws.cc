#include "posgauge/properties/laws.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "posgauge/properties/addition_laws.h"
#include "posgauge/properties/all.h"
#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/axis_laws.h"
#include "posgauge/properties/independence_laws.h"
#include "posgauge/properties/rotation_laws.h"
#include "posgauge/properties/row_laws.h"
#include "posgauge/properties/table_laws.h"

namespace posgauge {

namespace {

void Append(std::vector<Law>& laws, std::vector<Law> more) {
  laws.insert(laws.end(), more.begin(), more.end());
}

bool IsMoreUrgent(const std::optional<Witness>& a, const std::optional<Witness>& b) {
  return a && (!b || std::fabs(a->position) < std::fabs(b->position));
}

// How much an outcome says: a failure decides; a pass outweighs cases that showed nothing.
int Weight(Outcome outcome) {
  switch (outcome) {
    case Outcome::fail:
      return 3;
    case Outcome::pass:
      return 2;
    case Outcome::blind:
      return 1;
    case Outcome::unsupported:
    case Outcome::not_run:
      break;
  }
  return 0;
}

void Merge(Verdict& all, Verdict verdict) {
  all.use.Merge(verdict.use);
  all.TakeGraver(verdict);
  if (IsMoreUrgent(verdict.first_failure, all.first_failure)) {
    all.first_failure = std::move(verdict.first_failure);
  }
  if (verdict.worst && (!all.worst || verdict.worst->use > all.worst->use)) {
    all.worst = std::move(verdict.worst);
  }
  if (Weight(verdict.outcome) > Weight(all.outcome)) {
    all.outcome = verdict.outcome;
    all.note = std::move(verdict.note);
  }
}

}  // namespace

bool AppliesTo(const Law& law, std::string_view quantity) {
  std::istringstream words{std::string(law.quantities)};
  for (std::string word; words >> word;) {
    if (word == quantity) return true;
  }
  return false;
}

namespace {

// Those of the scheme's kind.
std::vector<Law> KindLaws(const Scheme& scheme) {
  if (ActsInAttention(scheme)) return AttentionLaws(scheme);
  if (HasEquations(scheme)) return RowLaws(scheme);
  if (!IsRotary(scheme)) return AdditionLaws();
  std::vector<Law> laws = RotationLaws();
  Append(laws, IndependenceLaws());
  Append(laws, TableLaws());
  if (AxesOf(scheme).count > 1) Append(laws, AxisLaws());
  // Where every channel rotates there is none to leave alone.
  const Rotary& layout = RotaryOf(scheme);
  if (layout.rotary_dim == layout.head_dim) {
    std::erase_if(laws, [](const Law& law) { return law.name == "untouched_channels"; });
  }
  return laws;
}

// Hides Laws(const Scheme&), into which the parameters of any scheme would convert.
namespace of_params {

void Laws() = delete;

template <class Params>
std::vector<Law> OwnLaws(const Params& params) {
  if constexpr (requires { Laws(params); }) {
    return Laws(params);
  } else {
    return {};
  }
}

}  // namespace of_params

}  // namespace

std::vector<Law> Laws(const Scheme& scheme) {
  std::vector<Law> laws = KindLaws(scheme);
  std::visit([&](const auto& params) { Append(laws, of_params::OwnLaws(params)); }, scheme);
  return laws;
}

std::optional<Law> FindLaw(const Scheme& scheme, std::string_view name) {
  for (const Law& law : Laws(scheme)) {
    if (law.name == name) return law;
  }
  return std::nullopt;
}

Verdict CheckLaw(const Law& law, const Subject& subject, const LawCase& law_case) {
  Verdict verdict;
  verdict.outcome = Outcome::unsupported;
  if (!AppliesTo(law, subject.info().quantity)) {
    verdict.note =
        fmt::format("a law of {}, the kernel yields {}", law.quantities, subject.info().quantity);
  } else {
    try {
      verdict = law.check(subject, law_case);
    } catch (const Unsupported& unsupported) {
      verdict.note = unsupported.what();
    } catch (const KernelFailure& failure) {
      verdict.outcome = Outcome::fail;
      verdict.note = failure.what();
      verdict.failure = failure.failure();
    }
  }
  // A law compares stored values, and one rounding to eight bits may be above the share of them at
  // which a comparison is blind. That the contract itself is not is another check's to say.
  if (verdict.outcome == Outcome::blind && SizeOf(subject.io()) == 1) {
    verdict.outcome = Outcome::unsupported;
    verdict.note = fmt::format("{} is too coarse for this law to tell", Name(subject.io()));
  }
  verdict.check = law.name;
  verdict.claim = law.statement;
  verdict.subject = subject.info().name;
  return verdict;
}

Verdict CheckLaw(const Law& law, const Subject& subject, const std::vector<LawCase>& cases) {
  Require(!cases.empty(), "law {}: at least one case is needed", law.name);
  Verdict all = CheckLaw(law, subject, cases.front());
  if (law.once) return all;
  for (size_t i = 1; i < cases.size(); ++i) Merge(all, CheckLaw(law, subject, cases[i]));
  return all;
}

std::vector<Verdict> CheckLaws(const Subject& subject, const std::vector<LawCase>& cases) {
  std::vector<Verdict> verdicts;
  for (const Law& law : Laws(subject.scheme())) {
    if (AppliesTo(law, subject.info().quantity)) verdicts.push_back(CheckLaw(law, subject, cases));
  }
  return verdicts;
}

const Subject* FindTranspose(const Subject& subject, const std::vector<Subject>& others) {
  const std::string_view quantity = subject.info().quantity;
  const std::string_view wanted = quantity == "rotate"            ? "rotate_backward"
                                  : quantity == "rotate_backward" ? "rotate"
                                                                  : "";
  for (const Subject& other : others) {
    if (other.info().quantity == wanted && other.io() == subject.io() &&
        other.scheme() == subject.scheme()) {
      return &other;
    }
  }
  return nullptr;
}

}  // namespace posgauge
