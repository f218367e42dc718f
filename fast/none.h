#pragma once

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/none.h"

namespace posgauge::none {

/// One product an element.
template <class T>
fast::Scoring<T> FastScoring(const Params&, const fast::WeightValues<T>&, int64_t) {
  return {.score = [](const fast::ScoredRow<T>& row) {
    fast::ScaleRow(row.scores, row.scale, false, row.keys.size(), row.scores);
  }};
}

}  // namespace posgauge::none
