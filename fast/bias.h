#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "posgauge/fast/call.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::fast {

/// What a row of biases depends on besides the head, and so which queries can share it.
enum class RowsBy { distance, key, query_and_key };

/// A row to fill, of numbers of T: float, or double for f64. Positions are doubles, so that
/// distances of whole ones are exact, whatever T is.
template <class T>
struct BiasRow {
  double query;          // position; of nothing where rows go by distance or key
  const double* offset;  // key - query, [keys], or what SharedByHeads made of it; of rows by key:
                         // key - last key
  const double* key;     // positions, [keys]; null where rows go by distance
  size_t keys;
  T* out;  // [keys]
};

/// Fills rows of one head.
template <class T>
using FillBiasRow = std::function<void(const BiasRow<T>&)>;

/// Replaces each of `count` offsets by what a scheme makes of it.
using MapOffsets = std::function<void(double* offsets, size_t count)>;

/// Fills the buckets of one query and [count] keys, where they do not go by offsets.
using FillBuckets =
    std::function<void(double query, const double* keys, size_t count, double* buckets)>;

/// The weights of a call by name, in C order, as numbers of T.
template <class T>
using WeightValues = std::map<std::string, std::vector<T>, std::less<>>;

// A scheme that adds a bias gives, in fast/<scheme>.h and its namespace,
//
//   template <class T>
//   fast::FillBiasRow<T> FastBias(const Params&, const fast::WeightValues<T>&, int64_t head);
//   fast::RowsBy BiasRowsBy(const Params&);
//
// and perhaps
//
//   std::vector<fast::Wide> Slopes(const Params&);
//   fast::MapOffsets Buckets(const Params&);        offsets to buckets, or FillBuckets
//   fast::MapOffsets SharedByHeads(const Params&);  what of a row by distance is the same for all
//                                                   heads, made once for them
//   std::string_view BiasArithmetic(const Params&);  as a contract says it, where a bias is not
//                                                   formed in T by functions within 2 ulp
//   template <class T>                              what scaled <q, k> is multiplied by, [keys];
//   fast::FillBiasRow<T> FastFactors(               null: by nothing
//       const Params&, const fast::WeightValues<T>&, int64_t head);
//
// All else is made from those (fast/attention.h).

/// Throws ParameterError unless it has the shape of the scheme's weight and is of f64, f32, bf16 or
/// f16.
template <class T>
std::vector<T> ReadWeight(const Call& call, const Weight& weight);

}  // namespace posgauge::fast
