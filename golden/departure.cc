#include "posgauge/golden/departure.h"

#include "posgauge/golden/number_json.h"
#include "posgauge/schemes/base/error.h"

namespace posgauge::golden {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

Dtype DtypeFromJson(const JsonReader& reader) {
  return reader.Located([&] { return ParseFloatDtype("dtype", reader.Text()); });
}

InputChange InputChangeFromJson(const JsonReader& reader) {
  reader.Keys({}, {"multiply", "add", "round"});
  const auto number = [&](const char* key, double otherwise) {
    if (!reader.Has(key)) return otherwise;
    return reader[key].Located([&] { return NumberFromJson(reader[key].value(), key); });
  };
  InputChange change{number("multiply", 1), number("add", 0), {}};
  if (reader.Has("round")) change.round = DtypeFromJson(reader["round"]);
  reader.Demand(!(change == InputChange{}), "must change something: multiply, add or round");
  return change;
}

}  // namespace

Departure DepartureFromJson(const JsonReader& reader) {
  reader.Keys({}, {"parameters", "inputs", "frequencies"});
  Departure departure;
  if (reader.Has("parameters")) {
    departure.parameters = reader["parameters"].value();
    reader["parameters"].Demand(departure.parameters.is_object(), "must be an object, got {}",
                                Shown(departure.parameters));
  }
  if (reader.Has("inputs")) {
    const JsonReader inputs = reader["inputs"];
    inputs.Demand(inputs.value().is_object(), "must be an object, got {}", Shown(inputs.value()));
    for (const auto& [name, unused] : inputs.value().items()) {
      departure.inputs[name] = InputChangeFromJson(inputs[name]);
    }
  }
  if (reader.Has("frequencies")) departure.frequencies = DtypeFromJson(reader["frequencies"]);
  reader.Demand(!departure.IsNone(), "must change something: parameters, inputs or frequencies");
  return departure;
}

ordered_json DepartureToJson(const Departure& departure) {
  ordered_json object;
  if (!departure.parameters.empty()) object["parameters"] = departure.parameters;
  for (const auto& [name, change] : departure.inputs) {
    ordered_json& entry = object["inputs"][name];
    if (change.multiply != 1) entry["multiply"] = NumberToJson(change.multiply);
    if (change.add != 0) entry["add"] = NumberToJson(change.add);
    if (change.round) entry["round"] = std::string(Name(*change.round));
  }
  if (departure.frequencies) object["frequencies"] = std::string(Name(*departure.frequencies));
  return object;
}

Scheme DepartedScheme(const Scheme& scheme, const Departure& departure) {
  json fields = ToJson(scheme);
  if (departure.parameters.contains("scheme")) {
    const json& word = departure.parameters["scheme"];
    for (const SchemeInfo& info : AllSchemes()) {
      if (word != info.name) continue;
      json shared = json::object();
      for (const FieldInfo& field : info.fields) {
        if (fields.contains(field.name)) shared[field.name] = fields[field.name];
      }
      fields = std::move(shared);
    }
  }
  fields.update(departure.parameters);
  return SchemeFromJson(fields);
}

std::map<std::string, Tensor> DepartedInputs(const std::map<std::string, Tensor>& inputs,
                                             const Departure& departure) {
  std::map<std::string, Tensor> changed = inputs;
  for (const auto& [name, change] : departure.inputs) {
    Require(changed.contains(name), "departure.inputs: there is no input {}", name);
    Tensor& tensor = changed.at(name);
    for (size_t i = 0; i < tensor.size(); ++i) {
      const double moved = tensor.Value(i) * change.multiply + change.add;
      tensor.Set(i, change.round ? RoundTo(FormatOf(*change.round), moved) : moved);
    }
  }
  return changed;
}

}  // namespace posgauge::golden
