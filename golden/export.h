#pragma once

#include <map>
#include <string>
#include <vector>

#include "posgauge/golden/corpus.h"

namespace posgauge::golden {

/// Forms that a corpus is handed on in; docs/golden-format.md describes each.
enum class ExportFormat { safetensors, npz, json, onnx, c, cpp, rust };

/// Paths within the folder and bytes of each file; the same cases give the same bytes. Throws
/// ParameterError: two manifests of one name, too many values for JSON.
std::map<std::string, std::string> Export(const std::vector<PlacedManifest>& corpus,
                                          ExportFormat format);

}  // namespace posgauge::golden

namespace posgauge {
template <>
inline constexpr auto kVariantNames<golden::ExportFormat> =
    std::array<std::string_view, 7>{"safetensors", "npz", "json", "onnx", "c", "cpp", "rust"};
}  // namespace posgauge
