#include "posgauge/verify/subject.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "posgauge/schemes/base/scalars.h"

namespace posgauge {

namespace {

// In the first dtype in which every value is exact. NaN is one in every floating dtype.
Tensor ExactTensorFor(const TensorSpec& spec, const std::vector<int64_t>& shape,
                      std::span<const double> values) {
  const auto exact = [&](Dtype dtype) {
    return std::ranges::all_of(values, [&](double value) {
      if (dtype == Dtype::f64 || std::isnan(value)) return IsFloat(dtype);
      if (dtype == Dtype::f32) return static_cast<double>(static_cast<float>(value)) == value;
      if (IsFloat(dtype)) return RoundTo(FormatOf(dtype), value) == value;
      if (dtype == Dtype::u8) return std::trunc(value) == value && value >= 0 && value < 0x1p8;
      const double limit = dtype == Dtype::i32 ? 0x1p31 : 0x1p53;
      return std::trunc(value) == value && value >= -limit && value < limit;
    });
  };
  for (Dtype dtype : spec.dtypes) {
    if (exact(dtype)) return Tensor::FromValues(dtype, shape, values);
  }
  throw Unsupported(fmt::format("{} {} not exact in any dtype that the kernel takes", spec.name,
                                spec.name.ends_with('s') ? "are" : "is"));
}

Tensor Take(std::vector<Named>& tensors, std::string_view name) {
  for (Named& named : tensors) {
    if (named.name == name) return std::move(named.tensor);
  }
  return {};
}

}  // namespace

namespace {

// The one place where a scheme's kind chooses.
Subject::Truth TruthFor(const KernelInfo& info, const Scheme& scheme) {
  const bool fits = ActsInAttention(scheme) ? info.IsOfAttention()
                    : HasEquations(scheme)
                        ? info.Adds()
                        : info.quantity == "frequencies" ||
                              (!info.IsOfAttention() && info.Adds() != IsRotary(scheme));
  Require(fits, "kernel {} yields {} of another kind of scheme than {}", info.name, info.quantity,
          Name(scheme));
  if (IsRotary(scheme)) return RotationTruth(info, scheme);
  if (HasEquations(scheme)) return EquationTruth(info, scheme);
  return AdditionTruth(info, scheme);
}

template <class Kind>
const Kind& KindOf(const Subject::Truth& truth, const Scheme& scheme, std::string_view wanted) {
  const auto* kind = std::get_if<Kind>(&truth);
  Require(kind != nullptr, "{} is no {}", Name(scheme), wanted);
  return *kind;
}

}  // namespace

Subject::Subject(const KernelInfo& info, const Scheme& scheme)
    : info_(info),
      scheme_(scheme),
      truth_(TruthFor(info, scheme)),
      axis_count_(AxesOf(scheme).count) {}

int64_t Subject::TokensOf(Positions positions) const {
  return static_cast<int64_t>(positions.size()) / axis_count_;
}

const RotationTruth& Subject::rotation() const {
  return KindOf<RotationTruth>(truth_, scheme_, "rotation");
}

const AdditionTruth& Subject::addition() const {
  return KindOf<AdditionTruth>(truth_, scheme_, "addition of rows");
}

const EquationTruth& Subject::equations() const {
  return KindOf<EquationTruth>(truth_, scheme_, "scheme that is given by equations");
}

std::vector<std::string> Subject::NotCovered() const {
  if (const auto* truth = std::get_if<EquationTruth>(&truth_)) return truth->handed_over();
  if (TakesTable()) return {"frequency", "table"};
  if (info_.Input("frequency") != nullptr) return {"frequency"};
  return {};
}

std::optional<Named> Subject::ListFor(const TensorSpec& spec) const {
  for (const auto& [name, values] : ListsOf(scheme_)) {
    if (name != spec.name) continue;
    return Named{name, ExactTensorFor(spec, {static_cast<int64_t>(values.size())}, values)};
  }
  return std::nullopt;
}

std::vector<Named> Subject::InputsFor(Positions positions, const Tensor* x,
                                      const RaggedBatch* batch) const {
  std::vector<Named> inputs;
  for (const TensorSpec& spec : info_.inputs) {
    if (spec.name == "x" && x != nullptr) {
      inputs.push_back({spec.name, *x});
      continue;
    }
    if (spec.name == "positions") {
      std::vector<int64_t> shape = {TokensOf(positions)};
      if (axis_count_ > 1) shape.push_back(axis_count_);
      inputs.push_back({spec.name, ExactTensorFor(spec, shape, positions)});
      continue;
    }
    if (batch != nullptr && (spec.name == "cu_seqlens" || spec.name == "offsets")) {
      const std::vector<double>& held = spec.name == "offsets" ? batch->offsets : batch->boundaries;
      inputs.push_back(
          {spec.name, ExactTensorFor(spec, {static_cast<int64_t>(held.size())}, held)});
      continue;
    }
    if (std::optional<Named> list = ListFor(spec)) {
      inputs.push_back(*std::move(list));
      continue;
    }
    std::optional<Tensor> supplied =
        std::visit([&](const auto& truth) { return truth.Supply(spec, positions); }, truth_);
    if (!supplied) {
      if (spec.optional && (spec.name == "axis" || IsListField(spec.name))) continue;
      throw FormatError(fmt::format("kernel {}: input '{}' is not one that {} has", info_.name,
                                    spec.name, info_.quantity));
    }
    inputs.push_back({spec.name, *std::move(supplied)});
  }
  return inputs;
}

Subject::FrequencyOutput Subject::Frequencies() const { return ReadFrequencies(Answer({}, {})); }

Subject::FrequencyOutput Subject::ReadFrequencies(const std::vector<Named>& outputs) const {
  FrequencyOutput result;
  for (const Named& named : outputs) {
    if (named.name == "frequency") {
      result.high = named.tensor.Values();
      const Arithmetic came_in = ArithmeticOf(named.tensor.dtype());
      const bool pair = std::ranges::find(outputs, "frequency_low", &Named::name) != outputs.end();
      if (!pair && !Holds(came_in, info_.contract.frequency)) {
        result.export_roundoff = UnitRoundoff(came_in);
      }
    }
    if (named.name == "frequency_low") result.low = named.tensor.Values();
    if (named.name == "magnitude") result.magnitude = named.tensor.Value(0);
  }
  result.low.resize(result.high.size());
  return result;
}

std::vector<Named> Subject::Answer(Positions positions, const Tensor& x,
                                   Placement placement) const {
  if (placement == Placement::in_place && info_.kernel->in_place == 0) {
    throw Unsupported("the kernel does not write over its input");
  }
  if (info_.Input("cu_seqlens") == nullptr) {
    return AnswerCompact(positions, x, placement, nullptr);
  }
  const RaggedBatch batch =
      info_.CountsFromZero() ? SequencesFromZero(positions) : RunsAsSequences(positions);
  const Tensor all = info_.quantity == "table" ? x : batch.Scatter(x);
  std::vector<Named> outputs = AnswerCompact(batch.positions, all, placement, &batch);
  for (Named& output : outputs) output.tensor = batch.Gather(output.tensor);
  return outputs;
}

std::vector<Named> Subject::AnswerCompact(Positions positions, const Tensor& x, Placement placement,
                                          const RaggedBatch* batch) const {
  std::vector<Named> outputs;
  if (info_.quantity == "frequencies") {
    for (const TensorSpec& spec : info_.outputs) {
      const int64_t count = spec.name == "magnitude" ? 1 : FrequencyCount(scheme_);
      outputs.push_back({spec.name, Poisoned(spec.dtypes.front(), {count})});
    }
    CallKernel(info_, scheme_, InputsFor({}, nullptr), outputs);
  } else if (info_.quantity == "table") {
    const int64_t tokens = TokensOf(positions);
    const int64_t width = IsRotary(scheme_) ? FrequencyCount(scheme_) : WidthOf(scheme_);
    for (const TensorSpec& spec : info_.outputs) {
      outputs.push_back({spec.name, Poisoned(spec.dtypes.front(), {tokens, width})});
    }
    CallKernel(info_, scheme_, InputsFor(positions, nullptr, batch), outputs);
  } else {
    outputs.push_back({"out", Poisoned(x.dtype(), x.shape())});
    CallKernel(info_, scheme_, InputsFor(positions, &x, batch), outputs, placement);
  }
  return outputs;
}

std::vector<Named> Subject::InputsFor(const NamedInputs& inputs) const {
  const EquationTruth& truth = equations();
  std::vector<Named> named;
  for (const TensorSpec& spec : info_.inputs) {
    if (const ExactTensor* tensor = inputs.Find(spec.name)) {
      named.push_back({spec.name, ExactTensorFor(spec, tensor->shape, tensor->values)});
    } else if (std::optional<Named> list = ListFor(spec)) {
      named.push_back(*std::move(list));
    } else if (std::optional<Tensor> supplied = truth.Supply(spec, {})) {
      named.push_back({spec.name, *std::move(supplied)});
    } else if (!spec.optional) {
      throw FormatError(fmt::format("kernel {}: input '{}' is not one that {} of {} has",
                                    info_.name, spec.name, info_.quantity, Name(scheme_)));
    }
  }
  return named;
}

Tensor Subject::Evaluate(const NamedInputs& inputs, Placement placement) const {
  if (placement == Placement::in_place && info_.kernel->in_place == 0) {
    throw Unsupported("the kernel does not write over its input");
  }
  std::vector<Named> outputs = {{info_.outputs[0].name, Poisoned(info_.outputs[0].dtypes.front(),
                                                                 equations().ShapeFor(inputs))}};
  CallKernel(info_, scheme_, InputsFor(inputs), outputs, placement);
  return std::move(outputs[0].tensor);
}

TablePair Subject::Table(Positions positions) const {
  std::vector<Named> outputs = Answer(positions, {});
  return {Take(outputs, "cos"), Take(outputs, "sin")};
}

Tensor Subject::Rows(Positions positions) const {
  std::vector<Named> outputs = Answer(positions, {});
  return Take(outputs, "rows");
}

Tensor Subject::Rotate(Positions positions, const Tensor& x, Placement placement) const {
  return std::move(Answer(positions, x, placement)[0].tensor);
}

Tensor Subject::Embed(Positions positions, const Tensor& x, Placement placement) const {
  return std::move(Answer(positions, x, placement)[0].tensor);
}

}  // namespace posgauge
