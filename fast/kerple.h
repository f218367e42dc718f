#pragma once

#include <cmath>
#include <vector>

#include "posgauge/fast/bias.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/kerple.h"

namespace posgauge::kerple {

inline fast::RowsBy BiasRowsBy(const Params&) { return fast::RowsBy::distance; }

/// ln(1 + r2 D), or D^r2, in double: the library's for f64 (glibc: within an ulp), vectors for what
/// is rounded to f32 (fast/distance-inl.h).
template <class T>
void KernelRow(Kernel kernel, const double* offset, double r2, size_t count, double* out) {
  const bool log = kernel == Kernel::log;
  if constexpr (sizeof(T) == sizeof(float)) {
    (log ? fast::Log1pRow : fast::PowerRow)(offset, r2, count, out);
  } else {
    for (size_t j = 0; j < count; ++j) {
      const double distance = std::fabs(offset[j]);
      out[j] = log ? std::log1p(r2 * distance) : std::pow(distance, r2);
    }
  }
}

/// The product with r1 in double, too, and one rounding to T.
template <class T>
fast::FillBiasRow<T> FastBias(const Params& params, const fast::WeightValues<T>& weights,
                              int64_t head) {
  const auto of_head = [&](const char* name) -> double {
    return weights.find(name)->second[static_cast<size_t>(head)];
  };
  const double r1 = of_head("r1"), r2 = of_head("r2");
  return [kernel = params.kernel, r1, r2](const fast::BiasRow<T>& row) {
    std::vector<double> values(row.keys);
    KernelRow<T>(kernel, row.offset, r2, row.keys, values.data());
    for (size_t j = 0; j < row.keys; ++j) row.out[j] = static_cast<T>(0 - r1 * values[j]);
  };
}

/// exp(-w1 D^w2) of the weighted form, in double, and one rounding to T.
template <class T>
fast::FillBiasRow<T> FastFactors(const Params& params, const fast::WeightValues<T>& weights,
                                 int64_t head) {
  if (!params.weighted) return nullptr;
  const auto of_head = [&](const char* name) -> double {
    return weights.find(name)->second[static_cast<size_t>(head)];
  };
  const double w1 = of_head("w1"), w2 = of_head("w2");
  return [w1, w2](const fast::BiasRow<T>& row) {
    std::vector<double> values(row.keys);
    KernelRow<T>(Kernel::power, row.offset, w2, row.keys, values.data());
    for (size_t j = 0; j < row.keys; ++j) row.out[j] = static_cast<T>(std::exp(-w1 * values[j]));
  };
}

}  // namespace posgauge::kerple
