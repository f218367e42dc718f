// A manifest to the bytes of its two files. docs/golden-format.md describes them.
#include "posgauge/golden/manifest.h"
#include "posgauge/golden/notes.h"
#include "posgauge/golden/pretty_json.h"
#include "posgauge/golden/sha256.h"
#include "posgauge/golden/tensor_name.h"
#include "posgauge/verify/npz.h"
#include "posgauge/verify/safetensors.h"

namespace posgauge::golden {

namespace {

using nlohmann::ordered_json;

ordered_json ProofToJson(const ProofCounts& proof) {
  return {{"exact", proof.exact},
          {"proven", proof.proven},
          {"undecided", proof.undecided},
          {"max_bits", proof.max_bits}};
}

ordered_json InputToJson(const Tensor& tensor) {
  ordered_json object;
  object["shape"] = tensor.shape();
  if (tensor.size() <= kMostInlineValues) {
    object["values"] = ordered_json::array();
    for (double value : tensor.Values()) object["values"].push_back(NumberToJson(value));
  }
  return object;
}

ordered_json CaseToJson(const Scheme& scheme, const Case& golden_case) {
  ordered_json object;
  object["id"] = golden_case.id;
  object["quantity"] = std::string(VariantName(golden_case.quantity));
  object["comment"] = golden_case.comment;
  object["flags"] = golden_case.flags;
  object["result"] = std::string(VariantName(golden_case.result));
  if (golden_case.result != Result::valid) {
    object[golden_case.result == Result::invalid ? "fault" : "dialect"] = golden_case.fault;
    object["cause"] = golden_case.cause;
    object["departure"] = DepartureToJson(golden_case.departure);
  }
  object["dtypes"] = ordered_json::array();
  for (Dtype dtype : golden_case.dtypes) object["dtypes"].push_back(std::string(Name(dtype)));
  object["inputs"] = ordered_json::object();
  for (const std::string& name : InputsOf(scheme, golden_case.quantity)) {
    object["inputs"][name] = InputToJson(golden_case.inputs.at(name));
  }
  object["outputs"] = ordered_json::object();
  for (const auto& [name, roundings] : golden_case.outputs) {
    ordered_json& output = object["outputs"][name];
    output["shape"] = roundings.begin()->second.values.shape();
    for (const auto& [dtype, rounding] : roundings) {
      ordered_json& entry = output[std::string(Name(dtype))] = ProofToJson(rounding.proof);
      if (rounding.midpoint) entry["midpoint"] = NumberToJson(*rounding.midpoint);
      if (!rounding.undecided.empty()) entry["undecided_values"] = rounding.undecided;
    }
  }
  return object;
}

}  // namespace

Files Encode(const Manifest& manifest, const std::string& payload_file) {
  Safetensors payload;
  ProofCounts proof;
  ordered_json cases = ordered_json::array();
  for (const Case& golden_case : manifest.cases) {
    for (const auto& [name, tensor] : golden_case.inputs) {
      payload.tensors[InputTensor(golden_case, name)] = tensor;
    }
    for (const auto& [name, roundings] : golden_case.outputs) {
      for (const auto& [dtype, rounding] : roundings) {
        payload.tensors[ValuesTensor(golden_case, name, dtype)] = rounding.values;
        if (HasDistances(dtype)) {
          payload.tensors[DistancesTensor(golden_case, name, dtype)] = rounding.distances;
        }
        proof.Merge(rounding.proof);
      }
    }
    cases.push_back(CaseToJson(manifest.scheme, golden_case));
  }

  Files files;
  files.payload = payload_file.ends_with(".npz") ? SerializeNpz(payload.tensors)
                                                 : SerializeSafetensors(payload);
  ordered_json object;
  object["format"] = std::string(kFormatName);
  object["schema_version"] = kSchemaVersion;
  object["generator"] = {{"name", manifest.generator}, {"version", manifest.version}};
  object["comment"] = manifest.comment;
  object["source"] = manifest.source;
  object["scheme"] = ToJson(manifest.scheme);
  object["notes"] = NotesToJson(manifest.notes);
  object["payload"] = {
      {"file", payload_file}, {"bytes", files.payload.size()}, {"sha256", Sha256(files.payload)}};
  object["proof"] = ProofToJson(proof);
  object["cases"] = std::move(cases);
  files.manifest = PrettyJson(object);
  return files;
}

}  // namespace posgauge::golden
