#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/transformer_xl.h"

namespace posgauge::transformer_xl {

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), inputs_(&inputs), head_(head) {
    for (int64_t wave = 0; wave < params.model_width / 2; ++wave) {
      frequency_.push_back(Held(RationalPower(R(params.base), -2 * wave, params.model_width)));
    }
  }

  /// Dai et al. 2019, sec. 3.3, terms (a) to (d) collected by key and by offset.
  R Score(int64_t query, int64_t key) const {
    const NamedInputs& in = *inputs_;
    const ExactTensor &q = in["q"], &k = in["k"];
    const std::vector<R> projected =
        Projected(R(in["query_positions"].At(query)) - R(in["key_positions"].At(key)));
    std::vector<R> terms;
    for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
      const R content(q.At(query, head_, c));
      terms.push_back((content + R(in["content_bias"].At(head_, c))) * R(k.At(key, head_, c)));
      terms.push_back((content + R(in["position_bias"].At(head_, c))) *
                      projected[static_cast<size_t>(c)]);
    }
    return Scaled(params_->attention, Sum(terms));
  }

 private:
  // W R_o, the sines of R_o before the cosines.
  std::vector<R> Projected(R offset) const {
    if (params_->clamp_length) offset = Min(offset, R(*params_->clamp_length));
    std::vector<R> sines, row;
    for (const R& frequency : frequency_) {
      const auto [cos, sin] = CosSin(Angle(offset, frequency));
      row.push_back(cos);
      sines.push_back(sin);
    }
    row.insert(row.begin(), sines.begin(), sines.end());
    const ExactTensor& weight = (*inputs_)["position_weight"];
    std::vector<R> projected;
    for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
      std::vector<R> terms;
      for (int64_t channel = 0; channel < params_->model_width; ++channel) {
        terms.push_back(R(weight.At(head_, c, channel)) * row[static_cast<size_t>(channel)]);
      }
      projected.push_back(Sum(terms));
    }
    return projected;
  }

  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
  std::vector<R> frequency_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::transformer_xl
