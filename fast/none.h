#pragma once

#include <cmath>

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/none.h"

namespace posgauge::none {

/// One product an element. A temperature, made in double and rounded to T, multiplies the dot
/// product before it: less is rounded than where it multiplies the query.
template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>&, int64_t) {
  if (!params.temperature_scale) {
    return {.score = [](const fast::ScoredRow<T>& row) {
      for (size_t key = 0; key < row.keys.size(); ++key) row.scores[key] *= row.scale;
    }};
  }
  return {.score = [params](const fast::ScoredRow<T>& row) {
    // Exact: a position is whole, its remainder and the multiple below it are doubles.
    const auto size = static_cast<double>(*params.temperature_floor_scale);
    const double next = row.query + 1, whole = (next - std::fmod(next, size)) / size;
    const auto temperature = static_cast<T>(std::log(whole + 1) * *params.temperature_scale + 1);
    for (size_t key = 0; key < row.keys.size(); ++key) {
      row.scores[key] = row.scale * (row.scores[key] * temperature);
    }
  }};
}

}  // namespace posgauge::none
