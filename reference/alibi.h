#pragma once

#include <bit>

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/alibi.h"

namespace posgauge::alibi {

/// -m |i - j| and its forms.
template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), inputs_(&inputs), slope_(SlopeOf(params, inputs, head)) {}

  /// Press et al. 2022, sec. 3: 2^(-max_bias h/n), h from 1.
  R Slope() const { return slope_; }

  R Bias(double query_position, double key_position) const {
    const R unscaled = Unscaled(query_position, key_position);
    return params_->before_scale ? Scaled(params_->attention, unscaled) : unscaled;
  }

 private:
  R Unscaled(double query_position, double key_position) const {
    const R distance = R(query_position) - R(key_position);
    switch (params_->form) {
      case Form::relative:
        return -(slope_ * distance);
      case Form::symmetric:
        return -(slope_ * Abs(distance));
      case Form::key:
        return slope_ * R(key_position);
      case Form::key_from_last:
        break;
    }
    return slope_ * (R(key_position) - R((*inputs_)["key_positions"].values.back()));
  }

  // Slopes that the caller hands over are taken as they are.
  static R SlopeOf(const Params& params, const NamedInputs& inputs, int64_t head) {
    const ExactTensor* given = inputs.Find("slopes");
    return given != nullptr ? R(given->At(head)) : Held(SlopeOf(params, params.first_head + head));
  }

  static R SlopeOf(const Params& params, int64_t index) {
    const auto n = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(params.TotalHeads())));
    // -max_bias (index + 1)/n, or -max_bias (2 (index - n) + 1)/(2 n): an exact power of two where
    // the exponent is whole.
    const int64_t numerator = index < n ? 2 * (index + 1) : 2 * (index - n) + 1;
    return Power2(R(-params.max_bias) * R(numerator) / R(2 * n));
  }

  const Params* params_;
  const NamedInputs* inputs_;
  R slope_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::alibi
