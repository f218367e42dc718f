#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "posgauge/fast/rotation.h"
#include "posgauge/fast/simd.h"
#include "posgauge/fast/turns.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge::fast {

/// base^(-2i/rotary_dim) as turns. Relative error of a frequency: see fast/rotation.h.
inline Turns PlainTurns(const Rotary& rotary) {
  std::vector<double> high, low;
  for (const Wide& frequency : PlainFrequencies(rotary)) {
    high.push_back(frequency.high);
    low.push_back(frequency.low);
  }
  return TurnsOf(high, low);
}

/// Turns vectors of T: float, or double for f64. What comes out has the channels of all pairs
/// first, in the order of `half` pairing, then those that do not turn: products of two such vectors
/// are those of any order.
template <class T>
class TurnedRows {
 public:
  explicit TurnedRows(const Rotary& rotary)
      : rotary_(rotary), turns_(PlainTurns(rotary)), cos_(turns_.Pairs()), sin_(turns_.Pairs()) {}

  size_t Pairs() const { return turns_.Pairs(); }
  size_t Width() const { return static_cast<size_t>(rotary_.head_dim); }

  /// A vector as it is, [head_dim].
  void Arrange(const T* x, T* out) const {
    std::copy_n(x, Width(), out);
    if (rotary_.pairing == Pairing::half) return;
    for (size_t i = 0; i < Pairs(); ++i) {
      out[i] = x[2 * i];
      out[Pairs() + i] = x[2 * i + 1];
    }
  }

  /// A vector that turns by a position, [head_dim]: cosines and sines within 2 ulp of T
  /// (fast/table-inl.h), then two products and a sum a channel (fast/rotate-inl.h).
  void Turn(const T* x, double position, T* out) { Turn(x, turns_, position, out); }

  /// The same by other frequencies, of as many pairs.
  void Turn(const T* x, const Turns& turns, double position, T* out) {
    Arrange(x, out);
    if (Pairs() == 0) return;
    constexpr Dtype kDtype = std::is_same_v<T, double> ? Dtype::f64 : Dtype::f32;
    static_assert(TakesPlainRows(kDtype, Pairing::half));
    CosSinRow(turns, TurnPositionOf(position), 1, kDtype, cos_.data(), sin_.data());
    RotateHeads(kDtype, Pairing::half, static_cast<int64_t>(Pairs()), 1, {out, 0, 1}, {out, 0, 1},
                cos_.data(), sin_.data());
  }

 private:
  Rotary rotary_;
  Turns turns_;
  std::vector<T> cos_, sin_;
};

/// Products of one query, turned in one way, with those keys that it meets so.
template <class T>
class MetKeys {
 public:
  void Clear() {
    rows_.clear();
    keys_.clear();
  }
  void Add(size_t key, const T* row) {
    rows_.push_back(row);
    keys_.push_back(key);
  }
  bool IsEmpty() const { return keys_.empty(); }

  /// scores[key] = scale <q, row of the key>: sums of `width` products, then one.
  void Score(const T* q, size_t width, T scale, T* scores) {
    products_.resize(keys_.size());
    DotRows(q, rows_.data(), width, keys_.size(), products_.data());
    for (size_t i = 0; i < keys_.size(); ++i) scores[keys_[i]] = scale * products_[i];
  }

 private:
  std::vector<const T*> rows_;
  std::vector<size_t> keys_;
  std::vector<T> products_;
};

}  // namespace posgauge::fast
