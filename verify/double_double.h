#pragma once

#include <cmath>

#include "posgauge/schemes/base/double_double.h"

namespace posgauge {

// Sums and products of unevaluated pairs, for measuring errors: relative error below 2^-100 of the
// larger operand. fast/ has its own arithmetic; the two share nothing but the struct.

inline DoubleDouble TwoSum(double a, double b) {
  const double sum = a + b, b_rounded = sum - a;
  return {sum, (a - (sum - b_rounded)) + (b - b_rounded)};
}

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = TwoSum(a.high, b.high);
  return TwoSum(high.high, high.low + (a.low + b.low));
}

inline DoubleDouble operator-(DoubleDouble a) { return {-a.high, -a.low}; }
inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }

inline DoubleDouble operator*(DoubleDouble a, double b) {
  const double product = a.high * b;
  return TwoSum(product, std::fma(a.high, b, -product) + a.low * b);
}

inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const double product = a.high * b.high;
  return TwoSum(product, std::fma(a.high, b.high, -product) + (a.high * b.low + a.low * b.high));
}

}  // namespace posgauge
