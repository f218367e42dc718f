#pragma once

#include <cmath>
#include <string>

#include "posgauge/verify/double_double.h"
#include "posgauge/verify/subject.h"
#include "posgauge/verify/verdict.h"

namespace posgauge {

/// Where one pair of channels of one head of one row stands in [rows, heads, head_dim].
struct PairPlace {
  size_t row;
  int64_t head, pair;
  size_t first, second;  // flat indices of its two channels
};

template <class Visit>
void ForEachPair(const Rotary& layout, const Tensor& x, Visit visit) {
  const auto rows = static_cast<size_t>(x.shape()[0]);
  const int64_t heads = x.shape()[1];
  for (size_t row = 0; row < rows; ++row) {
    for (int64_t head = 0; head < heads; ++head) {
      const size_t start = (row * static_cast<size_t>(heads) + static_cast<size_t>(head)) *
                           static_cast<size_t>(layout.head_dim);
      for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
        const auto [first, second] = layout.Channels(pair);
        visit(PairPlace{row, head, pair, start + static_cast<size_t>(first),
                        start + static_cast<size_t>(second)});
      }
    }
  }
}

/// The position that a pair counts: that of its row, on its axis where there are several.
inline double PositionOf(const Subject& subject, const std::vector<double>& positions, size_t row,
                         int64_t pair) {
  return subject.axes().At(positions, row, pair);
}
inline double PositionOf(const Subject& subject, const std::vector<double>& positions,
                         const PairPlace& place) {
  return PositionOf(subject, positions, place.row, place.pair);
}

/// The two numbers of a pair.
struct PairValue {
  double u = 0, v = 0;
};

inline PairValue At(const Tensor& x, const PairPlace& place) {
  return {x.Value(place.first), x.Value(place.second)};
}

inline bool IsFinite(PairValue value) { return std::isfinite(value.u) && std::isfinite(value.v); }

/// Euclidean norm, rounded up: hypot is within one ulp.
inline double Norm(PairValue value) { return std::hypot(value.u, value.v) * (1 + 0x1p-51); }

/// What the arithmetic of verify/double_double.h may add to a difference, relative to its operands.
inline constexpr double kMeasuringError = 0x1p-97;

/// |w - a v|, rounded down: fma and the subtraction of a's low part make two relative errors of
/// 2^-53 each, hypot one of 2^-52.
inline double Distance(PairValue w, DoubleDouble a, PairValue v) {
  const auto difference = [&](double to, double from) {
    return std::fma(-a.high, from, to) - a.low * from;
  };
  return std::hypot(difference(w.u, v.u), difference(w.v, v.v)) * (1 - 0x1p-50);
}

/// Sum of the products of the components.
inline DoubleDouble Dot(PairValue a, PairValue b) {
  return DoubleDouble{a.u, 0} * b.u + DoubleDouble{a.v, 0} * b.v;
}

/// Multiplied by 2^exponent.
inline PairValue Scaled(PairValue value, int exponent) {
  return {std::ldexp(value.u, exponent), std::ldexp(value.v, exponent)};
}

/// The binary exponent of the larger component; 0 for a pair of zeros.
inline int ExponentOf(PairValue value) {
  const double largest = std::max(std::fabs(value.u), std::fabs(value.v));
  return largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
}

/// "row 3, head 0, channels 3 and 67 (pair 3, wavelength 11.6 tokens)", and what stood there.
Witness WitnessAt(const Subject& subject, const PairPlace& place, PairValue got, PairValue want);

/// "pair 3, wavelength 11.6 tokens".
std::string NameOfPair(const Subject& subject, int64_t pair);

}  // namespace posgauge
