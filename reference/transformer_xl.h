#pragma once

#include <map>

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/transformer_xl.h"

namespace posgauge::transformer_xl {

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), inputs_(&inputs), head_(head) {}

  /// Dai et al. 2019, sec. 3.3, terms (a) to (d) collected by key and by offset.
  R Score(int64_t query, int64_t key) const {
    const NamedInputs& in = *inputs_;
    const ExactTensor &q = in["q"], &k = in["k"];
    const double offset = in["query_positions"].At(query) - in["key_positions"].At(key);
    const std::vector<R>& projected = Projected(offset);
    std::vector<R> terms;
    for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
      const R content(q.At(query, head_, c));
      terms.push_back((content + R(in["content_bias"].At(head_, c))) * R(k.At(key, head_, c)));
      terms.push_back((content + R(in["position_bias"].At(head_, c))) *
                      projected[static_cast<size_t>(c)]);
    }
    return ScaleOf<R>(params_->attention) * Sum(terms);
  }

 private:
  // W R_o, kept by offset: every diagonal of the scores needs it once.
  const std::vector<R>& Projected(double offset) const {
    if (params_->clamp_length) {
      offset = std::min(offset, static_cast<double>(*params_->clamp_length));
    }
    const auto found = projected_.find(offset);
    if (found != projected_.end()) return found->second;
    const int64_t waves = params_->model_width / 2;
    std::vector<R> row(static_cast<size_t>(params_->model_width), R(0));
    for (int64_t wave = 0; wave < waves; ++wave) {
      const auto [cos, sin] =
          CosSin(R(offset) * RationalPower(R(params_->base), -2 * wave, params_->model_width));
      row[static_cast<size_t>(wave)] = sin;
      row[static_cast<size_t>(waves + wave)] = cos;
    }
    const ExactTensor& weight = (*inputs_)["position_weight"];
    std::vector<R> projected;
    for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
      std::vector<R> terms;
      for (int64_t channel = 0; channel < params_->model_width; ++channel) {
        terms.push_back(R(weight.At(head_, c, channel)) * row[static_cast<size_t>(channel)]);
      }
      projected.push_back(Sum(terms));
    }
    return projected_.emplace(offset, std::move(projected)).first->second;
  }

  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
  mutable std::map<double, std::vector<R>> projected_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::transformer_xl
