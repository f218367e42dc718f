#pragma once

#include <algorithm>

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/cope.h"

namespace posgauge::cope {

/// Gates are summed in binary64 and the count is rounded once to T, so that it errs by u of itself
/// and by the gates' own errors, 2 ulp each; the logit is two differences, a product and a sum.
template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>& weights, int64_t) {
  const auto width = static_cast<size_t>(params.attention.head_dim);
  const T* embedding = weights.find("embedding")->second.data();
  std::vector<const T*> rows;
  for (int64_t n = 0; n < params.num_positions; ++n) {
    rows.push_back(embedding + static_cast<size_t>(n) * width);
  }
  return {.score = [params, width, rows, gates = std::vector<T>(),
                    logits = std::vector<T>()](const fast::ScoredRow<T>& row) mutable {
    const size_t keys = row.keys.size();
    gates.resize(keys);
    for (size_t key = 0; key < keys; ++key) gates[key] = row.scale * row.scores[key];
    fast::Sigmoids(gates.data(), keys);
    // From here on gates[j] is the position of key j: what the visible keys from it on count up to.
    const auto last = static_cast<double>(params.num_positions - 1);
    double counted = 0, farthest = 0;
    for (size_t key = keys; key-- > 0;) {
      if (params.attention.Visible(row.query, row.keys[key])) {
        counted += static_cast<double>(gates[key]);
      }
      gates[key] = static_cast<T>(std::min(counted, last));
      farthest = std::max(farthest, static_cast<double>(gates[key]));
    }
    logits.resize(std::min(static_cast<size_t>(farthest) + 2, rows.size()));
    fast::DotRows(row.q, rows.data(), width, logits.size(), logits.data());
    const bool before = params.placement == Placement::before_scale;
    for (size_t key = 0; key < keys; ++key) {
      const T position = gates[key];
      // A position that is NaN makes a logit that is.
      const size_t floor = position >= 0 ? static_cast<size_t>(position) : 0;
      const T low = logits[floor], high = logits[std::min(floor + 1, logits.size() - 1)];
      const T logit = low + (position - static_cast<T>(floor)) * (high - low);
      row.scores[key] =
          before ? row.scale * (row.scores[key] + logit) : row.scale * row.scores[key] + logit;
    }
  }};
}

}  // namespace posgauge::cope
