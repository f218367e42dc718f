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
    const double steps = params.TemperatureStep(row.query);
    const auto temperature = static_cast<T>(std::log(steps) * *params.temperature_scale + 1);
    for (size_t key = 0; key < row.keys.size(); ++key) {
      row.scores[key] = row.scale * (row.scores[key] * temperature);
    }
  }};
}

}  // namespace posgauge::none
