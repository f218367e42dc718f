#include "posgauge/verify/faults/evidence.h"

#include <algorithm>
#include <cmath>

#include "posgauge/verify/equation_plan.h"
#include "posgauge/verify/plan.h"

namespace posgauge {

namespace {

ExactTensor ExactOf(const Tensor& tensor) { return {tensor.shape(), tensor.Values()}; }

// Half the spacing of the dtype at a value, and what an excess over it may be.
double WithStore(Dtype dtype, StoreRounding rounding, double value, double excess) {
  const double ulp = std::isfinite(value) ? Ulp(FormatOf(dtype), value) : HUGE_VAL;
  return excess + (rounding == StoreRounding::rne ? ulp / 2 : ulp);
}

// What is handed to a kernel of a rotation or of waves beside x.
template <class Truth>
void Hand(const Subject& subject, const Truth& truth, Positions positions, NamedInputs& inputs) {
  for (const TensorSpec& spec : subject.info().inputs) {
    if (spec.name == "x" || spec.name == "positions" || spec.name == "frequency_low") continue;
    if (const auto tensor = truth.Supply(spec, positions)) {
      inputs.tensors[spec.name] = ExactOf(*tensor);
    }
  }
}

Evidence Frequencies(const Subject& subject, const RotaryBound& bound) {
  const Subject::FrequencyOutput output = subject.Frequencies();
  Evidence evidence{{subject.scheme(), "frequencies", {}, {}}, output.high, {}, {}};
  evidence.question.shape = {static_cast<int64_t>(output.high.size())};
  for (size_t i = 0; i < output.high.size(); ++i) {
    evidence.limits.push_back(
        std::fabs(output.high[i]) *
        (bound.Frequency(static_cast<int64_t>(i)) + output.export_roundoff + 0x1p-50));
  }
  evidence.answer.push_back(output.magnitude);
  evidence.limits.push_back(std::fabs(output.magnitude) *
                            (output.high.empty() ? 0x1p-52 : 2 * bound.Frequency(0) + 0x1p-50));
  evidence.positions.resize(evidence.answer.size(), 0);
  return evidence;
}

Evidence ObserveRotation(const Subject& subject, const CheckPlan& plan,
                         const std::vector<double>& planned) {
  const RotationTruth& truth = subject.rotation();
  if (subject.info().quantity == "frequencies") return Frequencies(subject, truth.local_bound());
  CheckPlan at = plan;
  at.positions = planned;
  const std::vector<double> placed = PlaceOnAxes(truth.axes(), planned, plan.seed);
  const std::vector<double> farthest = truth.axes().Farthest(placed);
  const auto tokens = static_cast<int64_t>(farthest.size());
  Evidence evidence{{subject.scheme(), subject.info().quantity, {}, {}}, {}, {}, {}};
  NamedInputs& inputs = evidence.question.inputs;
  inputs.tensors["positions"] = {{tokens}, placed};
  if (truth.axes().count > 1) inputs.tensors["positions"].shape.push_back(truth.axes().count);
  Hand(subject, truth, placed, inputs);
  const Rotary& layout = subject.layout();
  const RotaryBound& bound = truth.local_bound();
  if (subject.info().quantity == "table") {
    evidence.question.shape = {tokens, layout.Pairs()};
    const TablePair table = subject.Table(placed);
    for (const Tensor* entries : {&table.cos, &table.sin}) {
      for (size_t i = 0; i < entries->size(); ++i) {
        const size_t token = i / static_cast<size_t>(layout.Pairs());
        const auto pair = static_cast<int64_t>(i % static_cast<size_t>(layout.Pairs()));
        evidence.answer.push_back(entries->Value(i));
        evidence.limits.push_back(
            WithStore(entries->dtype(), bound.TableRounding(), entries->Value(i),
                      bound.TableExcess(truth.axes().At(placed, token, pair), pair)));
        evidence.positions.push_back(farthest[token]);
      }
    }
    return evidence;
  }
  const Tensor x = InputFor(subject, at), out = subject.Rotate(placed, x);
  inputs.tensors["x"] = ExactOf(x);
  evidence.question.shape = x.shape();
  evidence.answer = out.Values();
  evidence.limits.resize(out.size());
  evidence.positions.resize(out.size());
  const auto width = static_cast<size_t>(layout.head_dim);
  const size_t heads = static_cast<size_t>(x.shape()[1]);
  const StoreRounding rounding = bound.contract().store_rounding;
  for (size_t row = 0; row < out.size() / width; ++row) {
    const size_t token = row / heads;
    for (size_t c = 0; c < width; ++c) {
      evidence.positions[row * width + c] = farthest[token];
      evidence.limits[row * width + c] =
          WithStore(x.dtype(), rounding, out.Value(row * width + c), 0);
    }
    for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
      const auto channels = layout.Channels(pair);
      const auto at_channel = [&](size_t i) {
        return row * width + static_cast<size_t>(channels[i]);
      };
      const double r = std::hypot(x.Value(at_channel(0)), x.Value(at_channel(1)));
      const double excess =
          bound.ElementExcess(truth.axes().At(placed, token, pair), pair, std::isfinite(r) ? r : 0);
      for (const size_t i : {at_channel(0), at_channel(1)}) {
        evidence.limits[i] = WithStore(x.dtype(), rounding, out.Value(i), excess);
      }
    }
  }
  return evidence;
}

Evidence ObserveAddition(const Subject& subject, const CheckPlan& plan,
                         const std::vector<double>& planned) {
  const AdditionTruth& truth = subject.addition();
  const AdditionBound& bound = truth.local_bound();
  if (subject.info().quantity == "frequencies") return Frequencies(subject, bound.waves());
  CheckPlan at = plan;
  at.positions = planned;
  const auto tokens = static_cast<int64_t>(planned.size());
  const auto& params = std::get<sinusoidal::Params>(subject.scheme());
  Evidence evidence{
      {subject.scheme(), subject.info().quantity, {}, {tokens, params.width}}, {}, {}, {}};
  NamedInputs& inputs = evidence.question.inputs;
  inputs.tensors["positions"] = {{tokens}, planned};
  Hand(subject, truth, planned, inputs);
  const bool embeds = evidence.question.quantity == "embed";
  Tensor x;
  if (embeds) {
    x = InputFor(subject, at);
    inputs.tensors["x"] = ExactOf(x);
  }
  evidence.answer = (embeds ? subject.Embed(planned, x) : subject.Rows(planned)).Values();
  for (size_t i = 0; i < evidence.answer.size(); ++i) {
    const size_t token = i / static_cast<size_t>(params.width);
    const Channel channel =
        params.ChannelAt(static_cast<int64_t>(i % static_cast<size_t>(params.width)));
    evidence.positions.push_back(planned[token]);
    evidence.limits.push_back(
        embeds ? bound.Embed(planned[token], channel, x.Value(i), evidence.answer[i])
               : bound.Row(planned[token], channel));
  }
  return evidence;
}

Evidence ObserveEquations(const Subject& subject, const CheckPlan& plan,
                          const std::vector<double>& planned) {
  const EquationTruth& truth = subject.equations();
  const Dtype held = IsFloat(subject.io()) ? subject.io() : Dtype::f32;
  const EquationQuantity quantity = truth.quantity();
  const NamedInputs inputs =
      IsOfRows(quantity)
          ? PlanRows(subject.scheme(), truth.exact(), quantity, held, planned, plan.seed)
          : PlanAttention(subject.scheme(), truth.exact(), quantity, held, planned[0], plan.seed);
  const Tensor out = subject.Evaluate(inputs);
  Evidence evidence{{subject.scheme(), subject.info().quantity, truth.Given(inputs), out.shape()},
                    out.Values(),
                    {},
                    {}};
  if (quantity == EquationQuantity::buckets) {
    evidence.limits.assign(out.size(), 0.5);
  } else {
    for (const EquationLimit& limit :
         truth.bound().Limits(quantity, evidence.question.inputs, out.shape())) {
      evidence.limits.push_back(limit.stored);
    }
  }
  const size_t width = IsOfRows(quantity) ? out.size() / planned.size() : out.size();
  for (size_t i = 0; i < out.size(); ++i) {
    evidence.positions.push_back(planned[width == 0 ? 0 : i / width]);
  }
  return evidence;
}

}  // namespace

std::vector<Evidence> Observe(const Subject& subject, const CheckPlan& plan,
                              const std::vector<double>& positions) {
  if (IsRotary(subject.scheme())) return {ObserveRotation(subject, plan, positions)};
  if (!HasEquations(subject.scheme())) return {ObserveAddition(subject, plan, positions)};
  if (IsOfRows(subject.equations().quantity())) {
    return {ObserveEquations(subject, plan, positions)};
  }
  std::vector<Evidence> all;
  for (const double position : positions) {
    all.push_back(ObserveEquations(subject, plan, {position}));
  }
  return all;
}

}  // namespace posgauge
