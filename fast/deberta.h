#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/deberta.h"

namespace posgauge::deberta {

/// The smallest distance of every row beside that of distance 0, ascending and exact, by the route
/// of fast/log_buckets.h.
std::vector<double> RowStarts(const Params& params);

/// Rows of the tables, of offsets, key - query, that are whole.
fast::MapOffsets Buckets(const Params& params);

/// All heads have the same rows.
inline fast::MapOffsets SharedByHeads(const Params& params) { return Buckets(params); }

/// <q, k>, <q, K> and <k, Q> as three sums of d products each, then added and scaled: scores err by
/// at most (d + 2) u times the sum of all magnitudes and the roundings of the scale. `to_rows` is
/// that of SharedByHeads. He et al. 2021, eq. 4.
template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>& weights,
                             int64_t head, fast::MapOffsets to_rows) {
  const auto width = static_cast<size_t>(params.attention.head_dim);
  const auto table = [&](bool used, std::string_view name) -> const T* {
    if (!used) return nullptr;
    const auto rows = static_cast<size_t>(2 * params.Span());
    return weights.find(name)->second.data() + static_cast<size_t>(head) * rows * width;
  };
  const T* const of_queries = table(params.c2p, "position_keys");
  const T* const of_keys = table(params.p2c, "position_queries");
  const bool reversed = params.p2c_index == P2cIndex::reversed;
  const T scale = params.attention.scale == ScoreScale::one
                      ? T{1}
                      : 1 / std::sqrt(static_cast<T>(params.Terms() * params.attention.head_dim));
  const auto keys = std::make_shared<const T*>(nullptr);
  fast::Scoring<T> scoring;
  scoring.take_keys = [keys](const fast::KeyRows<T>& all) { *keys = all.k; };
  scoring.score = [=, to_rows = std::move(to_rows), rows = std::vector<double>(),
                   x = std::vector<const T*>(), y = std::vector<const T*>(),
                   products = std::vector<T>()](const fast::ScoredRow<T>& row) mutable {
    const size_t count = row.keys.size();
    products.resize(count);
    y.resize(count);
    const auto find_rows = [&](double sign) {
      rows.resize(count);
      for (size_t j = 0; j < count; ++j) rows[j] = sign * (row.keys[j] - row.query);
      to_rows(rows.data(), count);
    };
    const auto take_rows = [&](const T* of_table) {
      for (size_t j = 0; j < count; ++j) y[j] = of_table + static_cast<size_t>(rows[j]) * width;
    };
    const auto add_products = [&] {
      for (size_t j = 0; j < count; ++j) row.scores[j] += products[j];
    };
    if (of_queries != nullptr) {
      find_rows(1);
      take_rows(of_queries);
      fast::DotRows(row.q, y.data(), width, count, products.data());
      add_products();
    }
    if (of_keys != nullptr) {
      if (reversed || of_queries == nullptr) find_rows(reversed ? -1 : 1);
      take_rows(of_keys);
      x.resize(count);
      for (size_t j = 0; j < count; ++j) x[j] = *keys + j * width;
      fast::DotPairs(x.data(), y.data(), width, count, products.data());
      add_products();
    }
    for (size_t j = 0; j < count; ++j) row.scores[j] *= scale;
  };
  return scoring;
}

template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>& weights,
                             int64_t head) {
  return FastScoring<T>(params, weights, head, SharedByHeads(params));
}

}  // namespace posgauge::deberta
