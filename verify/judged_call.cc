#include "posgauge/verify/judged_call.h"

#include <algorithm>
#include <concepts>
#include <string_view>
#include <variant>

namespace posgauge {

namespace {

// Every output that a quantity has was asked for, so that it is there.
const Tensor& Find(const std::vector<Named>& answer, std::string_view name) {
  return std::ranges::find(answer, name, &Named::name)->tensor;
}

}  // namespace

std::optional<TruthTable> OwnTruth(const Subject& subject, const RotationTruth& truth,
                                   Positions positions) {
  if (subject.TakesTable()) return TruthOf(truth.SuppliedTable(positions));
  if (!truth.GivenIsExact()) return TruthOf(truth.given(), positions);
  return std::nullopt;
}

std::optional<RowTruth> OwnTruth(const Subject& subject, const AdditionTruth& truth,
                                 Positions positions) {
  if (subject.TakesTable()) return TruthOf(truth.SuppliedRows(positions));
  if (!truth.GivenIsExact()) return TruthOf(truth.given(), positions);
  return std::nullopt;
}

CallFindings JudgeAnswer(const Subject& subject, const RotationTruth& truth,
                         const HeldCall<TruthTable>& call, const std::vector<Named>& answer,
                         double budget) {
  const Rotary& layout = subject.layout();
  const double magnitude = truth.magnitude();
  const std::string& quantity = subject.info().quantity;
  if (quantity == "table") {
    const TablePair table{Find(answer, "cos"), Find(answer, "sin")};
    return {
        HoldToBound(table, layout, call.positions, call.given, truth.local_bound(), magnitude,
                    truth.axes()),
        HoldToBudget(table, layout, call.positions, call.exact, magnitude, budget, truth.axes())};
  }
  const Rotated rotated{
      layout, call.positions, call.x, Find(answer, "out"), quantity == "rotate_backward",
      {},     truth.axes()};
  return {HoldToBound(rotated, call.given, truth.local_bound()),
          HoldToBudget(rotated, call.exact, magnitude, budget)};
}

CallFindings JudgeAnswer(const Subject& subject, const AdditionTruth& truth,
                         const HeldCall<RowTruth>& call, const std::vector<Named>& answer,
                         double budget) {
  const bool embeds = subject.info().quantity == "embed";
  const Added added{truth.exact(), call.positions, embeds ? &call.x : nullptr,
                    Find(answer, embeds ? "out" : "rows")};
  return {HoldToBound(added, call.given, truth.local_bound()),
          HoldToBudget(added, call.exact, budget)};
}

CallFindings JudgeAnswer(const Subject& subject, const HeldEquations& held,
                         const EquationResult& result, double budget) {
  const Contract& contract = subject.equations().bound().contract();
  return {HoldToBound(result, held.given, held.limits, contract),
          HoldToBudget(result, held.exact, held.limits, budget)};
}

Finding JudgeFrequencies(const Subject& subject, const Subject::FrequencyOutput& output) {
  return std::visit(
      [&]<class Truth>(const Truth& truth) -> Finding {
        if constexpr (std::same_as<Truth, EquationTruth>) {
          return {};
        } else if constexpr (std::same_as<Truth, AdditionTruth>) {
          return HoldToBound(output, truth.exact().EncloseFrequencies(), {{{1, 0}}, 0},
                             truth.local_bound().waves());
        } else {
          return HoldToBound(output, truth.exact().EncloseFrequencies(),
                             truth.exact().EncloseMagnitude(), truth.local_bound());
        }
      },
      subject.truth());
}

}  // namespace posgauge
