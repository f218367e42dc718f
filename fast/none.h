#pragma once

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/none.h"

namespace posgauge::none {

/// One product an element.
template <class T>
fast::Scoring<T> FastScoring(const Params&, const fast::WeightValues<T>&, int64_t) {
  return {.score = [](const fast::ScoredRow<T>& row) {
    for (size_t key = 0; key < row.keys.size(); ++key) row.scores[key] *= row.scale;
  }};
}

}  // namespace posgauge::none
