#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace posgauge::golden {

/// A number of an input as JSON: an integer up to 2^53 as such, anything else as a hex float
/// ("0x1.8p-3", "-0x0p+0", "inf", "nan"), exact either way.
nlohmann::ordered_json NumberToJson(double value);

/// Inverse; other JSON numbers mean their nearest binary64. Throws ParameterError beginning with
/// `what`.
double NumberFromJson(const nlohmann::json& json, const std::string& what);

}  // namespace posgauge::golden
