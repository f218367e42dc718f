#pragma once

#include <map>
#include <memory>
#include <vector>

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/turned_rows.h"
#include "posgauge/schemes/xpos.h"

namespace posgauge::xpos {

inline fast::Turns Waves(const Params& params) {
  return fast::PlainTurns(params.turning.Of(params.attention));
}

/// zeta_n^(o/scale_base) of every pair, by offset o.
class Fading {
 public:
  explicit Fading(const Params& params);

  /// [pairs] in double, valid until the next call. Whole offsets o = a + b, a a multiple of 64 of
  /// the sign of o: the product of two factors, neither of which leaves the range of double before
  /// it does. Each is rounded once from double-double, half an ulp, its exponent, at most 800,
  /// being within 2^-75 of the true one. With significands m of theirs, below 2 in product or
  /// halved, the two and the product's own rounding are within (m_a + m_b + 1) / 2 < 2 ulp. A
  /// fractional offset is rounded once, then takes one factor.
  const std::vector<double>& At(double offset);

 private:
  std::vector<double> Factors(double offset) const;
  const std::vector<double>& Kept(double offset);

  std::vector<fast::Wide> rate_;  // ln zeta_n / scale_base
  std::map<double, std::vector<double>> kept_;
  std::vector<double> row_;
};

/// The scores of one head: vectors turn by their positions, products of pairs fade by the offset.
template <class T>
class FadingScores {
 public:
  explicit FadingScores(const Params& params)
      : turned_(params.turning.Of(params.attention)), fading_(params), q_(turned_.Width()) {}

  void TakeKeys(const fast::KeyRows<T>& keys) {
    const size_t width = turned_.Width();
    keys_.resize(keys.positions.size() * width);
    rows_.clear();
    still_.clear();
    for (size_t key = 0; key < keys.positions.size(); ++key) {
      T* const row = keys_.data() + key * width;
      turned_.Turn(keys.k + key * width, keys.positions[key], row);
      rows_.push_back(row);
      still_.push_back(row + 2 * turned_.Pairs());
    }
  }

  /// A product of each pair is two products and a sum, times its factor rounded to T; then sums.
  void Score(const fast::ScoredRow<T>& row) {
    const size_t pairs = turned_.Pairs(), keys = row.keys.size();
    turned_.Turn(row.q, row.query, q_.data());
    factors_.resize(keys * pairs);
    factor_rows_.clear();
    for (size_t key = 0; key < keys; ++key) {
      T* const factors = factors_.data() + key * pairs;
      const std::vector<double>& fading = fading_.At(row.query - row.keys[key]);
      for (size_t i = 0; i < pairs; ++i) factors[i] = static_cast<T>(fading[i]);
      factor_rows_.push_back(factors);
    }
    fast::FactoredPairDots(q_.data(), rows_.data(), factor_rows_.data(), pairs, keys, row.scores);
    products_.resize(keys);
    fast::DotRows(q_.data() + 2 * pairs, still_.data(), turned_.Width() - 2 * pairs, keys,
                  products_.data());
    for (size_t key = 0; key < keys; ++key) {
      row.scores[key] = row.scale * (row.scores[key] + products_[key]);
    }
  }

 private:
  fast::TurnedRows<T> turned_;
  Fading fading_;
  std::vector<T> keys_, q_, factors_, products_;
  std::vector<const T*> rows_, still_, factor_rows_;
};

template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>&, int64_t) {
  const auto scores = std::make_shared<FadingScores<T>>(params);
  return {.score = [scores](const fast::ScoredRow<T>& row) { scores->Score(row); },
          .take_keys = [scores](const fast::KeyRows<T>& keys) { scores->TakeKeys(keys); },
          .own_products = true};
}

}  // namespace posgauge::xpos
