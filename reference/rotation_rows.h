#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "posgauge/schemes/base/double_double.h"
#include "posgauge/schemes/base/dtype.h"

namespace posgauge {

// Rows of (cos, sin) in double-double, and the vector loops over them that make proven tables
// cheap: a row at p = a + b is the complex product of the rows at a and b. Highway's targets all
// compute the same bits up to fused multiply-adds, for which the bounds hold either way.
//
// The bounds are derived in exact rationals by tests/rotation_bounds.py, which reads these
// constants and asserts them.

/// |high + low - real value| of a row made from intervals: half an ulp of a low part of at most
/// 2^-54, and the interval's own radius, at most 2^-118.
inline constexpr double kRowRadius = 0x1.01p-108;

/// The same after so many products, all parts of at most 1 in magnitude.
inline constexpr double kProductRadius[] = {kRowRadius, 0x1p-102, 0x1.6p-101, 0x1p-99};

/// What forming low -+ radius may add to a radius.
inline constexpr double kSumRadius = 0x1p-106;

/// The distance of the real value from the high part alone, with what RoundRow's own roundings add.
inline constexpr double kHighRadius = 0x1p-52;

/// One row: every pair's cos and sin of one angle. `high` and `low` hold `stride` cosines, then
/// `stride` sines; stride is the number of pairs rounded up to whole vectors, the rest 0.
/// |low| <= ulp(high) / 2.
struct RotationRow {
  explicit RotationRow(int64_t pairs);

  int64_t stride;
  std::vector<double> high, low;

  DoubleDouble Cos(int64_t pair) const { return At(pair); }
  DoubleDouble Sin(int64_t pair) const { return At(stride + pair); }

 private:
  DoubleDouble At(int64_t index) const {
    return {high[static_cast<size_t>(index)], low[static_cast<size_t>(index)]};
  }
};

/// The row at the sum of two angles. `product` may not be one of the factors.
void Multiply(const RotationRow& a, const RotationRow& b, RotationRow* product);

/// Every entry times an exact factor, |factor| <= 2^exponent: the radius r of a row of entries up
/// to 1 becomes 2^exponent (r + kScaleRadius).
void Scale(DoubleDouble factor, RotationRow* row);
inline constexpr double kScaleRadius = 0x1p-104;

/// Rounds high + low, known to `radius`, to the dtype and writes the bits, `stride` elements of
/// SizeOf(dtype) bytes each to cos and sin. Appends the indices (cosines from 0, sines from stride)
/// of the entries whose rounding the radius does not prove, signs of zero included; what is written
/// for them means nothing. Entries are at most 2^exponent in magnitude. Requires 2^exponent and all
/// that it may round to be finite in the dtype.
void RoundRow(const RotationRow& row, double radius, int exponent, Dtype dtype, void* cos,
              void* sin, std::vector<int64_t>* undecided);

/// The same for the product of two rows to any dtype but f64, and
/// several times as fast: the high parts alone decide all but a few of 10^8 entries.
void RoundProduct(const RotationRow& a, const RotationRow& b, Dtype dtype, void* cos, void* sin,
                  std::vector<int64_t>* undecided);
inline constexpr double kHighProductRadius = 0x1.8p-51;

}  // namespace posgauge
