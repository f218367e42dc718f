#pragma once

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/shaw.h"

namespace posgauge::shaw {

/// One head's table of T, in which a relative position has a row.
template <class T>
class TableRows {
 public:
  TableRows(const Params& params, const fast::WeightValues<T>& weights, std::string_view name,
            int64_t head)
      : params_(params), width_(static_cast<size_t>(params.attention.head_dim)), none_(width_) {
    const size_t rows = 2 * static_cast<size_t>(params.clip) + 1;
    first_ = weights.find(name)->second.data() +
             (params.per_head ? static_cast<size_t>(head) * rows * width_ : 0);
  }
  size_t width() const { return width_; }

  /// [head_dim]: zeros where the table has no row.
  const T* At(double query, double key) const {
    const int64_t row = params_.Row(query, key);
    return row < 0 ? none_.data() : first_ + static_cast<size_t>(row) * width_;
  }

 private:
  Params params_;
  size_t width_;
  std::vector<T> none_;
  const T* first_;
};

/// <q, k> and <q, a> as two sums, of d products each: scores err by at most (d + 1) u (sum |q k| +
/// sum |q a|) and the roundings of the scale; values by u |v + a| before they are averaged. Shaw et
/// al. 2018, eq. 5.
template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>& weights,
                             int64_t head) {
  fast::Scoring<T> scoring;
  scoring.score = [table = TableRows<T>(params, weights, "key_table", head),
                   rows = std::vector<const T*>(), row_of = std::vector<size_t>(),
                   products = std::vector<T>()](const fast::ScoredRow<T>& row) mutable {
    // Neighbours at clipped distances share a row, and its product with the query.
    rows.clear();
    row_of.clear();
    for (double key : row.keys) {
      const T* at = table.At(row.query, key);
      if (rows.empty() || rows.back() != at) rows.push_back(at);
      row_of.push_back(rows.size() - 1);
    }
    products.resize(rows.size());
    fast::DotRows(row.q, rows.data(), table.width(), rows.size(), products.data());
    for (size_t key = 0; key < row_of.size(); ++key) {
      row.scores[key] = row.scale * (row.scores[key] + products[row_of[key]]);
    }
  };
  if (params.values) {
    scoring.added_value = [table = TableRows<T>(params, weights, "value_table", head)](
                              double query, double key) { return table.At(query, key); };
  }
  return scoring;
}

}  // namespace posgauge::shaw
