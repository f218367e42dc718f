#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace posgauge::golden {

/// JSON for files that people read and diff: two spaces a level; a list of plain values, and an
/// object of plain values and such lists that fits in 120 columns, stays on its line. Ends with a
/// newline. Throws ParameterError on text that is not UTF-8.
std::string PrettyJson(const nlohmann::ordered_json& json);

}  // namespace posgauge::golden
