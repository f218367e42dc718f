#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/shaw.h"

namespace posgauge::shaw {

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), inputs_(&inputs), head_(head) {}

  /// Shaw et al. 2018, eq. 5, the form of eq. 4 that is computed: <q, k> and <q, a> apart. What may
  /// cancel in k + a is rounded in neither.
  R Score(int64_t query, int64_t key) const {
    const ExactTensor &q = (*inputs_)["q"], &k = (*inputs_)["k"];
    const int64_t row = RowOf(query, key);
    std::vector<R> terms;
    for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
      const R channel(q.At(query, head_, c));
      terms.push_back(channel * R(k.At(key, head_, c)));
      if (row >= 0) terms.push_back(channel * Entry("key_table", row, c));
    }
    return Scaled(params_->attention, Sum(terms));
  }

  /// Eq. 3.
  R Value(int64_t query, int64_t key, int64_t channel) const {
    const R v((*inputs_)["v"].At(key, head_, channel));
    if (!params_->values) return v;
    return v + Entry("value_table", RowOf(query, key), channel);
  }

 private:
  int64_t RowOf(int64_t query, int64_t key) const {
    return params_->Row((*inputs_)["query_positions"].At(query),
                        (*inputs_)["key_positions"].At(key));
  }
  R Entry(std::string_view table, int64_t row, int64_t channel) const {
    if (row < 0) return R(0);
    return R((*inputs_)[table].At(params_->per_head ? head_ : 0, row, channel));
  }

  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::shaw
