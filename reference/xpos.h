#pragma once

#include <memory>
#include <utility>

#include "posgauge/reference/turned_products.h"
#include "posgauge/schemes/xpos.h"

namespace posgauge::xpos {

/// The turns of a call, and zeta^((i - j)/scale_base) of its offsets; the same for all heads.
template <class R>
class Shared {
 public:
  Shared(const Params& params, const NamedInputs& inputs)
      : params_(&params),
        inputs_(&inputs),
        products_(params.turning.Of(params.attention), inputs, [](double query, double key) {
          return TurnedAt{query, key};
        }) {
    const Rotary rotary = params.turning.Of(params.attention);
    const R gamma(params.gamma);
    for (int64_t pair = 0; pair < rotary.Pairs(); ++pair) {
      zeta_.push_back(Held((R(2 * pair) / R(rotary.rotary_dim) + gamma) / (R(1) + gamma)));
    }
  }

  void Evaluate() {
    products_.Evaluate();
    fading_.Fill(*inputs_, [&](double query, double key) {
      const R exponent = (R(query) - R(key)) / R(params_->scale_base);
      std::vector<R> factors;
      for (const R& zeta : zeta_) factors.push_back(Power(zeta, exponent));
      return factors;
    });
  }

  const TurnedProducts<R>& products() const { return products_; }

  /// [pairs].
  const std::vector<R>& Fading(double query, double key) const { return fading_.At(query, key); }

 private:
  const Params* params_;
  const NamedInputs* inputs_;
  TurnedProducts<R> products_;
  std::vector<R> zeta_;
  ByOffset<R, std::vector<R>> fading_;
};

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head,
       std::shared_ptr<const Shared<R>> shared)
      : params_(&params), inputs_(&inputs), head_(head), shared_(std::move(shared)) {}

  /// Sun et al. 2022, eq. 19.
  R Score(int64_t query, int64_t key) const {
    const NamedInputs& in = *inputs_;
    const double query_position = in["query_positions"].At(query),
                 key_position = in["key_positions"].At(key);
    const std::vector<R> q = HeadRow<R>(in["q"], query, head_), k = HeadRow<R>(in["k"], key, head_);
    const auto pairs = shared_->products().Pairs(q, k, query_position, key_position);
    const std::vector<R>& fading = shared_->Fading(query_position, key_position);
    std::vector<R> terms = shared_->products().Still(q, k);
    for (size_t i = 0; i < pairs.size(); ++i) {
      terms.push_back(fading[i] * (pairs[i][0] + pairs[i][1]));
    }
    return Scaled(params_->attention, Sum(terms));
  }

 private:
  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
  std::shared_ptr<const Shared<R>> shared_;
};

template <class R>
std::shared_ptr<Shared<R>> MakeShared(const Params& params, const NamedInputs& inputs) {
  return std::make_shared<Shared<R>>(params, inputs);
}

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head,
                 std::shared_ptr<const Shared<R>> shared) {
  return {params, inputs, head, std::move(shared)};
}

}  // namespace posgauge::xpos
