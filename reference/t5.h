#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/reference/log_buckets.h"
#include "posgauge/schemes/t5.h"

namespace posgauge::t5 {

/// The smallest distance of every bucket of one direction (reference/log_buckets.h): of its
/// buckets, m are exact, and E others begin at m (max_distance/m)^(k/E).
inline const std::vector<int64_t>& FirstDistances(const Params& params) {
  const int64_t exact = params.ExactBuckets();
  return posgauge::FirstDistances(LogBuckets{.exact = exact,
                                             .farthest = params.max_distance,
                                             .steps = params.DirectionBuckets() - exact,
                                             .beyond = false});
}

/// bias = table[bucket(j - i)][head].
template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), first_(&FirstDistances(params)), inputs_(&inputs), head_(head) {}

  /// For whole positions.
  int64_t Bucket(double query_position, double key_position) const {
    const auto relative = static_cast<int64_t>(key_position - query_position);
    const int64_t distance =
        params_->bidirectional ? std::abs(relative) : std::max<int64_t>(-relative, 0);
    const int64_t direction =
        params_->bidirectional && relative > 0 ? params_->DirectionBuckets() : 0;
    const auto above = std::upper_bound(first_->begin(), first_->end(), distance);
    return direction + (above - first_->begin()) - 1;
  }

  R Bias(double query_position, double key_position) const {
    return R((*inputs_)["table"].At(Bucket(query_position, key_position), head_));
  }

 private:
  const Params* params_;
  const std::vector<int64_t>* first_;
  const NamedInputs* inputs_;
  int64_t head_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::t5
