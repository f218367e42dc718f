#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "posgauge/fast/bias.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/fire.h"

namespace posgauge::fire {

/// The denominator goes by the query.
inline fast::RowsBy BiasRowsBy(const Params&) { return fast::RowsBy::query_and_key; }

/// ln(1 + c |x|) in double: the library's for f64 (glibc: within an ulp), vectors for what is
/// rounded to f32.
template <class T>
void PsiRow(const double* x, double c, size_t count, double* out) {
  if constexpr (sizeof(T) == sizeof(float)) {
    fast::Log1pRow(x, c, count, out);
  } else {
    for (size_t j = 0; j < count; ++j) out[j] = std::log1p(c * std::fabs(x[j]));
  }
}

/// All in double, rounded once to T: fast/distance-inl.h. Numerator and denominator are made by one
/// function, so that the first key of a query beyond the threshold is at 1 exactly where epsilon is
/// 0.
template <class T>
fast::FillBiasRow<T> FastBias(const Params& params, const fast::WeightValues<T>& weights,
                              int64_t head) {
  const auto units = static_cast<size_t>(params.mlp_width), at = static_cast<size_t>(head);
  const auto weight = [&](const char* name, size_t first, size_t count) {
    const auto begin = weights.find(name)->second.begin() + static_cast<std::ptrdiff_t>(first);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  const std::vector<double> w1 = weight("w1", 0, units), b1 = weight("b1", 0, units);
  const std::vector<double> w2 = weight("w2", at * units, units);
  const double b2 = weight("b2", at, 1)[0];
  const double c = weight("c", 0, 1)[0], threshold = weight("threshold", 0, 1)[0];
  const double epsilon = params.epsilon;
  return [=](const fast::BiasRow<T>& row) {
    std::vector<double> x(row.keys);
    const double scale = std::max(threshold, row.query);
    double denominator = 0;
    PsiRow<T>(&scale, c, 1, &denominator);
    denominator += epsilon;
    PsiRow<T>(row.offset, c, row.keys, x.data());
    for (double& of_key : x) of_key /= denominator;
    fast::NetworkRow(x.data(), row.keys, {w1.data(), b1.data(), w2.data(), b2, units}, row.out);
  };
}

}  // namespace posgauge::fire
