#include "posgauge/golden/export.h"

#include "posgauge/golden/export_onnx.h"
#include "posgauge/golden/export_source.h"
#include "posgauge/golden/pretty_json.h"
#include "posgauge/golden/tensor_name.h"
#include "posgauge/schemes/base/error.h"

namespace posgauge::golden {

namespace {

using nlohmann::ordered_json;
using ExportedFiles = std::map<std::string, std::string>;

// Text is eight times the size of what it says.
constexpr size_t kMostJsonValues = 1 << 20;

ordered_json Bits(const Tensor& tensor) {
  ordered_json bits = ordered_json::array();
  for (size_t i = 0; i < tensor.size(); ++i) {
    bits.push_back(fmt::format("{:0{}x}", tensor.Bits(i), 2 * SizeOf(tensor.dtype())));
  }
  return bits;
}

// The manifest with the bits of every tensor in place of a payload.
std::string AllJson(const PlacedManifest& placed) {
  const Manifest& manifest = placed.manifest;
  ordered_json object = ordered_json::parse(Encode(manifest, "x.safetensors").manifest);
  object["format"] = "posgauge-golden-json";
  object.erase("payload");
  size_t count = 0;
  for (size_t i = 0; i < manifest.cases.size(); ++i) {
    ordered_json& entry = object["cases"][i];
    for (const auto& [name, tensor] : manifest.cases[i].inputs) {
      entry["inputs"][name]["bits"] = Bits(tensor);
      count += tensor.size();
    }
    for (const auto& [name, roundings] : manifest.cases[i].outputs) {
      for (const auto& [dtype, rounding] : roundings) {
        ordered_json& output = entry["outputs"][name][std::string(Name(dtype))];
        output["bits"] = Bits(rounding.values);
        count += rounding.values.size();
        if (!HasDistances(dtype)) continue;
        for (double distance : rounding.distances.Values()) {
          output["distances"].push_back(static_cast<int64_t>(distance));
        }
      }
    }
  }
  Require(count <= kMostJsonValues,
          "{}: {} values are too many for JSON, at most {}; safetensors and npz take any number",
          placed.place, count, kMostJsonValues);
  return PrettyJson(object);
}

void AddPair(const PlacedManifest& placed, std::string_view ending, ExportedFiles& files) {
  const std::string stem = placed.place.substr(placed.place.rfind('/') + 1);
  Files pair = Encode(placed.manifest, stem + std::string(ending));
  files[placed.place + ".json"] = std::move(pair.manifest);
  files[placed.place + std::string(ending)] = std::move(pair.payload);
}

}  // namespace

ExportedFiles Export(const std::vector<PlacedManifest>& corpus, ExportFormat format) {
  ExportedFiles files;
  for (const PlacedManifest& placed : corpus) {
    const size_t before = files.size();
    switch (format) {
      case ExportFormat::safetensors:
        AddPair(placed, ".safetensors", files);
        break;
      case ExportFormat::npz:
        AddPair(placed, ".npz", files);
        break;
      case ExportFormat::json:
        files[placed.place + ".json"] = AllJson(placed);
        break;
      case ExportFormat::onnx:
        for (auto& [path, bytes] : OnnxTests(placed)) files[path] = std::move(bytes);
        continue;
      case ExportFormat::c:
        files[SourceName(placed) + ".h"] = CSource(placed);
        break;
      case ExportFormat::cpp:
        files[SourceName(placed) + ".h"] = CppSource(placed);
        break;
      case ExportFormat::rust:
        files[SourceName(placed) + ".rs"] = RustSource(placed);
        break;
    }
    Require(files.size() > before, "{}: another manifest has the same name in this format",
            placed.place);
  }
  return files;
}

}  // namespace posgauge::golden
