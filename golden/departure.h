#pragma once

#include <map>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "posgauge/golden/json_reader.h"
#include "posgauge/schemes/base/dtype.h"
#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/tensor.h"

namespace posgauge::golden {

/// What is done to every number of an input, in this order; each step is rounded to binary64.
struct InputChange {
  double multiply = 1, add = 0;
  std::optional<Dtype> round;
  bool operator==(const InputChange&) const = default;
};

/// What a wrong answer, or that of a dialect, is computed with in place of the scheme and the
/// inputs that the case states. Its values are the real numbers that follow, rounded once, as those
/// of a valid case are.
struct Departure {
  /// Fields in place of the scheme's, as JSON. With another scheme's word the fields that both have
  /// keep their values.
  nlohmann::json parameters = nlohmann::json::object();
  std::map<std::string, InputChange> inputs;
  /// A rotation's frequencies are rounded to this dtype before positions multiply them.
  std::optional<Dtype> frequencies;

  bool IsNone() const { return parameters.empty() && inputs.empty() && !frequencies; }
  bool operator==(const Departure&) const = default;
};

/// {"parameters": {"pairing": "interleaved"}, "inputs": {"positions": {"add": 1}}, "frequencies":
/// "bf16"}, at least one of the three. Throws FormatError.
Departure DepartureFromJson(const JsonReader& reader);
nlohmann::ordered_json DepartureToJson(const Departure& departure);

/// The scheme with the departure's parameters. Throws ParameterError.
Scheme DepartedScheme(const Scheme& scheme, const Departure& departure);

/// The inputs after the departure's changes. Throws ParameterError for an input that is not there.
std::map<std::string, Tensor> DepartedInputs(const std::map<std::string, Tensor>& inputs,
                                             const Departure& departure);

}  // namespace posgauge::golden
