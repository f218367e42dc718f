#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace posgauge {

/// Deeper nesting than this is an attack, not a header, a manifest or a plan.
inline constexpr size_t kMaxJsonDepth = 32;

/// Parses one JSON text. Throws FormatError that begins with `path`:
/// syntax (with the byte), invalid UTF-8, a number beyond binary64, the same key twice in one
/// object, nesting beyond kMaxJsonDepth.
nlohmann::json ParseStrictJson(std::string_view text, const std::string& path);

/// The value as one line of ASCII for a message, cut to a readable length.
std::string Excerpt(const nlohmann::json& json);

}  // namespace posgauge
