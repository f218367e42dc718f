#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/turned_rows.h"
#include "posgauge/schemes/dual_chunk.h"

namespace posgauge::dual_chunk {

inline fast::Turns Waves(const Params& params) {
  return fast::PlainTurns(params.turning.Of(params.attention));
}

/// The scores of one head. Keys turn once for all queries; a query turns once for each of the three
/// ways in which it meets them.
template <class T>
class ChunkedScores {
 public:
  explicit ChunkedScores(const Params& params)
      : params_(params), turned_(params.turning.Of(params.attention)), q_(turned_.Width()) {}

  void TakeKeys(const fast::KeyRows<T>& keys) {
    const size_t width = turned_.Width();
    keys_.resize(keys.positions.size() * width);
    for (size_t key = 0; key < keys.positions.size(); ++key) {
      turned_.Turn(keys.k + key * width, params_.KeyTurn(keys.positions[key]),
                   keys_.data() + key * width);
    }
  }

  void Score(const fast::ScoredRow<T>& row) {
    for (fast::MetKeys<T>& met : met_) met.Clear();
    for (size_t key = 0; key < row.keys.size(); ++key) {
      const double chunks = params_.ChunksBetween(row.query, row.keys[key]);
      met_[static_cast<size_t>(std::clamp(chunks, 0.0, 2.0))].Add(
          key, keys_.data() + key * turned_.Width());
    }
    for (size_t chunks = 0; chunks < met_.size(); ++chunks) {
      if (met_[chunks].IsEmpty()) continue;
      turned_.Turn(row.q, params_.QueryTurn(row.query, static_cast<double>(chunks)), q_.data());
      met_[chunks].Score(q_.data(), turned_.Width(), row.scale, row.scores);
    }
  }

 private:
  Params params_;
  fast::TurnedRows<T> turned_;
  std::vector<T> keys_, q_;
  std::array<fast::MetKeys<T>, 3> met_;  // of its own chunk, of the one before, of all before that
};

template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>&, int64_t) {
  const auto scores = std::make_shared<ChunkedScores<T>>(params);
  return {.score = [scores](const fast::ScoredRow<T>& row) { scores->Score(row); },
          .take_keys = [scores](const fast::KeyRows<T>& keys) { scores->TakeKeys(keys); },
          .own_products = true};
}

}  // namespace posgauge::dual_chunk
