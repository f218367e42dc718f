#include "posgauge/golden/midpoint.h"

#include <algorithm>
#include <cmath>

namespace posgauge::golden {

namespace {

// Half of the gap from |value| towards zero, in ulp of value: the binade below a power of two is
// twice as fine, but that of the subnormal numbers.
double HalfGapBelow(Format format, double value) {
  int exponent = 0;
  const bool power = std::frexp(std::fabs(value), &exponent) == 0.5;
  return power && exponent - 1 > format.min_exponent ? 0.25 : 0.5;
}

// Rounded towards zero.
double EightBits(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::trunc(std::ldexp(fraction, 8)), exponent - 8);
}

}  // namespace

std::optional<double> SmallestMidpointDistance(const std::map<Dtype, Rounding>& output,
                                               Dtype dtype) {
  const auto wide = output.find(Dtype::f64);
  if (wide == output.end() || !IsFloat(dtype)) return std::nullopt;
  const Tensor& stored = output.at(dtype).values;
  const Format format = FormatOf(dtype);
  std::optional<double> smallest;
  for (size_t i = 0; i < stored.size(); ++i) {
    const double value = stored.Value(i), near = wide->second.values.Value(i);
    if (!std::isfinite(value) || !std::isfinite(near)) continue;
    // Of f64 itself in units of its ulp, half of which need not be a number.
    const bool same = dtype == Dtype::f64;
    const double unit = same ? 1 : Ulp(kFormats[0], near), ulp = same ? 1 : Ulp(format, value);
    const double rest = wide->second.distances.Value(i) * 0x1p-16 * unit;
    const double outwards = std::copysign(ulp, value);
    const double above = 0.5 * outwards, below = HalfGapBelow(format, value) * outwards;
    // From a midpoint to the real number. The stored value goes first, of which f64 leaves nothing;
    // the difference of two numbers this close is exact, and so is what a midpoint takes from it.
    const double offset = near - value;
    const double distance =
        std::min(std::fabs((offset - above) + rest), std::fabs((offset + below) + rest)) / ulp;
    smallest = std::min(smallest.value_or(distance), distance);
  }
  return smallest ? std::optional(EightBits(*smallest)) : std::nullopt;
}

}  // namespace posgauge::golden
