#pragma once

#include <functional>
#include <vector>

#include "posgauge/fast/bias.h"

namespace posgauge::fast {

/// One query against all keys, in numbers of T: float, or double for f64.
template <class T>
struct ScoredRow {
  double query;                     // position
  const std::vector<double>& keys;  // positions, [keys]
  const T* q;                       // [head_dim]
  T scale;                          // 1/sqrt(head_dim), or 1
  T* scores;                        // [keys]: comes as <q + query_shift, k_j>, leaves as s_ij
};

/// All keys of a head, in numbers of T.
template <class T>
struct KeyRows {
  const std::vector<double>& positions;  // [keys]
  const T* k;                            // [keys, head_dim]
};

/// What a scheme does in one head that is more than a bias.
template <class T>
struct Scoring {
  std::vector<T> query_shift = {};  // added to q before its products with keys, [head_dim]; or none
  std::function<void(const ScoredRow<T>&)> score;
  /// Given the head's keys before any row; they stay until the next head. Or none.
  std::function<void(const KeyRows<T>&)> take_keys = {};
  /// Whether it forms the products with the keys itself: scores then come as anything.
  bool own_products = false;
  /// What is added to the value of a key, [head_dim]; empty where that is nothing.
  std::function<const T*(double query, double key)> added_value = {};
};

// Such a scheme gives, in fast/<scheme>.h and its namespace,
//
//   template <class T>
//   fast::Scoring<T> FastScoring(const Params&, const fast::WeightValues<T>&, int64_t head);
//
// in place of FastBias (fast/bias.h), or beside it where its kernels of biases serve, and, where it
// takes sines of offsets or positions, `fast::Turns Waves(const Params&)`: its kernels then declare
// phases in turns, and offsets, where it takes keys also positions, are within kLargestPosition.
// The weights outlive what is made of them. Keys that a query does not see have scores all the
// same, which may be anything: what tells positions by other keys' scores leaves them out itself.

}  // namespace posgauge::fast
