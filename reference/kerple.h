#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/kerple.h"

namespace posgauge::kerple {

/// D^exponent for D >= 0. By roots where the exponent has at most 5 binary places, so that a power
/// that is a number comes out as one; with more places only 0 and 1 have such powers among whole
/// numbers below 2^64, whose roots of degree 64 are irrational.
template <class R>
R DistancePower(const R& distance, double exponent) {
  constexpr double kRoot = 32;
  if (IsZero(distance)) return R(0);
  if (exponent * kRoot == std::trunc(exponent * kRoot)) {
    return RationalPower(distance, static_cast<int64_t>(exponent * kRoot), int64_t{32});
  }
  return Power(distance, R(exponent));
}

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), inputs_(&inputs), head_(head) {}

  R Bias(double query_position, double key_position) const {
    const R distance = Distance(query_position, key_position);
    const R r1(Of("r1"));
    if (params_->kernel == Kernel::log) return -(r1 * Log1p(R(Of("r2")) * distance));
    return -(r1 * DistancePower(distance, Of("r2")));
  }

  R Score(int64_t query, int64_t key) const {
    const double query_position = (*inputs_)["query_positions"].At(query);
    const double key_position = (*inputs_)["key_positions"].At(key);
    R dot = Scaled(params_->attention, DotOf<R>(*inputs_, head_, query, key));
    if (params_->weighted) {
      const R distance = Distance(query_position, key_position);
      dot = dot * Exp(-(R(Of("w1")) * DistancePower(distance, Of("w2"))));
    }
    return dot + Bias(query_position, key_position);
  }

 private:
  static R Distance(double query_position, double key_position) {
    return Abs(R(query_position) - R(key_position));
  }
  double Of(std::string_view weight) const { return (*inputs_)[weight].At(head_); }

  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::kerple
