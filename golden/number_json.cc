#include "posgauge/golden/number_json.h"

#include <cmath>
#include <cstdlib>

#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::golden {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json NumberToJson(double value) {
  const bool integer = std::trunc(value) == value && std::fabs(value) <= 0x1p53;
  if (integer && !(value == 0 && std::signbit(value))) return static_cast<int64_t>(value);
  return HexFloat(value);
}

double NumberFromJson(const json& value, const std::string& what) {
  if (value.is_number_integer()) {
    constexpr int64_t kLargest = int64_t{1} << 53;
    const bool fits = value.is_number_unsigned() ? value.get<uint64_t>() <= uint64_t{kLargest}
                                                 : value.get<int64_t>() >= -kLargest;
    Require(fits, "{} must be a hex float beyond 2^53, got {}", what, value.dump());
    return value.get<double>();
  }
  if (value.is_number()) return value.get<double>();
  Require(value.is_string(), "{} must be a number or a hex float as text, got {}", what,
          value.dump());
  const auto text = value.get<std::string>();
  const std::string_view unsigned_text = std::string_view(text).substr(text.starts_with('-'));
  const bool known = unsigned_text.starts_with("0x") || unsigned_text == "inf" || text == "nan";
  char* end = nullptr;
  const double number = known ? std::strtod(text.c_str(), &end) : 0;
  Require(known && end == text.c_str() + text.size(),
          "{} must be a hex float such as \"0x1.8p-3\", got {}", what, value.dump());
  return number;
}

}  // namespace posgauge::golden
