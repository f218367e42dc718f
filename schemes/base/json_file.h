#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace posgauge {

/// Strict JSON (RFC 8259): no NaN, no infinity, no number outside binary64, no duplicate key in an
/// object (readers disagree on which one counts), nesting at most 64 deep. Throws FormatError, one
/// line: "config.json:3:14: ...", line and column counted from 1, the column in bytes.
nlohmann::json ParseJson(std::string_view text, const std::string& source);

/// ParseJson of a file of at most 16 MiB. Throws FileError as ReadFile does, and FormatError.
nlohmann::json ReadJson(const std::filesystem::path& path);

}  // namespace posgauge
