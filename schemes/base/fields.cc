#include "posgauge/schemes/base/fields.h"

#include <cmath>

namespace posgauge {

std::string Shown(const nlohmann::json& json) {
  // Never dumped: dump() recurses, and a value from outside may be nested deeper than the stack.
  if (json.is_array()) return "a list";
  if (json.is_object()) return "an object";
  if (json.is_number_float() && !std::isfinite(json.get<double>())) {
    return fmt::format("{}", json.get<double>());
  }
  constexpr size_t kLongest = 60;
  std::string text =
      json.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

void FromJson(std::string_view field, const nlohmann::json& json, double& value) {
  const bool finite = json.is_number() && std::isfinite(json.get<double>());
  Require(finite, "{} must be a finite number, got {}", field, Shown(json));
  value = json.get<double>();
}

void FromJson(std::string_view field, const nlohmann::json& json, int64_t& value) {
  if (json.is_number_integer() &&
      !(json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX})) {
    value = json.get<int64_t>();
    return;
  }
  // Published configs write integers as 4096.0 now and then; 2^53 is where that stops being exact.
  const bool whole = json.is_number_float() && std::trunc(json.get<double>()) == json.get<double>();
  Require(whole && std::fabs(json.get<double>()) <= 0x1p53, "{} must be an integer, got {}", field,
          Shown(json));
  value = static_cast<int64_t>(json.get<double>());
}

void FromJson(std::string_view field, const nlohmann::json& json, bool& value) {
  Require(json.is_boolean(), "{} must be true or false, got {}", field, Shown(json));
  value = json.get<bool>();
}

void FromJson(std::string_view field, const nlohmann::json& json, std::string& value) {
  Require(json.is_string(), "{} must be a string, got {}", field, Shown(json));
  value = json.get_ref<const std::string&>();
}

}  // namespace posgauge
