#pragma once

#include <utility>
#include <vector>

#include "posgauge/fast/bias.h"
#include "posgauge/fast/window.h"
#include "posgauge/schemes/swin.h"

namespace posgauge::swin {

inline fast::RowsBy BiasRowsBy(const Params&) { return fast::RowsBy::query_and_key; }

/// Rows of the table.
inline fast::FillBuckets Buckets(const Params& params) {
  return [number = fast::OffsetNumber(params.window)](double query, const double* keys,
                                                      size_t count, double* buckets) {
    for (size_t j = 0; j < count; ++j) buckets[j] = static_cast<double>(number(query, keys[j]));
  };
}

/// The head's column of the table.
template <class T>
fast::FillBiasRow<T> FastBias(const Params& params, const fast::WeightValues<T>& weights,
                              int64_t head) {
  const std::vector<T>& table = weights.find("table")->second;
  std::vector<T> of_head;
  for (int64_t offset = 0; offset < params.window.Offsets(); ++offset) {
    of_head.push_back(table[static_cast<size_t>(offset * params.attention.heads + head)]);
  }
  return fast::BiasByOffset<T>(params.window, std::move(of_head));
}

}  // namespace posgauge::swin
