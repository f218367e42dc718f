#include "posgauge/schemes/base/fields.h"

#include <cmath>

namespace posgauge {

void FromJson(std::string_view field, const nlohmann::json& json, double& value) {
  Require(json.is_number(), "{} must be a number, got {}", field, json.dump());
  value = json.get<double>();
  Require(std::isfinite(value), "{} must be finite, got {}", field, json.dump());
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
          json.dump());
  value = static_cast<int64_t>(json.get<double>());
}

void FromJson(std::string_view field, const nlohmann::json& json, bool& value) {
  Require(json.is_boolean(), "{} must be true or false, got {}", field, json.dump());
  value = json.get<bool>();
}

void FromJson(std::string_view field, const nlohmann::json& json, std::vector<double>& value) {
  Require(json.is_array(), "{} must be a list of numbers, got {}", field, json.dump());
  value.resize(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    FromJson(fmt::format("{}[{}]", field, i), json[i], value[i]);
  }
}

}  // namespace posgauge
