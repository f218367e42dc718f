#pragma once

#include <ios>
#include <string>

#include "posgauge/reference/interval.h"
#include "posgauge/schemes/base/double_double.h"

namespace posgauge {

/// The leading decimal digits of a number without point, exponent and zeros in front, truncated:
/// what a printed constant is compared with. "4359" for -0.0004359...
inline std::string Digits(const Real<38>& value, size_t count) {
  // Far more than are asked for, so that rounding the last of them shows in none that is.
  const std::string text =
      value.str(static_cast<std::streamsize>(count) + 10, std::ios::scientific);
  std::string digits;
  for (const char c : text.substr(0, text.find('e'))) {
    if (c >= '0' && c <= '9') digits += c;
  }
  return digits.substr(0, count);
}

inline Real<38> Sum(DoubleDouble value) { return Real<38>(value.high) + Real<38>(value.low); }

/// Digits of a sum of two doubles, as many as `printed` has, where `printed` is the constant in any
/// notation: "-.8173161500238642727854" or "1.1547819846894581796664828e-4".
inline std::string DigitsLike(const std::string& printed, DoubleDouble value) {
  const std::string digits = printed.substr(0, printed.find('e'));
  size_t count = 0;
  bool leading = true;
  for (const char c : digits) {
    leading = leading && (c < '1' || c > '9');
    if (!leading && c >= '0' && c <= '9') ++count;
  }
  return Digits(Sum(value), count);
}

/// The digits of a printed constant alone.
inline std::string DigitsOf(const std::string& printed) {
  std::string digits;
  for (const char c : printed.substr(0, printed.find('e'))) {
    if (c >= '1' && c <= '9') digits += c;
    if (c == '0' && !digits.empty()) digits += c;
  }
  return digits;
}

/// Digits of a sum of two doubles, rounded to as many as `printed` has.
inline std::string RoundedLike(const std::string& printed, DoubleDouble value) {
  const auto digits = static_cast<std::streamsize>(DigitsOf(printed).size());
  const std::string text =
      boost::multiprecision::abs(Sum(value)).str(digits - 1, std::ios::scientific);
  return DigitsOf(text);
}

}  // namespace posgauge
