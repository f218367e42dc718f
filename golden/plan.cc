#include "posgauge/golden/plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "posgauge/golden/generate.h"
#include "posgauge/golden/json_reader.h"
#include "posgauge/golden/notes.h"
#include "posgauge/golden/tensor_name.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/schemes/model/config.h"
#include "posgauge/verify/atomic_file.h"

namespace posgauge::golden {

namespace {

using nlohmann::json;

constexpr uint64_t kMaxPlan = 16 << 20;  // bytes

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

Case CaseFromPlan(const JsonReader& reader, const Scheme& scheme,
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
  if (reader.Has("dtypes")) {
    golden_case.dtypes.clear();
    for (const std::string& name : reader["dtypes"].Texts()) {
      golden_case.dtypes.push_back(
          reader["dtypes"].Located([&] { return ParseFloatDtype("dtype", name); }));
    }
  }

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

// {"model": "kimi-k2.json", "layers": ..., "length": ...}: the scheme of a published config.
Scheme SchemeOfModel(const JsonReader& reader, const std::filesystem::path& models,
                     std::string& source) {
  ConfigOverrides overrides;
  if (reader.Has("length")) overrides.length = reader["length"].Count();
  const std::string file = reader["model"].Text();
  const ModelConfig model = ReadModelConfig(models / file, overrides);
  std::vector<std::string> kinds;
  for (const LayerGroup& group : model.groups) {
    kinds.push_back(group.kind);
    if (reader.Has("layers") ? group.kind == reader["layers"].Text() : model.groups.size() == 1) {
      source = fmt::format("models/{}, layers {}", file, group.kind);
      return group.scheme;
    }
  }
  reader.Demand(false, "must have layers, one of {}", fmt::join(kinds, ", "));
  return {};
}

PlannedManifest ManifestFromPlan(const JsonReader& reader, const std::string& word,
                                 const std::filesystem::path& models,
                                 const std::map<std::string, Note>& notes) {
  reader.Keys({"name", "comment", "cases"}, {"parameters", "model", "layers", "length"});
  reader.Demand(reader.Has("parameters") != reader.Has("model"),
                "must have either parameters or a model");
  PlannedManifest planned;
  planned.name = IdFromJson(reader["name"]);
  Manifest& manifest = planned.manifest;
  manifest.comment = reader["comment"].Text();
  manifest.notes = notes;
  if (reader.Has("model")) {
    manifest.scheme = SchemeOfModel(reader, models, manifest.source);
    reader["model"].Demand(Name(manifest.scheme) == word, "must be of scheme {}, is {}", word,
                           Name(manifest.scheme));
  } else {
    reader["parameters"].Keys({}, [&] {
      std::vector<std::string> fields;
      for (const SchemeInfo& info : AllSchemes()) {
        if (info.name != word) continue;
        for (const FieldInfo& field : info.fields) fields.push_back(field.name);
      }
      return fields;
    }());
    json parameters = reader["parameters"].value();
    parameters["scheme"] = word;
    manifest.scheme = reader["parameters"].Located([&] { return SchemeFromJson(parameters); });
  }
  std::set<std::string> ids;
  for (const JsonReader& case_reader : reader["cases"].List()) {
    manifest.cases.push_back(CaseFromPlan(case_reader, manifest.scheme, notes,
                                          fmt::format("{}/{}", word, planned.name)));
    case_reader["id"].Demand(ids.insert(manifest.cases.back().id).second, "must be unique");
  }
  return planned;
}

}  // namespace

std::map<std::string, Note> ReadNotes(const std::filesystem::path& path) {
  const json value = ParseJson(ReadFile(path, kMaxPlan), path.string());
  return NotesFromJson(JsonReader(value, path.string()));
}

std::vector<PlannedManifest> ReadPlan(const std::filesystem::path& path,
                                      const std::filesystem::path& models,
                                      const std::map<std::string, Note>& notes) {
  const json value = ParseJson(ReadFile(path, kMaxPlan), path.string());
  const JsonReader reader(value, path.string());
  reader.Keys({"scheme", "manifests"});
  const std::string word = reader["scheme"].Text();
  reader["scheme"].Demand(word == path.stem(), "must be the file's name {}, got {}",
                          path.stem().string(), Shown(word));
  std::vector<PlannedManifest> planned;
  std::set<std::string> names;
  for (const JsonReader& manifest : reader["manifests"].List()) {
    planned.push_back(ManifestFromPlan(manifest, word, models, notes));
    manifest["name"].Demand(names.insert(planned.back().name).second, "must be unique");
  }
  return planned;
}

namespace {

bool IsOurs(const std::filesystem::path& path) {
  try {
    const json value = ParseJson(ReadFile(path, kMaxManifest), path.string());
    if (!value.is_object() || value.value("format", json()) != kFormatName) return false;
    const json generator = value.value("generator", json());
    return generator.is_object() && generator.value("name", json()) == kGeneratorName;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<std::filesystem::path> UnplannedManifests(const std::filesystem::path& folder,
                                                      const std::vector<PlannedManifest>& plan) {
  std::vector<std::filesystem::path> unplanned;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path& path = entry.path();
    const bool planned =
        std::ranges::find(plan, path.stem().string(), &PlannedManifest::name) != plan.end();
    if (path.extension() == ".json" && !planned && IsOurs(path)) unplanned.push_back(path);
  }
  if (error) throw FileError(fmt::format("{}: {}", folder.string(), error.message()));
  std::ranges::sort(unplanned);
  return unplanned;
}

std::map<std::string, std::vector<PlannedManifest>> ReadPlans(const std::filesystem::path& folder) {
  const std::map<std::string, Note> notes = ReadNotes(folder / "flags.json");
  std::map<std::string, std::vector<PlannedManifest>> plans;
  for (const SchemeInfo& info : AllSchemes()) {
    plans[info.name] = ReadPlan(folder / (info.name + ".json"), folder / "models", notes);
  }
  return plans;
}

}  // namespace posgauge::golden
