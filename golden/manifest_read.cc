// A manifest from the bytes of its two files, every mistake named. docs/golden-format.md describes
// them.
#include <algorithm>
#include <set>

#include "posgauge/golden/json_reader.h"
#include "posgauge/golden/manifest.h"
#include "posgauge/golden/notes.h"
#include "posgauge/golden/tensor_name.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/verify/atomic_file.h"
#include "posgauge/verify/npz.h"
#include "posgauge/verify/safetensors.h"

namespace posgauge::golden {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Half an ulp in units of 2^-16 ulp: as far as a rounding to nearest goes.
constexpr double kLargestDistance = 32768;

ProofCounts ProofFromJson(const JsonReader& reader) {
  ProofCounts proof;
  proof.exact = reader["exact"].Count();
  proof.proven = reader["proven"].Count();
  proof.undecided = reader["undecided"].Count();
  const int64_t bits = reader["max_bits"].Count();
  reader["max_bits"].Demand(bits <= 1 << 20, "must be at most 2^20, got {}", bits);
  proof.max_bits = static_cast<int>(bits);
  return proof;
}

// Takes tensors out of the payload, so that what is left belongs to no case.
class Payload {
 public:
  explicit Payload(std::map<std::string, Tensor> tensors) : tensors_(std::move(tensors)) {}

  Tensor Take(const JsonReader& reader, const std::string& name, Dtype dtype,
              const std::vector<int64_t>& shape) {
    const auto at = tensors_.find(name);
    reader.Demand(at != tensors_.end(), "needs the tensor {}, which the payload lacks", name);
    Tensor tensor = std::move(at->second);
    tensors_.erase(at);
    reader.Demand(tensor.dtype() == dtype && tensor.shape() == shape,
                  "needs the tensor {} as {} of shape [{}], the payload has {} of shape [{}]", name,
                  Name(dtype), fmt::join(shape, ", "), Name(tensor.dtype()),
                  fmt::join(tensor.shape(), ", "));
    return tensor;
  }

  const std::map<std::string, Tensor>& left() const { return tensors_; }

 private:
  std::map<std::string, Tensor> tensors_;
};

Tensor InputFromJson(const JsonReader& reader, const std::string& name, Payload& payload) {
  reader.Keys({"shape"}, {"values"});
  Tensor tensor = payload.Take(reader, name, Dtype::f64, reader["shape"].Counts());
  reader.Demand(reader.Has("values") == (tensor.size() <= kMostInlineValues),
                "must have values exactly where it has at most {} elements", kMostInlineValues);
  if (!reader.Has("values")) return tensor;
  const std::vector<JsonReader> values = reader["values"].List();
  reader["values"].Demand(values.size() == tensor.size(), "must be {} numbers, got {}",
                          tensor.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const ordered_json stored = NumberToJson(tensor.Value(i));
    // As JSON, so that -0 and NaN are themselves.
    values[i].Demand(json(stored) == values[i].value(), "is {}, but the payload holds {}",
                     Shown(values[i].value()), stored.dump());
  }
  return tensor;
}

Rounding RoundingFromJson(const JsonReader& reader, const Case& golden_case,
                          const std::string& output, Dtype dtype, const std::vector<int64_t>& shape,
                          Payload& payload) {
  reader.Keys({"exact", "proven", "undecided", "max_bits"}, {"undecided_values", "midpoint"});
  Rounding rounding;
  rounding.proof = ProofFromJson(reader);
  rounding.values = payload.Take(reader, ValuesTensor(golden_case, output, dtype), dtype, shape);
  if (HasDistances(dtype)) {
    rounding.distances =
        payload.Take(reader, DistancesTensor(golden_case, output, dtype), Dtype::i32, shape);
    for (double distance : rounding.distances.Values()) {
      reader.Demand(std::abs(distance) <= kLargestDistance,
                    "has a distance of {} / 2^16 ulp: a rounding to nearest has at most 2^15",
                    distance);
    }
  }
  if (reader.Has("midpoint")) {
    rounding.midpoint = reader["midpoint"].Located(
        [&] { return NumberFromJson(reader["midpoint"].value(), "the distance"); });
  }
  const auto size = static_cast<int64_t>(rounding.values.size());
  reader.Demand(rounding.proof.Total() == size, "counts {} proofs for {} values",
                rounding.proof.Total(), size);
  if (reader.Has("undecided_values")) rounding.undecided = reader["undecided_values"].Counts();
  const std::vector<int64_t>& undecided = rounding.undecided;
  reader.Demand(static_cast<int64_t>(undecided.size()) == rounding.proof.undecided,
                "names {} undecided values but counts {}", undecided.size(),
                rounding.proof.undecided);
  reader.Demand(
      std::ranges::adjacent_find(undecided, std::ranges::greater_equal()) == undecided.end() &&
          (undecided.empty() || undecided.back() < size),
      "must name undecided values once, in order, below {}", size);
  return rounding;
}

Case CaseFromJson(const JsonReader& reader, const Scheme& scheme,
                  const std::map<std::string, Note>& notes, Payload& payload) {
  reader.Keys({"id", "quantity", "comment", "flags", "result", "dtypes", "inputs", "outputs"},
              {"fault", "dialect", "cause", "departure"});
  Case golden_case;
  golden_case.id = IdFromJson(reader["id"]);
  golden_case.quantity =
      reader.Located([&] { return ParseVariant<Quantity>("quantity", reader["quantity"].Text()); });
  golden_case.comment = reader["comment"].Text();
  golden_case.flags = FlagsFromJson(reader["flags"], notes);
  golden_case.result =
      reader.Located([&] { return ParseVariant<Result>("result", reader["result"].Text()); });
  reader.Demand(reader.Has("fault") == (golden_case.result == Result::invalid),
                "must have a fault exactly where its result is invalid");
  reader.Demand(reader.Has("dialect") == (golden_case.result == Result::acceptable),
                "must have a dialect exactly where its result is acceptable");
  for (const char* key : {"cause", "departure"}) {
    reader.Demand(reader.Has(key) == (golden_case.result != Result::valid),
                  "must have a {} exactly where its result is not valid", key);
  }
  if (golden_case.result != Result::valid) {
    golden_case.fault = reader[reader.Has("fault") ? "fault" : "dialect"].Text();
    golden_case.cause = reader["cause"].Text();
    golden_case.departure = DepartureFromJson(reader["departure"]);
  }

  const bool integers = golden_case.quantity == Quantity::buckets;
  for (const std::string& name : reader["dtypes"].Texts()) {
    golden_case.dtypes.push_back(reader["dtypes"].Located(
        [&] { return integers ? ParseDtype(name) : ParseFloatDtype("dtype", name); }));
  }
  reader["dtypes"].Demand(
      !golden_case.dtypes.empty() &&
          std::ranges::adjacent_find(golden_case.dtypes, std::ranges::greater_equal()) ==
              golden_case.dtypes.end(),
      "must be some of f64, f32, bf16, f16, f8e4m3, f8e5m2 in this order, got {}",
      fmt::join(reader["dtypes"].Texts(), ", "));

  const JsonReader inputs = reader["inputs"];
  const std::vector<std::string> names = InputsOf(scheme, golden_case.quantity);
  inputs.Keys(names);
  for (const std::string& name : names) {
    golden_case.inputs[name] = InputFromJson(inputs[name], InputTensor(golden_case, name), payload);
  }
  inputs.Located([&] { CheckInputs(scheme, golden_case); });

  const JsonReader outputs = reader["outputs"];
  outputs.Keys(OutputsOf(scheme, golden_case.quantity));
  std::vector<std::string> keys = {"shape"};
  for (Dtype dtype : golden_case.dtypes) keys.emplace_back(Name(dtype));
  const std::vector<int64_t> shape = OutputShape(scheme, golden_case);
  bool undecided = false;
  for (const std::string& name : OutputsOf(scheme, golden_case.quantity)) {
    outputs[name].Keys(keys);
    const std::vector<int64_t> stored = outputs[name]["shape"].Counts();
    outputs[name]["shape"].Demand(stored == shape, "must be [{}], got [{}]", fmt::join(shape, ", "),
                                  fmt::join(stored, ", "));
    for (Dtype dtype : golden_case.dtypes) {
      const Rounding& rounding = golden_case.outputs[name][dtype] = RoundingFromJson(
          outputs[name][std::string(Name(dtype))], golden_case, name, dtype, shape, payload);
      undecided = undecided || rounding.proof.undecided > 0;
    }
  }
  const bool flagged =
      std::ranges::find(golden_case.flags, kUndecidedFlag) != golden_case.flags.end();
  reader["flags"].Demand(flagged == undecided, "must have {} exactly where some value is undecided",
                         kUndecidedFlag);
  return golden_case;
}

// The parsed JSON of a manifest whose outermost object is right.
json ParseManifest(const std::string& text, const std::string& path) {
  json value = ParseJson(text, path);
  const JsonReader reader(value, path);
  reader.Demand(value.is_object() && value.contains("format") && value["format"] == kFormatName,
                "must be an object with \"format\": \"{}\"", kFormatName);
  reader.Demand(value.contains("schema_version") && value["schema_version"] == kSchemaVersion,
                "must have \"schema_version\": {}; this program reads no other", kSchemaVersion);
  reader.Keys({"format", "schema_version", "generator", "comment", "source", "scheme", "notes",
               "payload", "proof", "cases"});
  const JsonReader payload = reader["payload"];
  payload.Keys({"file", "bytes", "sha256"});
  const std::string file = payload["file"].Text();
  payload["file"].Demand(
      std::ranges::any_of(kPayloadEndings,
                          [&](std::string_view ending) { return file.ends_with(ending); }) &&
          file.find('/') == std::string::npos && !file.starts_with('.') &&
          std::ranges::none_of(file, [](char c) { return (c >= 0 && c < ' ') || c == 127; }),
      "must be the name of a {} file in the manifest's folder, got {}",
      fmt::join(kPayloadEndings, " or "), Shown(file));
  const std::string hash = payload["sha256"].Text();
  payload["sha256"].Demand(
      hash.size() == 64 && hash.find_first_not_of("0123456789abcdef") == std::string::npos,
      "must be 64 lower-case hexadecimal digits, got {}", Shown(hash));
  return value;
}

}  // namespace

Manifest Decode(const Files& files, const std::string& path) {
  const json value = ParseManifest(files.manifest, path);
  const JsonReader reader(value, path);
  Manifest manifest;
  reader["generator"].Keys({"name", "version"});
  manifest.generator = reader["generator"]["name"].Text();
  manifest.version = reader["generator"]["version"].Text();
  manifest.comment = reader["comment"].Text();
  manifest.source = reader["source"].Text();
  const JsonReader scheme = reader["scheme"];
  manifest.scheme = scheme.Located([&] { return SchemeFromJson(scheme.value()); });
  scheme.Demand(json(ToJson(manifest.scheme)) == scheme.value(),
                "must give every field of {}, so that a reader needs no defaults",
                Name(manifest.scheme));
  manifest.notes = NotesFromJson(reader["notes"]);

  const JsonReader bytes = reader["payload"]["bytes"];
  bytes.Demand(bytes.Count() == static_cast<int64_t>(files.payload.size()),
               "is {}, but the payload has {}", bytes.Count(), files.payload.size());
  const std::string file = reader["payload"]["file"].Text();
  const std::string place = path + ": payload " + file;
  Safetensors content;
  if (file.ends_with(".npz")) {
    content.tensors = ParseNpz(files.payload, place);
  } else {
    content = ParseSafetensors(files.payload, place);
  }
  reader["payload"].Demand(content.metadata.empty(), "must not have metadata");
  Payload payload(std::move(content.tensors));

  std::set<std::string> ids, flags;
  ProofCounts proof;
  for (const JsonReader& case_reader : reader["cases"].List()) {
    Case golden_case = CaseFromJson(case_reader, manifest.scheme, manifest.notes, payload);
    case_reader["id"].Demand(ids.insert(golden_case.id).second, "must be unique, got {} again",
                             golden_case.id);
    flags.insert(golden_case.flags.begin(), golden_case.flags.end());
    proof.Merge(ProofOf(golden_case));
    manifest.cases.push_back(std::move(golden_case));
  }
  for (const auto& [flag, note] : manifest.notes) {
    reader["notes"].Demand(flags.contains(flag), "must not define {}, which no case has",
                           Shown(flag));
  }
  reader["proof"].Keys({"exact", "proven", "undecided", "max_bits"});
  reader["proof"].Demand(
      ProofFromJson(reader["proof"]) == proof,
      "must be what its cases add up to: {} exact, {} proven, {} undecided, {} bits", proof.exact,
      proof.proven, proof.undecided, proof.max_bits);
  for (const auto& [name, tensor] : payload.left()) {
    reader["payload"].Demand(false, "must not hold the tensor {}, which no case has", Shown(name));
  }
  return manifest;
}

std::string PayloadHash(const Files& files, const std::string& path) {
  return ParseManifest(files.manifest, path)["payload"]["sha256"].get<std::string>();
}

std::string PayloadEnding(const Files& files, const std::string& path) {
  const json value = ParseManifest(files.manifest, path);
  return std::filesystem::path(value["payload"]["file"].get<std::string>()).extension().string();
}

Files ReadFiles(const std::filesystem::path& manifest_path) {
  Files files;
  files.manifest = ReadFile(manifest_path, kMaxManifest);
  const json value = ParseManifest(files.manifest, manifest_path.string());
  files.payload = ReadFile(
      manifest_path.parent_path() / value["payload"]["file"].get<std::string>(), kMaxPayload);
  return files;
}

}  // namespace posgauge::golden
