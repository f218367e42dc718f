#include "posgauge/reference/rotation_rows.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "posgauge/reference/rotation_rows.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "posgauge/reference/rotation_rows-inl.h"

#if HWY_ONCE

namespace posgauge {

HWY_EXPORT(MultiplyRows);
HWY_EXPORT(ScaleRows);
HWY_EXPORT(RoundRowWide);
HWY_EXPORT(RoundRowToF32);
HWY_EXPORT(RoundRowTo16);
HWY_EXPORT(RoundRowTo8);

RotationRow::RotationRow(int64_t pairs)
    : stride((pairs + 7) / 8 * 8),
      high(static_cast<size_t>(2 * stride)),
      low(static_cast<size_t>(2 * stride)) {}

void Multiply(const RotationRow& a, const RotationRow& b, RotationRow* product) {
  HWY_DYNAMIC_DISPATCH(MultiplyRows)
  (a.high.data(), a.low.data(), b.high.data(), b.low.data(), static_cast<size_t>(a.stride),
   product->high.data(), product->low.data());
}

void Scale(DoubleDouble factor, RotationRow* row) {
  HWY_DYNAMIC_DISPATCH(ScaleRows)(factor, row->high.size(), row->high.data(), row->low.data());
}

void RoundRow(const RotationRow& row, double radius, int exponent, Dtype dtype, void* bits,
              std::vector<int64_t>* undecided) {
  const double* high = row.high.data();
  const size_t count = row.high.size();
  const Format format = FormatOf(dtype);
  const double high_radius = std::ldexp(kHighRadius, exponent);
  switch (SizeOf(dtype)) {
    case 8:
      HWY_DYNAMIC_DISPATCH(RoundRowWide)
      (high, row.low.data(), count, radius + std::ldexp(kSumRadius, exponent),
       static_cast<double*>(bits), undecided);
      return;
    case 4:
      HWY_DYNAMIC_DISPATCH(RoundRowToF32)
      (high, count, high_radius, format, static_cast<float*>(bits), undecided);
      return;
    case 2:
      HWY_DYNAMIC_DISPATCH(RoundRowTo16)
      (high, count, high_radius, format, static_cast<uint16_t*>(bits), undecided);
      return;
    default:
      HWY_DYNAMIC_DISPATCH(RoundRowTo8)
      (high, count, high_radius, format, static_cast<uint8_t*>(bits), undecided);
  }
}

}  // namespace posgauge

#endif  // HWY_ONCE
