#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

/// The spellings of a variant, in the order of its enumerators. Specialise for every enum that is a
/// field: `template <> inline constexpr auto kVariantNames<Pairing> = std::array{...}`.
template <class Enum>
inline constexpr std::array<std::string_view, 0> kVariantNames = {};

template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::string_view VariantName(Enum variant) {
  return kVariantNames<Enum>[static_cast<size_t>(variant)];
}

/// A value as one short line for messages; what is long or nested is only named ("a list").
std::string Shown(const nlohmann::json& json);

/// Throws ParameterError that lists the spellings.
template <class Enum>
Enum ParseVariant(std::string_view field, std::string_view name) {
  constexpr auto& names = kVariantNames<Enum>;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw ParameterError(
      fmt::format("{} must be one of {}, got {}", field, fmt::join(names, ", "), Shown(name)));
}

/// Number and JSON conversions of one field value; a number means its nearest binary64. They throw
/// ParameterError that begins with `field` when the value has the wrong type or is not finite.
void FromJson(std::string_view field, const nlohmann::json& json, double& value);
void FromJson(std::string_view field, const nlohmann::json& json, int64_t& value);
void FromJson(std::string_view field, const nlohmann::json& json, bool& value);
void FromJson(std::string_view field, const nlohmann::json& json, std::string& value);

template <class Value>
void FromJson(std::string_view field, const nlohmann::json& json, std::vector<Value>& value) {
  Require(json.is_array(), "{} must be a list of {}, got {}", field,
          std::is_integral_v<Value> ? "integers" : "numbers", Shown(json));
  value.resize(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    FromJson(fmt::format("{}[{}]", field, i), json[i], value[i]);
  }
}

template <class Enum>
requires std::is_enum_v<Enum>
void FromJson(std::string_view field, const nlohmann::json& json, Enum& value) {
  Require(json.is_string(), "{} must be one of {}, got {}", field,
          fmt::join(kVariantNames<Enum>, ", "), Shown(json));
  value = ParseVariant<Enum>(field, json.get_ref<const std::string&>());
}

template <class Value>
void FromJson(std::string_view field, const nlohmann::json& json, std::optional<Value>& value) {
  if (json.is_null()) {
    value.reset();
  } else {
    FromJson(field, json, value.emplace());
  }
}

template <class Value>
nlohmann::ordered_json ToJson(const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return std::string(VariantName(value));
  } else {
    return value;
  }
}

template <class Value>
nlohmann::ordered_json ToJson(const std::optional<Value>& value) {
  return value ? ToJson(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace posgauge
