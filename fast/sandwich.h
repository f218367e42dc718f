#pragma once

#include <cstdint>
#include <string_view>

#include "posgauge/fast/bias.h"
#include "posgauge/fast/turns.h"
#include "posgauge/schemes/sandwich.h"

namespace posgauge::sandwich {

inline fast::RowsBy BiasRowsBy(const Params&) { return fast::RowsBy::distance; }

/// base^(-2k/width) as turns. Relative error of a frequency: see fast/rotation.h.
fast::Turns Waves(const Params& params);

/// S(D), less width/2 if centred, in double: width/2 cosines, each within 8 ulp of f64
/// (fast/distance-inl.h), and their sum, in order.
fast::MapOffsets SharedByHeads(const Params& params);

/// Times heads/(8 h): two operations in double, and one rounding to T.
template <class T>
fast::FillBiasRow<T> FastBias(const Params& params, const fast::WeightValues<T>&, int64_t head) {
  const auto heads = static_cast<double>(params.attention.heads);
  const auto divisor = static_cast<double>(8 * (head + 1));
  return [heads, divisor](const fast::BiasRow<T>& row) {
    for (size_t j = 0; j < row.keys; ++j) {
      row.out[j] = static_cast<T>(row.offset[j] * heads / divisor);
    }
  };
}

inline std::string_view BiasArithmetic(const Params&) {
  return "trig=8ulp:f64 rotate=f64 accumulate=f64";
}

}  // namespace posgauge::sandwich
