#include "posgauge/golden/plan_case.h"

#include <algorithm>
#include <cmath>

#include "posgauge/golden/generate.h"
#include "posgauge/golden/notes.h"

namespace posgauge::golden {

namespace {

// Of a case that does not say. Eight bits are too few to show what most cases are about.
constexpr std::array kUsualDtypes = {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16};

std::vector<double> Numbers(const JsonReader& reader) {
  std::vector<double> numbers;
  for (const JsonReader& element : reader.List()) {
    numbers.push_back(
        element.Located([&] { return NumberFromJson(element.value(), "an element"); }));
  }
  return numbers;
}

Tensor Vector(const JsonReader& reader) {
  const std::vector<double> numbers = Numbers(reader);
  return Tensor::FromValues(Dtype::f64, {static_cast<int64_t>(numbers.size())}, numbers);
}

// [tokens]; where positions have several axes [tokens, axes], from a list for each token.
Tensor PositionVector(const JsonReader& reader, const Scheme& scheme) {
  const int64_t axes = AxesOf(scheme).count;
  if (axes == 1) return Vector(reader);
  std::vector<double> numbers;
  for (const JsonReader& token : reader.List()) {
    const std::vector<double> row = Numbers(token);
    token.Demand(static_cast<int64_t>(row.size()) == axes,
                 "must be {} numbers, one an axis, got {}", axes, row.size());
    numbers.insert(numbers.end(), row.begin(), row.end());
  }
  const auto tokens = static_cast<int64_t>(numbers.size()) / axes;
  return Tensor::FromValues(Dtype::f64, {tokens, axes}, numbers);
}

// [tokens, heads, head_dim], or [tokens, width] of an addition, from the list of its elements or,
// where the case has none, at random.
Tensor Rows(const JsonReader& reader, const std::string& name, const Tensor& positions,
            const Scheme& scheme, const std::string& key) {
  const int64_t tokens = positions.shape()[0];
  const std::vector<int64_t> shape =
      IsRotary(scheme)
          ? std::vector<int64_t>{tokens, reader.Has("heads") ? reader["heads"].Count() : 1,
                                 RotaryOf(scheme).head_dim}
          : std::vector<int64_t>{tokens, WidthOf(scheme)};
  if (!reader.Has(name)) return RandomInput(shape, 0, fmt::format("{}/{}", key, name));
  return reader[name].Located(
      [&] { return Tensor::FromValues(Dtype::f64, shape, Numbers(reader[name])); });
}

// With the numbers of queries and keys filled in from the plan's positions.
std::vector<Weight> InputsOfEquations(const Scheme& scheme, const JsonReader& reader,
                                      Quantity quantity) {
  std::vector<Weight> inputs = ExactEquations(scheme).InputsOf(
      ParseVariant<EquationQuantity>("quantity", VariantName(quantity)));
  for (Weight& input : inputs) {
    const char* of = input.name == "q"                        ? "query_positions"
                     : input.name == "k" || input.name == "v" ? "key_positions"
                     : input.name == "x"                      ? "positions"
                                                              : nullptr;
    if (of == nullptr) continue;
    reader.Demand(reader.Has(of), "must have the key {}", of);
    input.shape[0] = static_cast<int64_t>(reader[of].List().size());
  }
  return inputs;
}

std::vector<Dtype> DtypesFromPlan(const JsonReader& reader) {
  std::vector<Dtype> dtypes;
  for (const std::string& name : reader.Texts()) {
    dtypes.push_back(reader.Located([&] { return ParseFloatDtype("dtype", name); }));
  }
  return dtypes;
}

// A case of the scheme's own answers.
Case ValidCaseFromPlan(const JsonReader& reader, const Scheme& scheme,
                       const std::map<std::string, Note>& notes, const std::string& manifest_key) {
  std::vector<std::string> optional = {
      "dtypes",        "positions", "x", "query_positions", "heads",
      "key_positions", "q",         "k", "scale",           "v"};
  for (const Weight& weight : WeightsOf(scheme)) optional.emplace_back(weight.name);
  reader.Keys({"id", "quantity", "comment", "flags"}, optional);
  Case golden_case;
  golden_case.id = IdFromJson(reader["id"]);
  golden_case.quantity =
      reader.Located([&] { return ParseVariant<Quantity>("quantity", reader["quantity"].Text()); });
  golden_case.comment = reader["comment"].Text();
  golden_case.flags = FlagsFromJson(reader["flags"], notes);
  reader["flags"].Demand(!golden_case.flags.empty(), "must say why the case exists, got none");
  golden_case.dtypes.assign(kUsualDtypes.begin(), kUsualDtypes.end());
  if (golden_case.quantity == Quantity::buckets) golden_case.dtypes = {Dtype::i32};
  if (reader.Has("dtypes")) golden_case.dtypes = DtypesFromPlan(reader["dtypes"]);

  const std::string key = fmt::format("{}/{}", manifest_key, golden_case.id);
  std::vector<std::string> used = {"id", "quantity", "comment", "flags", "dtypes"};
  const auto positions = [&](const std::string& name) {
    reader.Demand(reader.Has(name), "must have the key {}", name);
    golden_case.inputs[name] = PositionVector(reader[name], scheme);
    used.push_back(name);
  };
  const auto rows = [&](const std::string& name, const std::string& of) {
    golden_case.inputs[name] = Rows(reader, name, golden_case.inputs.at(of), scheme, key);
    used.push_back(name);
    if (IsRotary(scheme)) used.push_back("heads");
  };
  reader.Located([&] { OutputsOf(scheme, golden_case.quantity); });
  if (HasEquations(scheme)) {
    for (const Weight& input : InputsOfEquations(scheme, reader, golden_case.quantity)) {
      const std::string name(input.name);
      if (name.ends_with("positions")) {
        positions(name);
      } else {
        golden_case.inputs[name] =
            reader.Has(name) ? reader[name].Located([&] {
              return Tensor::FromValues(Dtype::f64, input.shape, Numbers(reader[name]));
            })
                             : RandomWeight(input, 0, fmt::format("{}/{}", key, name));
        used.push_back(name);
      }
    }
  }
  switch (HasEquations(scheme) ? Quantity::bias : golden_case.quantity) {
    case Quantity::frequencies:
    case Quantity::magnitude:
      break;
    case Quantity::table:
      positions("positions");
      break;
    case Quantity::rotate:
    case Quantity::rotate_backward:
    case Quantity::embed:
      positions("positions");
      rows("x", "positions");
      break;
    case Quantity::scores: {
      positions("query_positions");
      positions("key_positions");
      rows("q", "query_positions");
      rows("k", "key_positions");
      const double scale = reader.Has("scale")
                               ? reader["scale"].Located([&] {
                                   return NumberFromJson(reader["scale"].value(), "scale");
                                 })
                               : 1 / std::sqrt(static_cast<double>(RotaryOf(scheme).head_dim));
      golden_case.inputs["scale"] = Tensor::FromValues(Dtype::f64, {1}, std::array{scale});
      used.push_back("scale");
      break;
    }
    default:
      break;  // given by equations
  }
  for (const auto& [name, unused] : reader.value().items()) {
    reader.Demand(std::ranges::find(used, name) != used.end(), "must not have {} for {}", name,
                  VariantName(golden_case.quantity));
  }
  reader.Located([&] { CheckInputs(scheme, golden_case); });
  return golden_case;
}

// A case that asks what an earlier one of the manifest does, and is not answered rightly.
Case DepartedCaseFromPlan(const JsonReader& reader, const std::map<std::string, Note>& notes,
                          const std::vector<Case>& earlier) {
  reader.Keys({"id", "of", "comment", "flags", "cause", "departure"},
              {"fault", "dialect", "dtypes"});
  const auto of = std::ranges::find(earlier, reader["of"].Text(), &Case::id);
  reader["of"].Demand(of != earlier.end() && of->result == Result::valid,
                      "must be the id of a valid case above, got {}", Shown(reader["of"].value()));
  reader.Demand(reader.Has("fault") != reader.Has("dialect"),
                "must have either a fault or a dialect");
  Case golden_case = *of;
  golden_case.id = IdFromJson(reader["id"]);
  golden_case.comment = reader["comment"].Text();
  golden_case.flags = FlagsFromJson(reader["flags"], notes);
  golden_case.result = reader.Has("fault") ? Result::invalid : Result::acceptable;
  golden_case.fault = reader[reader.Has("fault") ? "fault" : "dialect"].Text();
  golden_case.cause = reader["cause"].Text();
  golden_case.departure = DepartureFromJson(reader["departure"]);
  if (reader.Has("dtypes")) golden_case.dtypes = DtypesFromPlan(reader["dtypes"]);
  return golden_case;
}

}  // namespace

Case CaseFromPlan(const JsonReader& reader, const Manifest& manifest,
                  const std::string& manifest_key) {
  if (reader.value().is_object() && reader.Has("of")) {
    return DepartedCaseFromPlan(reader, manifest.notes, manifest.cases);
  }
  return ValidCaseFromPlan(reader, manifest.scheme, manifest.notes, manifest_key);
}

}  // namespace posgauge::golden
