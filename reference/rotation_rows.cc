#include "posgauge/reference/rotation_rows.h"

#include <cmath>
#include <utility>

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
HWY_EXPORT(RoundRowNarrow);
HWY_EXPORT(RoundProductNarrow);

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

void RoundRow(const RotationRow& row, double radius, int exponent, Dtype dtype, void* cos,
              void* sin, std::vector<int64_t>* undecided) {
  const auto stride = static_cast<size_t>(row.stride);
  for (const auto& [first, out] : {std::pair(size_t{0}, cos), std::pair(stride, sin)}) {
    if (dtype == Dtype::f64) {
      HWY_DYNAMIC_DISPATCH(RoundRowWide)
      (row.high.data() + first, row.low.data() + first, stride,
       radius + std::ldexp(kSumRadius, exponent), static_cast<double*>(out), first, undecided);
    } else {
      HWY_DYNAMIC_DISPATCH(RoundRowNarrow)
      (row.high.data() + first, stride, std::ldexp(kHighRadius, exponent), dtype, out, first,
       undecided);
    }
  }
}

void RoundProduct(const RotationRow& a, const RotationRow& b, Dtype dtype, void* cos, void* sin,
                  std::vector<int64_t>* undecided) {
  HWY_DYNAMIC_DISPATCH(RoundProductNarrow)
  (a.high.data(), b.high.data(), static_cast<size_t>(a.stride), kHighProductRadius, dtype, cos, sin,
   undecided);
}

}  // namespace posgauge

#endif  // HWY_ONCE
