#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace posgauge::golden {

/// The text of golden/manifest.schema.json, as it was when this was built.
std::string_view ManifestSchema();

/// Where a manifest does not fit the schema, first by first: "cases[3].result: ..."; nothing where
/// it fits.
std::optional<std::string> SchemaViolation(const nlohmann::json& manifest);

}  // namespace posgauge::golden
