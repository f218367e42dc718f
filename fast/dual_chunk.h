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

/// A position as its chunk and the place in it. Positions are whole and below 2^53.
struct ChunkPlace {
  int64_t chunk, within;
};
inline ChunkPlace PlaceOf(const Params& params, double position) {
  const int64_t token = static_cast<int64_t>(position),
                stride = params.chunk_size - params.local_size;
  return {token / stride, token % stride};
}

/// The scores of one head. Keys turn once for all queries; a query turns once for each of the three
/// ways in which it meets them: in its own chunk, from the next one, from any after that.
template <class T>
class ChunkedScores {
 public:
  explicit ChunkedScores(const Params& params)
      : params_(params), turned_(params.turning.Of(params.attention)), q_(turned_.Width()) {}

  void TakeKeys(const fast::KeyRows<T>& keys) {
    const size_t width = turned_.Width();
    keys_.resize(keys.positions.size() * width);
    chunks_.resize(keys.positions.size());
    for (size_t key = 0; key < keys.positions.size(); ++key) {
      const ChunkPlace place = PlaceOf(params_, keys.positions[key]);
      chunks_[key] = place.chunk;
      turned_.Turn(keys.k + key * width, static_cast<double>(place.within),
                   keys_.data() + key * width);
    }
  }

  void Score(const fast::ScoredRow<T>& row) {
    const ChunkPlace place = PlaceOf(params_, row.query);
    for (fast::MetKeys<T>& met : met_) met.Clear();
    for (size_t key = 0; key < row.keys.size(); ++key) {
      const int64_t later = std::clamp<int64_t>(place.chunk - chunks_[key], 0, 2);
      met_[static_cast<size_t>(later)].Add(key, keys_.data() + key * turned_.Width());
    }
    const int64_t size = params_.chunk_size, stride = size - params_.local_size;
    const bool critical = params_.queries == Queries::critical;
    const std::array<int64_t, 3> turns = {
        place.within, critical ? place.within + stride : std::min(place.within + stride, size),
        critical ? place.within + size : std::min(2 * stride - 1, size)};
    for (size_t later = 0; later < met_.size(); ++later) {
      if (met_[later].IsEmpty()) continue;
      turned_.Turn(row.q, static_cast<double>(turns[later]), q_.data());
      met_[later].Score(q_.data(), turned_.Width(), row.scale, row.scores);
    }
  }

 private:
  Params params_;
  fast::TurnedRows<T> turned_;
  std::vector<T> keys_, q_;
  std::vector<int64_t> chunks_;  // of the keys
  std::array<fast::MetKeys<T>, 3> met_;
};

template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>&, int64_t) {
  const auto scores = std::make_shared<ChunkedScores<T>>(params);
  return {.score = [scores](const fast::ScoredRow<T>& row) { scores->Score(row); },
          .take_keys = [scores](const fast::KeyRows<T>& keys) { scores->TakeKeys(keys); },
          .own_products = true};
}

}  // namespace posgauge::dual_chunk
