#include "posgauge/verify/case_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "posgauge/reference/exact_equations.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/verify/tensor_file.h"

namespace posgauge {

namespace {
constexpr char kMetadata[] = "posgauge_case";
constexpr std::array<std::string_view, 3> kOfRotations = {"table", "rotate", "rotate_backward"};
constexpr std::array<std::string_view, 2> kOfAdditions = {"table", "embed"};

// An npz file has its metadata as a tensor of bytes.
Safetensors WithMetadata(Safetensors content) {
  const auto at = content.tensors.find(kMetadata);
  if (at == content.tensors.end() || at->second.dtype() != Dtype::u8) return content;
  const std::span<const std::byte> bytes = at->second.bytes();
  content.metadata[kMetadata].assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  content.tensors.erase(at);
  return content;
}

}  // namespace

bool IsCaseFile(const std::filesystem::path& path) {
  return WithMetadata(ReadTensorFile(path)).metadata.contains(kMetadata);
}

CaseFile CaseFromTensors(const Safetensors& tensors, const std::string& path) {
  const Safetensors content = WithMetadata(tensors);
  const auto refuse = [&](const std::string& why) {
    throw FormatError(fmt::format("{}: {}", path, why));
  };
  const auto metadata = content.metadata.find(kMetadata);
  if (metadata == content.metadata.end()) {
    refuse(fmt::format("is no case file: its metadata has no {}", kMetadata));
  }
  CaseFile file;
  const nlohmann::json json = ParseJson(metadata->second, fmt::format("{}: {}", path, kMetadata));
  if (!json.is_object() || !json.contains("scheme") || !json.contains("quantity") ||
      !json["quantity"].is_string()) {
    refuse(fmt::format("{} must hold a scheme and a quantity", kMetadata));
  }
  try {
    file.scheme = SchemeFromJson(json["scheme"]);
  } catch (const ParameterError& error) {
    refuse(error.what());
  }
  file.quantity = json["quantity"].get<std::string>();
  if (HasEquations(file.scheme)) {
    const auto& names = kVariantNames<EquationQuantity>;
    const auto at = std::ranges::find(names, file.quantity);
    if (at == names.end()) {
      refuse(fmt::format("quantity must be one of {}, got {}", fmt::join(names, ", "),
                         Shown(file.quantity)));
    }
    for (const auto& [name, tensor] : content.tensors) {
      if (std::ranges::any_of(name, [](char c) { return c >= 0 && c < ' '; })) {
        refuse(fmt::format("no input has the name {}", Shown(name)));
      }
      file.inputs.tensors[name] = {tensor.shape(), tensor.Values()};
    }
    try {
      ExactEquations(file.scheme)
          .CheckInputs(static_cast<EquationQuantity>(at - names.begin()), file.inputs);
    } catch (const ParameterError& error) {
      refuse(error.what());
    }
    return file;
  }
  const bool rotary = IsRotary(file.scheme);
  const std::span<const std::string_view> quantities =
      rotary ? std::span<const std::string_view>(kOfRotations) : kOfAdditions;
  if (std::ranges::find(quantities, file.quantity) == quantities.end()) {
    refuse(fmt::format("quantity must be one of {}, got {}", fmt::join(quantities, ", "),
                       Shown(file.quantity)));
  }
  const auto positions = content.tensors.find("positions");
  const int64_t axes = AxesOf(file.scheme).count;
  const auto fits = [&](const std::vector<int64_t>& shape) {
    return axes == 1 ? shape.size() == 1 : shape.size() == 2 && shape[1] == axes;
  };
  if (positions == content.tensors.end() || !fits(positions->second.shape())) {
    refuse(axes == 1 ? "needs a tensor positions of one axis"
                     : fmt::format("needs a tensor positions [tokens, {}]", axes));
  }
  file.positions = positions->second.Values();
  if (!std::ranges::all_of(file.positions, [](double p) { return std::isfinite(p); })) {
    refuse("positions must be finite");
  }
  if (file.quantity == "table") return file;
  const auto x = content.tensors.find("x");
  if (x == content.tensors.end()) refuse("needs a tensor x");
  file.x = x->second;
  const auto& shape = file.x.shape();
  const auto tokens = static_cast<int64_t>(file.positions.size()) / axes;
  const int64_t width = rotary ? RotaryOf(file.scheme).head_dim : WidthOf(file.scheme);
  if (!IsFloat(file.x.dtype()) || shape.size() != (rotary ? 3 : 2) || shape[0] != tokens ||
      shape.back() != width) {
    refuse(fmt::format("x must be a floating tensor [{}, {}{}]", tokens, rotary ? "heads, " : "",
                       width));
  }
  return file;
}

CaseFile ReadCaseFile(const std::filesystem::path& path) {
  return CaseFromTensors(ReadTensorFile(path), path.string());
}

Safetensors TensorsOfCase(const CaseFile& case_file) {
  Safetensors content;
  const nlohmann::ordered_json json = {{"scheme", ToJson(case_file.scheme)},
                                       {"quantity", case_file.quantity}};
  content.metadata[kMetadata] = json.dump();
  for (const auto& [name, tensor] : case_file.inputs.tensors) {
    content.tensors[name] = Tensor::FromValues(Dtype::f64, tensor.shape, tensor.values);
  }
  if (HasEquations(case_file.scheme)) return content;
  const int64_t axes = AxesOf(case_file.scheme).count;
  std::vector<int64_t> shape = {static_cast<int64_t>(case_file.positions.size()) / axes};
  if (axes > 1) shape.push_back(axes);
  content.tensors["positions"] = Tensor::FromValues(Dtype::f64, shape, case_file.positions);
  if (case_file.quantity != "table") content.tensors["x"] = case_file.x;
  return content;
}

void WriteCaseFile(const std::filesystem::path& path, const CaseFile& case_file) {
  WriteTensorFile(path, TensorsOfCase(case_file));
}

}  // namespace posgauge
