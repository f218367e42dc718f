#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "posgauge/reference/float64.h"
#include "posgauge/reference/interval.h"
#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/cape.h"

namespace posgauge::cape {

/// sin and cos of t_n frequency_k, interleaved: Likhomanenko et al. 2021, arXiv:2106.03143.
/// The package writes cos x as sin(x + pi/2), with pi/2 rounded to binary32.
template <class R>
class Rows {
 public:
  Rows(const Params& params, const NamedInputs& inputs)
      : params_(&params),
        local_shift_(&inputs["local_shift"]),
        lambda_(params.log_scale == 0 ? R(1) : R(Held(Exp(R(params.log_scale))))) {
    for (int64_t k = 0; k < params.Frequencies(); ++k) {
      R frequency = RationalPower(R(params.base), -2 * k, params.width);
      if (params.frequency_scale != 1) frequency = R(params.frequency_scale) * frequency;
      frequency_.push_back(Held(frequency));
    }
  }

  std::vector<R> Row(double position) const {
    const R t = At(position);
    std::vector<R> values;
    for (const R& frequency : frequency_) {
      const auto [cos, sin] = CosSin(Angle(t, frequency));
      values.push_back(sin);
      values.push_back(cos);
    }
    values.resize(static_cast<size_t>(params_->width));
    return values;
  }

 private:
  // (c n - mean + global + local[n]) lambda, in any order; what is 0 is not added.
  R At(double position) const {
    const R scaled = params_->position_scale == 1
                         ? R(position)
                         : PositionProduct(R(params_->position_scale), R(position));
    std::vector<R> terms;
    for (const R& term : {scaled, -R(params_->mean), R(params_->global_shift),
                          R(local_shift_->At(static_cast<int64_t>(position)))}) {
      if (!IsZero(term)) terms.push_back(term);
    }
    const R sum = PositionSum(terms);
    return params_->log_scale == 0 ? sum : PositionProduct(sum, lambda_);
  }

  const Params* params_;
  const ExactTensor* local_shift_;
  R lambda_;
  std::vector<R> frequency_;
};

template <class R>
Rows<R> MakeRows(const Params& params, const NamedInputs& inputs) {
  return {params, inputs};
}

}  // namespace posgauge::cape
