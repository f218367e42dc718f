#include "posgauge/golden/generate.h"

#include <algorithm>
#include <cmath>

#include "posgauge/reference/exact_addition.h"
#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/random.h"

namespace posgauge::golden {

namespace {

Rounding RoundingOf(const RoundedValues& rounded, const std::vector<int64_t>& shape) {
  Rounding rounding;
  rounding.values = Tensor::FromValues(rounded.dtype, shape, rounded.values);
  if (!rounded.distances.empty()) {
    const std::vector<double> distances(rounded.distances.begin(), rounded.distances.end());
    rounding.distances = Tensor::FromValues(Dtype::i32, shape, distances);
  }
  rounding.proof = rounded.counts;
  for (size_t i = 0; i < rounded.proofs.size(); ++i) {
    if (rounded.proofs[i] == Proof::undecided)
      rounding.undecided.push_back(static_cast<int64_t>(i));
  }
  return rounding;
}

// The outputs in one dtype, in the order of OutputsOf.
std::vector<RoundedValues> Evaluate(const ExactRotation& exact, const Case& golden_case,
                                    Dtype dtype) {
  const auto input = [&](const char* name) { return golden_case.inputs.at(name).Values(); };
  const auto heads = [&](const char* name) { return golden_case.inputs.at(name).shape()[1]; };
  switch (golden_case.quantity) {
    case Quantity::frequencies:
      return {exact.Frequencies(dtype)};
    case Quantity::magnitude:
      return {exact.Magnitude(dtype), exact.SoftmaxMultiplier(dtype)};
    case Quantity::table: {
      RoundedTable table = exact.Table(input("positions"), dtype);
      return {std::move(table.cos), std::move(table.sin)};
    }
    case Quantity::rotate:
      return {exact.Rotate(input("positions"), input("x"), heads("x"), dtype)};
    case Quantity::rotate_backward:
      return {exact.RotateBackward(input("positions"), input("x"), heads("x"), dtype)};
    case Quantity::scores:
      return {exact.Scores(input("query_positions"), input("key_positions"), input("q"), input("k"),
                           heads("q"), golden_case.inputs.at("scale").Value(0), dtype)};
    default:
      return {};
  }
}

std::vector<RoundedValues> Evaluate(const ExactAddition& exact, const Case& golden_case,
                                    Dtype dtype) {
  const auto input = [&](const char* name) { return golden_case.inputs.at(name).Values(); };
  switch (golden_case.quantity) {
    case Quantity::frequencies:
      return {exact.Frequencies(dtype)};
    case Quantity::table:
      return {exact.Rows(input("positions"), dtype)};
    case Quantity::embed:
      return {exact.Embed(input("positions"), input("x"), dtype)};
    default:
      return {};
  }
}

std::vector<RoundedValues> Evaluate(const ExactEquations& exact, const Case& golden_case,
                                    Dtype dtype) {
  const NamedInputs inputs = NamedInputsOf(golden_case);
  if (golden_case.quantity == Quantity::buckets) {
    RoundedValues buckets{.dtype = dtype};
    for (int64_t bucket : exact.Buckets(inputs)) {
      buckets.values.push_back(static_cast<double>(bucket));
      buckets.proofs.push_back(Proof::exact);
      buckets.counts.Add(Proof::exact, 0);
    }
    return {std::move(buckets)};
  }
  return {
      exact.Evaluate(ParseVariant<EquationQuantity>("quantity", VariantName(golden_case.quantity)),
                     inputs, dtype)};
}

// `Exact` is the reference of the scheme's kind.
template <class Exact>
void ComputeCase(const Scheme& scheme, const Exact& exact, Case& golden_case) {
  CheckInputs(scheme, golden_case);
  const std::vector<int64_t> shape = OutputShape(scheme, golden_case);
  constexpr double kMost = 1 << 26;
  double count = 1;
  for (int64_t extent : shape) count *= static_cast<double>(extent);
  Require(count <= kMost, "case {} would have {:.0f} values of {}, at most {:.0f} fit in a file",
          golden_case.id, count, VariantName(golden_case.quantity), kMost);
  const std::vector<std::string> names = OutputsOf(scheme, golden_case.quantity);
  golden_case.outputs.clear();
  bool undecided = false;
  for (Dtype dtype : golden_case.dtypes) {
    const std::vector<RoundedValues> values = Evaluate(exact, golden_case, dtype);
    for (size_t i = 0; i < names.size(); ++i) {
      golden_case.outputs[names[i]][dtype] = RoundingOf(values[i], shape);
      undecided = undecided || values[i].counts.undecided > 0;
    }
  }
  std::erase(golden_case.flags, kUndecidedFlag);
  if (undecided) golden_case.flags.emplace_back(kUndecidedFlag);
}

}  // namespace

namespace {

template <class Exact>
void ComputeCases(Manifest& manifest) {
  const Exact exact(manifest.scheme);
  for (Case& golden_case : manifest.cases) {
    try {
      ComputeCase(manifest.scheme, exact, golden_case);
    } catch (const ParameterError& error) {
      const std::string message = error.what();
      const bool named = message.starts_with(golden_case.id + ": ");
      throw ParameterError(named ? message : golden_case.id + ": " + message);
    }
  }
}

}  // namespace

void Compute(Manifest& manifest) {
  manifest.notes[std::string(kUndecidedFlag)] = {
      "none",
      "The precision cap was reached before the rounding of some value was proven; the proof "
      "counts "
      "say how many, undecided_values which. Such a value must never count as passed.",
      {}};
  if (IsRotary(manifest.scheme)) {
    ComputeCases<ExactRotation>(manifest);
  } else if (HasEquations(manifest.scheme)) {
    ComputeCases<ExactEquations>(manifest);
  } else {
    ComputeCases<ExactAddition>(manifest);
  }
  std::erase_if(manifest.notes, [&](const auto& note) {
    return std::ranges::none_of(manifest.cases, [&](const Case& golden_case) {
      return std::ranges::find(golden_case.flags, note.first) != golden_case.flags.end();
    });
  });
}

Tensor RandomInput(std::vector<int64_t> shape, uint64_t seed, std::string_view key) {
  Tensor tensor(Dtype::f64, std::move(shape));
  Random random(seed, key);
  for (size_t i = 0; i < tensor.size(); ++i) {
    const auto fraction = static_cast<double>(random.Below(128)) / 128;
    const int exponent = static_cast<int>(random.Below(7)) - 3;
    const double sign = random.Below(2) == 0 ? 1 : -1;
    tensor.Set(i, sign * std::ldexp(1 + fraction, exponent));
  }
  return tensor;
}

Tensor RandomWeight(const Weight& weight, uint64_t seed, std::string_view key) {
  Tensor tensor = RandomInput(weight.shape, seed, key);
  for (size_t i = 0; i < tensor.size(); ++i) {
    double value = tensor.Value(i);
    if (weight.lowest >= 0) value = std::fabs(value);
    while (value > weight.highest) value /= 2;
    tensor.Set(i, value);
  }
  return tensor;
}

}  // namespace posgauge::golden
