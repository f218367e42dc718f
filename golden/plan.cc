#include "posgauge/golden/plan.h"

#include <algorithm>
#include <set>

#include "posgauge/golden/json_reader.h"
#include "posgauge/golden/notes.h"
#include "posgauge/golden/plan_case.h"
#include "posgauge/golden/tensor_name.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/schemes/model/config.h"
#include "posgauge/verify/atomic_file.h"

namespace posgauge::golden {

namespace {

using nlohmann::json;

constexpr uint64_t kMaxPlan = 16 << 20;  // bytes

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
    manifest.cases.push_back(
        CaseFromPlan(case_reader, manifest, fmt::format("{}/{}", word, planned.name)));
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
