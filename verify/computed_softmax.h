#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace posgauge {

/// softmax of scores, then the average of values [channel][key], the way that kernels compute it:
/// exponentials of the distances to the highest score, their sum, the sum of the products, one
/// division. Dividing first costs no more roundings: the division of a term takes the place of the
/// one at the end. `weight` is the exponential of a score less the highest.
template <class R, class Weight>
std::vector<R> ComputedSoftmaxMean(const std::vector<R>& scores,
                                   const std::vector<std::vector<R>>& values,
                                   const Weight& weight) {
  const R highest =
      *std::ranges::max_element(scores, [](const R& a, const R& b) { return a.value < b.value; });
  std::vector<R> weights;
  for (const R& score : scores) weights.push_back(weight(score, highest));
  const R total = Sum(weights);
  std::vector<R> out;
  for (const std::vector<R>& of_channel : values) {
    std::vector<R> terms;
    for (size_t key = 0; key < scores.size(); ++key) {
      terms.push_back(weights[key] * of_channel[key]);
    }
    out.push_back(Sum(terms) / total);
  }
  return out;
}

}  // namespace posgauge
