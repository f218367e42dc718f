#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/fire.h"

namespace posgauge::fire {

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), inputs_(&inputs), head_(head) {}

  /// x of eq. 6.
  R Normalised(double query_position, double key_position) const {
    const R distance = Abs(R(query_position) - R(key_position));
    const R scale(std::max((*inputs_)["threshold"].At(0), query_position));
    // Of the first key, for queries beyond the threshold.
    if (params_->epsilon == 0 && IsZero(distance - scale)) return R(1);
    return Psi(distance) / (Psi(scale) + R(params_->epsilon));
  }

  R Bias(double query_position, double key_position) const {
    const NamedInputs& in = *inputs_;
    const R x = Normalised(query_position, key_position);
    std::vector<R> terms;
    for (int64_t unit = 0; unit < params_->mlp_width; ++unit) {
      const R hidden = R(in["w1"].At(unit)) * x + R(in["b1"].At(unit));
      terms.push_back(R(in["w2"].At(head_, unit)) * Max(hidden, R(0)));
    }
    return Sum(terms) + R(in["b2"].At(head_));
  }

 private:
  R Psi(const R& t) const { return Log1p(R((*inputs_)["c"].At(0)) * t); }

  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::fire
