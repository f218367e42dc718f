#pragma once

#include <memory>
#include <span>
#include <vector>

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/turned_rows.h"
#include "posgauge/schemes/mixed.h"

namespace posgauge::mixed {

/// The angles of one head's pairs by patch, as the frequencies of a token at position 1. A product
/// of the column and a frequency is exact in double-double or within 5 2^-106 of itself, their sum
/// within 3 2^-106: of angles below 2^29 that is 2^-74 radians, far below what the phase is cut at.
template <class T>
class PatchAngles {
 public:
  PatchAngles(const Params& params, const fast::WeightValues<T>& weights, int64_t head)
      : columns_(params.window.w) {
    const auto pairs = static_cast<size_t>(params.turning.Of(params.attention).Pairs());
    const auto of_head = [&](std::string_view name) {
      return std::span(weights.find(name)->second)
          .subspan(static_cast<size_t>(head) * pairs, pairs);
    };
    for (T frequency : of_head("x_frequency")) of_x_.push_back(static_cast<double>(frequency));
    for (T frequency : of_head("y_frequency")) of_y_.push_back(static_cast<double>(frequency));
    high_.resize(pairs);
    low_.resize(pairs);
  }

  fast::Turns At(double position) {
    const auto patch = static_cast<int64_t>(position);
    const fast::Wide column(static_cast<double>(patch % columns_)),
        row(static_cast<double>(patch / columns_));
    for (size_t pair = 0; pair < of_x_.size(); ++pair) {
      const fast::Wide angle = column * fast::Wide(of_x_[pair]) + row * fast::Wide(of_y_[pair]);
      high_[pair] = angle.high;
      low_[pair] = angle.low;
    }
    return fast::TurnsOf(high_, low_);
  }

 private:
  int64_t columns_;
  std::vector<double> of_x_, of_y_, high_, low_;
};

/// The scores of one head: vectors turn by their patches.
template <class T>
class PatchScores {
 public:
  PatchScores(const Params& params, const fast::WeightValues<T>& weights, int64_t head)
      : angles_(params, weights, head),
        turned_(params.turning.Of(params.attention)),
        q_(turned_.Width()) {}

  void TakeKeys(const fast::KeyRows<T>& keys) {
    const size_t width = turned_.Width();
    keys_.resize(keys.positions.size() * width);
    met_.Clear();
    for (size_t key = 0; key < keys.positions.size(); ++key) {
      T* const row = keys_.data() + key * width;
      turned_.Turn(keys.k + key * width, angles_.At(keys.positions[key]), 1, row);
      met_.Add(key, row);
    }
  }

  void Score(const fast::ScoredRow<T>& row) {
    turned_.Turn(row.q, angles_.At(row.query), 1, q_.data());
    met_.Score(q_.data(), turned_.Width(), row.scale, row.scores);
  }

 private:
  PatchAngles<T> angles_;
  fast::TurnedRows<T> turned_;
  std::vector<T> keys_, q_;
  fast::MetKeys<T> met_;
};

template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>& weights,
                             int64_t head) {
  const auto scores = std::make_shared<PatchScores<T>>(params, weights, head);
  return {.score = [scores](const fast::ScoredRow<T>& row) { scores->Score(row); },
          .take_keys = [scores](const fast::KeyRows<T>& keys) { scores->TakeKeys(keys); },
          .own_products = true};
}

}  // namespace posgauge::mixed
