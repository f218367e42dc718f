#include "posgauge/verify/hex_float.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace posgauge {

std::string HexFloat(double value) {
  const char* sign = std::signbit(value) ? "-" : "";
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return fmt::format("{}inf", sign);
  if (value == 0) return fmt::format("{}0x0p+0", sign);
  int exponent = 0;
  const double significand = 2 * std::frexp(std::fabs(value), &exponent);  // in [1, 2)
  const auto fraction = static_cast<uint64_t>((significand - 1) * 0x1p52);
  std::string digits = fmt::format(".{:013x}", fraction);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits == ".") digits.clear();
  return fmt::format("{}0x1{}p{:+}", sign, digits, exponent - 1);
}

}  // namespace posgauge
