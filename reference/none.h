#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/none.h"

namespace posgauge::none {

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), inputs_(&inputs), head_(head) {}

  /// scale <q, k>, q times its temperature where there is one. Kernels multiply q by it; of real
  /// numbers it comes last.
  R Score(int64_t query, int64_t key) const {
    const NamedInputs& in = *inputs_;
    if (!params_->temperature_scale) {
      return Scaled(params_->attention, DotOf<R>(in, head_, query, key));
    }
    // floor((p + 1)/temperature_floor_scale) + 1, positions being whole.
    const auto token = static_cast<int64_t>(in["query_positions"].At(query));
    const R steps((token + 1) / *params_->temperature_floor_scale + 1);
    const R temperature = Log(steps) * R(*params_->temperature_scale) + R(1);
    if constexpr (kIsInterval<R>) {
      return Scaled(params_->attention, DotOf<R>(in, head_, query, key) * temperature);
    } else {
      const ExactTensor &q = in["q"], &k = in["k"];
      std::vector<R> terms;
      for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
        terms.push_back(R(q.At(query, head_, c)) * temperature * R(k.At(key, head_, c)));
      }
      return Scaled(params_->attention, Sum(terms));
    }
  }

 private:
  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::none
