#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/reference/log_buckets.h"
#include "posgauge/schemes/deberta.h"

namespace posgauge::deberta {

/// The smallest distance of every row beside that of distance 0 (reference/log_buckets.h), [span],
/// or [span + 1] where those beyond max_position - 1 have one of their own. With buckets, row mid +
/// c + 1 begins beyond mid ((max_position - 1)/mid)^(c/(mid - 1)).
inline const std::vector<int64_t>& FirstDistances(const Params& params) {
  const int64_t last = params.max_position - 1, mid = params.position_buckets / 2;
  const bool logarithmic = params.position_buckets > 0;
  return posgauge::FirstDistances(LogBuckets{.exact = logarithmic ? mid : last,
                                             .farthest = last,
                                             .steps = logarithmic ? mid - 1 : 0,
                                             .beyond = true,
                                             .far = !logarithmic || params.far == Far::bucket});
}

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), first_(&FirstDistances(params)), inputs_(&inputs), head_(head) {}

  /// Row of the tables of i - j, whole.
  int64_t Bucket(double query_position, double key_position) const {
    const auto relative = static_cast<int64_t>(query_position - key_position);
    const auto above = std::upper_bound(first_->begin(), first_->end(), std::abs(relative));
    const int64_t beside = (above - first_->begin()) - 1, span = params_->Span();
    return std::clamp(relative < 0 ? span - beside : span + beside, int64_t{0}, 2 * span - 1);
  }

  /// He et al. 2021, eq. 4.
  R Score(int64_t query, int64_t key) const {
    const NamedInputs& in = *inputs_;
    const double i = in["query_positions"].At(query), j = in["key_positions"].At(key);
    const int64_t of_query = Bucket(i, j);
    const int64_t of_key = params_->p2c_index == P2cIndex::same ? of_query : Bucket(j, i);
    std::vector<R> terms;
    for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
      const R q(in["q"].At(query, head_, c)), k(in["k"].At(key, head_, c));
      terms.push_back(q * k);
      if (params_->c2p) terms.push_back(q * R(in["position_keys"].At(head_, of_query, c)));
      if (params_->p2c) terms.push_back(k * R(in["position_queries"].At(head_, of_key, c)));
    }
    const R sum = Sum(terms);
    if (params_->attention.scale == ScoreScale::one) return sum;
    return sum / Sqrt(R(params_->Terms() * params_->attention.head_dim));
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

}  // namespace posgauge::deberta
