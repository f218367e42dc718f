#pragma once

#include <vector>

#include "posgauge/fast/bias.h"
#include "posgauge/fast/window.h"
#include "posgauge/schemes/swin.h"

namespace posgauge::swin {

inline fast::RowsBy BiasRowsBy(const Params&) { return fast::RowsBy::query_and_key; }

/// Rows of the table.
inline fast::FillBuckets Buckets(const Params& params) {
  return [places = fast::TokenPlaces(params.window)](double query, const double* keys, size_t count,
                                                     double* buckets) {
    const int64_t from = places[static_cast<size_t>(query)] + places.back();
    for (size_t j = 0; j < count; ++j) {
      buckets[j] = static_cast<double>(from - places[static_cast<size_t>(keys[j])]);
    }
  };
}

/// The table's entry of an offset, as it is.
template <class T>
fast::FillBiasRow<T> FastBias(const Params& params, const fast::WeightValues<T>& weights,
                              int64_t head) {
  const std::vector<T>& table = weights.find("table")->second;
  std::vector<T> of_head;
  for (int64_t offset = 0; offset < params.window.Offsets(); ++offset) {
    of_head.push_back(table[static_cast<size_t>(offset * params.attention.heads + head)]);
  }
  return [of_head, places = fast::TokenPlaces(params.window)](const fast::BiasRow<T>& row) {
    const int64_t from = places[static_cast<size_t>(row.query)] + places.back();
    for (size_t j = 0; j < row.keys; ++j) {
      row.out[j] = of_head[static_cast<size_t>(from - places[static_cast<size_t>(row.key[j])])];
    }
  };
}

}  // namespace posgauge::swin
