#include "posgauge/verify/judged_case.h"

#include <cmath>
#include <utility>

namespace posgauge {

namespace {

void RequireServed(const KernelInfo& info, Positions positions) {
  const double largest = info.kernel->largest_position;
  for (const double position : positions) {
    Require(largest == 0 || std::fabs(position) <= largest, "{} serves positions up to {}, not {}",
            info.name, largest, position);
  }
}

std::vector<double> HighParts(const std::vector<DoubleDouble>& values) {
  std::vector<double> high;
  for (const DoubleDouble& value : values) high.push_back(value.high);
  return high;
}

}  // namespace

JudgedCase::JudgedCase(const Subject& subject, CaseFile asked)
    : subject_(subject), asked_(std::move(asked)) {
  const KernelInfo& info = subject_.info();
  if (info.quantity == "frequencies") return;
  if (const auto* equations = std::get_if<EquationTruth>(&subject_.truth())) {
    const EquationQuantity quantity = equations->quantity();
    const std::vector<int64_t> shape = equations->exact().CheckInputs(quantity, asked_.inputs);
    for (const auto& [name, tensor] : asked_.inputs.tensors) {
      if (name.ends_with("positions")) RequireServed(info, tensor.values);
    }
    OfEquations truth;
    if (quantity == EquationQuantity::buckets) {
      truth.buckets = equations->exact().Buckets(asked_.inputs);
    } else {
      const NamedInputs given = equations->Given(asked_.inputs);
      truth.exact = equations->exact().Enclose(quantity, asked_.inputs);
      truth.given = equations->exact().Enclose(quantity, given);
      truth.limits = equations->bound().Limits(quantity, given, shape);
    }
    truth_ = std::move(truth);
    return;
  }
  RequireServed(info, asked_.positions);
  if (const auto* rotation = std::get_if<RotationTruth>(&subject_.truth())) {
    truth_ = OfRotation{TruthOf(rotation->exact(), asked_.positions),
                        OwnTruth(subject_, *rotation, asked_.positions)};
  } else {
    const AdditionTruth& addition = subject_.addition();
    truth_ = OfAddition{TruthOf(addition.exact(), asked_.positions),
                        OwnTruth(subject_, addition, asked_.positions)};
  }
}

std::vector<Named> JudgedCase::Inputs() const {
  if (std::holds_alternative<OfEquations>(truth_)) return subject_.InputsFor(asked_.inputs);
  return subject_.InputsFor(asked_.positions, asked_.x.size() == 0 ? nullptr : &asked_.x);
}

std::vector<Named> JudgedCase::Answer() const {
  if (!std::holds_alternative<OfEquations>(truth_)) {
    return subject_.Answer(asked_.positions, asked_.x);
  }
  std::vector<Named> answer;
  answer.push_back({subject_.info().outputs[0].name, subject_.Evaluate(asked_.inputs)});
  return answer;
}

std::vector<Named> JudgedCase::Exact() const {
  const KernelInfo& info = subject_.info();
  const auto tensor = [&](const TensorSpec& spec, const std::vector<int64_t>& shape,
                          const std::vector<double>& values) {
    return Named{spec.name, Tensor::FromValues(spec.dtypes.front(), shape, values)};
  };
  std::vector<Named> exact;
  if (const auto* held = std::get_if<OfEquations>(&truth_)) {
    const std::vector<double> values =
        held->limits.empty() ? std::vector<double>(held->buckets.begin(), held->buckets.end())
                             : HighParts(held->given.values);
    exact.push_back(tensor(info.outputs[0], subject_.equations().ShapeFor(asked_.inputs), values));
  } else if (const auto* turned = std::get_if<OfRotation>(&truth_)) {
    const TruthTable& given = turned->own ? *turned->own : turned->exact;
    const Rotary& layout = subject_.layout();
    const auto tokens = static_cast<int64_t>(subject_.axes().Tokens(asked_.positions));
    if (info.quantity == "table") {
      for (const TensorSpec& spec : info.outputs) {
        exact.push_back(tensor(spec, {tokens, layout.Pairs()},
                               HighParts(spec.name == "cos" ? given.cos : given.sin)));
      }
    } else {
      const Rotated rotated{
          layout, asked_.positions, asked_.x, asked_.x, info.quantity == "rotate_backward",
          {},     subject_.axes()};
      exact.push_back({"out", Tensor::FromValues(asked_.x.dtype(), asked_.x.shape(),
                                                 HighParts(ExactValues(rotated, given)))});
    }
  } else if (const auto* added = std::get_if<OfAddition>(&truth_)) {
    std::vector<double> values = HighParts((added->own ? *added->own : added->exact).values);
    if (info.quantity == "embed") {
      for (size_t i = 0; i < values.size(); ++i) values[i] += asked_.x.Value(i);
      exact.push_back({"out", Tensor::FromValues(asked_.x.dtype(), asked_.x.shape(), values)});
    } else {
      const auto tokens = static_cast<int64_t>(asked_.positions.size());
      exact.push_back(tensor(info.outputs[0], {tokens, WidthOf(asked_.scheme)}, values));
    }
  } else {
    const auto* rotation = std::get_if<RotationTruth>(&subject_.truth());
    const std::vector<DoubleDouble> frequencies =
        rotation != nullptr ? rotation->exact().EncloseFrequencies().values
                            : subject_.addition().exact().EncloseFrequencies().values;
    const auto pairs = static_cast<int64_t>(frequencies.size());
    std::vector<double> low;
    for (const DoubleDouble& frequency : frequencies) low.push_back(frequency.low);
    for (const TensorSpec& spec : info.outputs) {
      if (spec.name == "magnitude") {
        exact.push_back(tensor(spec, {1}, {rotation != nullptr ? rotation->magnitude() : 1.0}));
      } else {
        exact.push_back(
            tensor(spec, {pairs}, spec.name == "frequency" ? HighParts(frequencies) : low));
      }
    }
  }
  return exact;
}

CallFindings JudgedCase::Judge(const std::vector<Named>& answer, double budget) const {
  if (const auto* held = std::get_if<OfEquations>(&truth_)) {
    const EquationResult result{subject_.equations().quantity(), asked_.inputs,
                                answer.front().tensor, FarthestQuery(asked_.inputs),
                                subject_.info().Declares("rowshift")};
    if (result.quantity == EquationQuantity::buckets) {
      const Finding finding = HoldToIntegers(result, held->buckets);
      return {finding, finding};
    }
    return JudgeAnswer(subject_, {held->exact, held->given, held->limits}, result, budget);
  }
  if (const auto* turned = std::get_if<OfRotation>(&truth_)) {
    const TruthTable& given = turned->own ? *turned->own : turned->exact;
    return JudgeAnswer(subject_, subject_.rotation(),
                       HeldCall<TruthTable>{asked_.positions, asked_.x, turned->exact, given},
                       answer, budget);
  }
  if (const auto* added = std::get_if<OfAddition>(&truth_)) {
    const RowTruth& given = added->own ? *added->own : added->exact;
    return JudgeAnswer(subject_, subject_.addition(),
                       HeldCall<RowTruth>{asked_.positions, asked_.x, added->exact, given}, answer,
                       budget);
  }
  return {JudgeFrequencies(subject_, subject_.ReadFrequencies(answer)), {}};
}

}  // namespace posgauge
