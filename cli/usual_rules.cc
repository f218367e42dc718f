#include "posgauge/cli/usual_rules.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "posgauge/verify/customs.h"
#include "posgauge/verify/judge.h"
#include "posgauge/verify/plan.h"

namespace posgauge::cli {

namespace {

// The smallest positions, where tests usually end, and some of the others.
std::vector<double> SomePositions(std::vector<double> positions) {
  constexpr size_t kFirst = 192, kOthers = 64;
  std::ranges::sort(positions);
  if (positions.size() <= kFirst + kOthers) return positions;
  std::vector<double> some(positions.begin(), positions.begin() + kFirst);
  const size_t others = positions.size() - kFirst;
  for (size_t i = 1; i <= kOthers; ++i) {
    some.push_back(positions[kFirst + i * others / kOthers - 1]);
  }
  return some;
}

std::string Said(const CustomFinding& finding) {
  if (!finding.fails_from) return fmt::format("{} passes", finding.custom.name);
  return fmt::format("{} fails from position {} on", finding.custom.name, *finding.fails_from);
}

}  // namespace

std::string UsualRules(const Subject& subject, const CheckPlan& plan) {
  const std::string& quantity = subject.info().quantity;
  const bool backward = quantity == "rotate_backward";
  if (quantity != "rotate" && !backward) return "";
  CheckPlan some = plan;
  some.positions = SomePositions(ServedPositions(subject.info(), plan.positions));
  if (some.positions.empty()) return "";
  const std::vector<double> positions = PlaceOnAxes(subject.axes(), some.positions, plan.seed);
  const Tensor x = InputFor(subject, some);
  Tensor out;
  try {
    for (Named& named : subject.Answer(positions, x)) out = std::move(named.tensor);
  } catch (const Unsupported&) {
    return "";
  } catch (const KernelFailure&) {
    return "";
  }
  const ExactRotation exact(subject.scheme());
  const std::vector<DoubleDouble> want =
      ExactValues(Rotated{subject.layout(), positions, x, out, backward, {}, subject.axes()},
                  TruthOf(exact, positions));
  const std::vector<double> got = out.Values();
  const size_t row = got.size() / some.positions.size();
  CustomsCollector customs(subject.io());
  for (size_t token = 0; token < some.positions.size(); ++token) {
    customs.Add(some.positions[token], std::span(got).subspan(token * row, row),
                std::span(want).subspan(token * row, row));
  }
  std::vector<std::string> said;
  for (const CustomFinding& finding : customs.findings()) said.push_back(Said(finding));
  return fmt::format("{}", fmt::join(said, "; "));
}

}  // namespace posgauge::cli
