#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "posgauge/schemes/base/double_double.h"

namespace posgauge::fast {

/// A real number as an unevaluated sum of two doubles, with the arithmetic that forming frequencies
/// takes. Relative errors in units of u^2 = 2^-106, proven by Joldes, Muller, Popescu, "Tight and
/// rigorous error bounds for basic building blocks of double-word arithmetic", ACM TOMS 44 (2017):
/// + and -: 3 (where no cancellation is compared with the operands' own errors), *: 5, /: 15.
/// No overflow or underflow: operands between 2^-400 and 2^400, or 0.
struct Wide {
  double high = 0, low = 0;

  Wide() = default;
  Wide(double value) : high(value) {}  // NOLINT(google-explicit-constructor): a number is a number
  Wide(double h, double l) : high(h), low(l) {}

  explicit operator DoubleDouble() const { return {high, low}; }
};

/// The exact sum of two doubles (Moller, Knuth).
inline Wide TwoSum(double a, double b) {
  const double sum = a + b;
  const double b_rounded = sum - a;
  return {sum, (a - (sum - b_rounded)) + (b - b_rounded)};
}

/// The same for |a| >= |b| (Dekker).
inline Wide FastTwoSum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

inline Wide operator-(Wide a) { return {-a.high, -a.low}; }

// AccurateDWPlusDW.
inline Wide operator+(Wide a, Wide b) {
  const Wide high = TwoSum(a.high, b.high), low = TwoSum(a.low, b.low);
  const Wide partial = FastTwoSum(high.high, high.low + low.high);
  return FastTwoSum(partial.high, partial.low + low.low);
}
inline Wide operator-(Wide a, Wide b) { return a + -b; }

// DWTimesDW3.
inline Wide operator*(Wide a, Wide b) {
  const double product = a.high * b.high;
  const double error = std::fma(a.high, b.high, -product);
  const double cross = std::fma(a.high, b.low, std::fma(a.low, b.high, a.low * b.low));
  return FastTwoSum(product, error + cross);
}

// DWDivDW2.
inline Wide operator/(Wide a, Wide b) {
  const double quotient = a.high / b.high;
  const Wide product = Wide(quotient) * b;
  const double rest = (a.high - product.high) + (a.low - product.low);
  return FastTwoSum(quotient, rest / b.high);
}

inline bool operator<(Wide a, Wide b) {
  return a.high < b.high || (a.high == b.high && a.low < b.low);
}

/// Natural logarithm, x > 0: relative error at most 2^-100, near 1 too.
Wide Log(Wide x);

/// |x| <= 300: relative error at most (32 + 6 |x|) 2^-106.
Wide Exp(Wide x);

/// The nearest integer not above, not below: exact for the two doubles given.
Wide Floor(Wide x);
Wide Ceil(Wide x);

/// Rounded once to T, float or double, where the result is normal. The odd neighbour of an inexact
/// double carries the rest as a sticky bit, so that rounding it to float is rounding the sum.
template <class T>
T RoundedTo(Wide x) {
  if (sizeof(T) == sizeof(double)) return static_cast<T>(x.high + x.low);
  const bool even = (std::bit_cast<uint64_t>(x.high) & 1) == 0;
  const double sticky =
      x.low != 0 && even ? std::nextafter(x.high, x.low > 0 ? HUGE_VAL : -HUGE_VAL) : x.high;
  return static_cast<T>(sticky);
}

/// pi, to 2^-107 relative.
inline const Wide kPi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

}  // namespace posgauge::fast
