#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/turned_rows.h"
#include "posgauge/schemes/rerope.h"

namespace posgauge::rerope {

inline fast::Turns Waves(const Params& params) {
  return fast::PlainTurns(params.turning.Of(params.attention));
}

/// The scores of one head. Keys turn once for all queries; a query turns by its position, and by
/// the window to either side for the keys beyond it, which are taken as they are.
template <class T>
class WindowedScores {
 public:
  explicit WindowedScores(const Params& params)
      : params_(params), turned_(params.turning.Of(params.attention)), q_(turned_.Width()) {}

  void TakeKeys(const fast::KeyRows<T>& keys) {
    const size_t width = turned_.Width();
    near_.resize(keys.positions.size() * width);
    far_.resize(near_.size());
    for (size_t key = 0; key < keys.positions.size(); ++key) {
      const size_t at = key * width;
      turned_.Turn(keys.k + at, keys.positions[key], near_.data() + at);
      turned_.Arrange(keys.k + at, far_.data() + at);
    }
  }

  void Score(const fast::ScoredRow<T>& row) {
    const auto window = static_cast<double>(params_.window);
    const std::array<double, 3> turns = {row.query, window, -window};
    for (fast::MetKeys<T>& met : met_) met.Clear();
    for (size_t key = 0; key < row.keys.size(); ++key) {
      const bool is_near = params_.IsNear(row.query, row.keys[key]);
      const std::vector<T>& rows = is_near ? near_ : far_;
      met_[is_near                     ? 0
           : row.query > row.keys[key] ? 1
                                       : 2]
          .Add(key, rows.data() + key * turned_.Width());
    }
    const T factor = Factor(row.query);
    sharpened_.assign(row.q, row.q + turned_.Width());
    if (factor != 1) {
      for (T& channel : sharpened_) channel *= factor;
    }
    for (size_t i = 0; i < met_.size(); ++i) {
      if (met_[i].IsEmpty()) continue;
      turned_.Turn(sharpened_.data(), turns[i], q_.data());
      met_[i].Score(q_.data(), turned_.Width(), row.scale, row.scores);
    }
  }

 private:
  // max(1, ln(p + 1)/ln L) in double: two logarithms within an ulp, a quotient, and the rounding to
  // T.
  T Factor(double query) const {
    if (!params_.trained_length) return 1;
    const auto trained = static_cast<double>(*params_.trained_length);
    return static_cast<T>(std::max(1.0, std::log(query + 1) / std::log(trained)));
  }

  Params params_;
  fast::TurnedRows<T> turned_;
  std::vector<T> near_, far_, sharpened_, q_;
  std::array<fast::MetKeys<T>, 3> met_;
};

template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>&, int64_t) {
  const auto scores = std::make_shared<WindowedScores<T>>(params);
  return {.score = [scores](const fast::ScoredRow<T>& row) { scores->Score(row); },
          .take_keys = [scores](const fast::KeyRows<T>& keys) { scores->TakeKeys(keys); },
          .own_products = true};
}

}  // namespace posgauge::rerope
