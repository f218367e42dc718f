#pragma once

#include <cmath>

#include "posgauge/schemes/base/double_double.h"

namespace posgauge {

/// a b exactly, where nothing overflows or leaves the normal range.
inline DoubleDouble TwoProduct(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

/// value * factor, off by less than kTimesRadius |value * factor|: the cross products and the sums
/// round terms of at most 2^-52 of it, and the product of the low parts, 2^-106 of it, is left out.
/// |low| <= ulp(high) for both.
inline DoubleDouble Times(DoubleDouble value, DoubleDouble factor) {
  const auto [product, error] = TwoProduct(value.high, factor.high);
  const double low = error + (value.high * factor.low + value.low * factor.high);
  const double high = product + low;
  return {high, (product - high) + low};
}
inline constexpr double kTimesRadius = 0x1p-102;

}  // namespace posgauge
