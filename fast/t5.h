#pragma once

#include <vector>

#include "posgauge/fast/bias.h"
#include "posgauge/schemes/t5.h"

namespace posgauge::t5 {

/// The smallest distance of every bucket of one direction, ascending and exact; a bucket that no
/// distance reaches has that of the next. By double-double, and in whole numbers where that does
/// not tell.
std::vector<double> BucketStarts(const Params& params);

/// Of offsets, key - query, that are whole.
fast::MapOffsets Buckets(const Params& params);

/// All heads have the same buckets.
inline fast::MapOffsets SharedByHeads(const Params& params) { return Buckets(params); }

inline fast::RowsBy BiasRowsBy(const Params&) { return fast::RowsBy::distance; }

/// The table's entry of a bucket, as it is.
template <class T>
fast::FillBiasRow<T> FastBias(const Params& params, const fast::WeightValues<T>& weights,
                              int64_t head) {
  const std::vector<T>& table = weights.find("table")->second;
  std::vector<T> of_head;
  for (int64_t bucket = 0; bucket < params.num_buckets; ++bucket) {
    of_head.push_back(table[static_cast<size_t>(bucket * params.attention.heads + head)]);
  }
  return [of_head](const fast::BiasRow<T>& row) {
    for (size_t j = 0; j < row.keys; ++j) {
      row.out[j] = of_head[static_cast<size_t>(row.offset[j])];
    }
  };
}

}  // namespace posgauge::t5
