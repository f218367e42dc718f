#include "posgauge/golden/generate.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "posgauge/golden/midpoint.h"
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

// The reference of a scheme's kind.
using Reference = std::variant<ExactRotation, ExactAddition, ExactEquations>;

Reference ReferenceOf(const Scheme& scheme) {
  if (IsRotary(scheme)) return ExactRotation(scheme);
  if (HasEquations(scheme)) return ExactEquations(scheme);
  return ExactAddition(scheme);
}

// The rotation by the frequencies as they are in a dtype.
Reference WithRoundedFrequencies(const Scheme& scheme, Dtype dtype) {
  Require(IsRotary(scheme), "departure.frequencies: {} has no frequencies to round", Name(scheme));
  const ExactRotation exact(scheme);
  Require(exact.IsPure(), "departure.frequencies: the magnitude of {} is not 1", Name(scheme));
  std::vector<DoubleDouble> frequencies;
  for (double frequency : exact.Frequencies(dtype).values) frequencies.push_back({frequency, 0});
  return ExactRotation(RotaryOf(scheme), frequencies, {1, 0}, AxesOf(scheme));
}

using Outputs = std::map<std::string, std::map<Dtype, Rounding>>;

Outputs OutputsFrom(const Scheme& scheme, const Reference& reference, const Case& golden_case) {
  CheckInputs(scheme, golden_case);
  const std::vector<int64_t> shape = OutputShape(scheme, golden_case);
  constexpr double kMost = 1 << 26;
  double count = 1;
  for (int64_t extent : shape) count *= static_cast<double>(extent);
  Require(count <= kMost, "case {} would have {:.0f} values of {}, at most {:.0f} fit in a file",
          golden_case.id, count, VariantName(golden_case.quantity), kMost);
  const std::vector<std::string> names = OutputsOf(scheme, golden_case.quantity);
  Outputs outputs;
  for (Dtype dtype : golden_case.dtypes) {
    const std::vector<RoundedValues> values = std::visit(
        [&](const auto& exact) { return Evaluate(exact, golden_case, dtype); }, reference);
    for (size_t i = 0; i < names.size(); ++i) {
      outputs[names[i]][dtype] = RoundingOf(values[i], shape);
    }
  }
  for (auto& [name, roundings] : outputs) {
    for (auto& [dtype, rounding] : roundings) {
      rounding.midpoint = SmallestMidpointDistance(roundings, dtype);
    }
  }
  return outputs;
}

// The outputs of a case that is not valid, of the shapes that the scheme's own have. An answer that
// is not told from the right one in some dtype would accuse those who give the right one.
Outputs DepartedOutputs(const Scheme& scheme, const Reference& reference, const Case& golden_case) {
  const Departure& departure = golden_case.departure;
  const Scheme departed = DepartedScheme(scheme, departure);
  Case changed = golden_case;
  changed.inputs = DepartedInputs(golden_case.inputs, departure);
  Outputs outputs =
      OutputsFrom(departed,
                  departure.frequencies ? WithRoundedFrequencies(departed, *departure.frequencies)
                                        : ReferenceOf(departed),
                  changed);
  const Outputs right = OutputsFrom(scheme, reference, golden_case);
  for (Dtype dtype : golden_case.dtypes) {
    bool differs = false;
    for (const auto& [name, roundings] : right) {
      Require(outputs.contains(name) &&
                  outputs[name].at(dtype).values.shape() == roundings.at(dtype).values.shape(),
              "{}: the departure changes the outputs or their shapes", golden_case.id);
      differs = differs || !(outputs[name].at(dtype).values == roundings.at(dtype).values);
    }
    Require(differs, "{}: its {} values are the right ones, in spite of the departure",
            golden_case.id, Name(dtype));
  }
  return outputs;
}

void ComputeCase(const Scheme& scheme, const Reference& reference, Case& golden_case) {
  const bool right = golden_case.result == Result::valid;
  Require(right == golden_case.departure.IsNone(),
          "{}: must have a departure exactly where its result is not valid", golden_case.id);
  golden_case.outputs = right ? OutputsFrom(scheme, reference, golden_case)
                              : DepartedOutputs(scheme, reference, golden_case);
  std::erase(golden_case.flags, kUndecidedFlag);
  if (ProofOf(golden_case).undecided > 0) golden_case.flags.emplace_back(kUndecidedFlag);
}

}  // namespace

void Compute(Manifest& manifest) {
  manifest.notes[std::string(kUndecidedFlag)] = {
      "none",
      "The precision cap was reached before the rounding of some value was proven; the proof "
      "counts "
      "say how many, undecided_values which. Such a value must never count as passed.",
      {}};
  const Reference reference = ReferenceOf(manifest.scheme);
  for (Case& golden_case : manifest.cases) {
    try {
      ComputeCase(manifest.scheme, reference, golden_case);
    } catch (const ParameterError& error) {
      const std::string message = error.what();
      const bool named = message.starts_with(golden_case.id + ": ");
      throw ParameterError(named ? message : golden_case.id + ": " + message);
    }
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
