#pragma once

#include <memory>
#include <span>
#include <utility>

#include "posgauge/reference/attention.h"
#include "posgauge/reference/by_offset.h"
#include "posgauge/schemes/transformer_xl.h"

namespace posgauge::transformer_xl {

/// R_o of every offset of a call, the sines before the cosines; the same for all heads.
template <class R>
class Waves {
 public:
  Waves(const Params& params, const NamedInputs& inputs) : params_(&params), inputs_(&inputs) {
    for (int64_t wave = 0; wave < params.model_width / 2; ++wave) {
      frequency_.push_back(Held(RationalPower(R(params.base), -2 * wave, params.model_width)));
    }
  }

  void Evaluate() {
    rows_.Fill(*inputs_, [&](double query, double key) {
      R offset = R(query) - R(key);
      if (params_->clamp_length) offset = Min(offset, R(*params_->clamp_length));
      std::vector<R> row, cosines;
      for (const R& frequency : frequency_) {
        const auto [cos, sin] = CosSin(Angle(offset, frequency));
        row.push_back(sin);
        cosines.push_back(cos);
      }
      row.insert(row.end(), cosines.begin(), cosines.end());
      return row;
    });
  }

  /// [model_width].
  const std::vector<R>& At(double query, double key) const { return rows_.At(query, key); }

 private:
  const Params* params_;
  const NamedInputs* inputs_;
  std::vector<R> frequency_;
  ByOffset<R, std::vector<R>> rows_;
};

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head,
       std::shared_ptr<const Waves<R>> waves)
      : params_(&params), inputs_(&inputs), head_(head), waves_(std::move(waves)) {}

  /// Dai et al. 2019, sec. 3.3, terms (a) to (d) collected by key and by offset:
  /// <q + u, k> + <q + v, W R_o>.
  std::vector<R> Scores(int64_t query) const {
    const NamedInputs& in = *inputs_;
    const ExactTensor& k = in["k"];
    const std::vector<R> content = Shifted(query, "content_bias"),
                         position = Shifted(query, "position_bias");
    // Of real numbers <q + v, W R_o> is <W^T (q + v), R_o> too, which is far less work for a row.
    std::vector<R> turned;
    if constexpr (kIsInterval<R>) turned = Turned(position);
    std::vector<R> scores;
    for (int64_t key = 0; key < k.shape[0]; ++key) {
      const std::vector<R>& waves =
          waves_->At(in["query_positions"].At(query), in["key_positions"].At(key));
      std::vector<R> terms;
      for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
        terms.push_back(content[static_cast<size_t>(c)] * R(k.At(key, head_, c)));
      }
      if constexpr (kIsInterval<R>) {
        for (size_t i = 0; i < waves.size(); ++i) terms.push_back(turned[i] * waves[i]);
      } else {
        for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
          terms.push_back(position[static_cast<size_t>(c)] * Dot(WeightRow(c), waves));
        }
      }
      scores.push_back(Scaled(params_->attention, Sum(terms)));
    }
    return scores;
  }

 private:
  // q plus a bias, [head_dim].
  std::vector<R> Shifted(int64_t query, std::string_view bias) const {
    std::vector<R> shifted;
    for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
      shifted.push_back(R((*inputs_)["q"].At(query, head_, c)) + R((*inputs_)[bias].At(head_, c)));
    }
    return shifted;
  }

  // W^T x, [model_width].
  std::vector<R> Turned(const std::vector<R>& x) const {
    std::vector<R> turned(static_cast<size_t>(params_->model_width), R(0));
    for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
      const std::span<const double> row = WeightRow(c);
      for (size_t i = 0; i < turned.size(); ++i) {
        turned[i] = turned[i] + R(row[i]) * x[static_cast<size_t>(c)];
      }
    }
    return turned;
  }

  std::span<const double> WeightRow(int64_t channel) const {
    const auto width = static_cast<size_t>(params_->model_width);
    const auto row = static_cast<size_t>(head_ * params_->attention.head_dim + channel);
    return std::span((*inputs_)["position_weight"].values).subspan(row * width, width);
  }

  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
  std::shared_ptr<const Waves<R>> waves_;
};

template <class R>
std::shared_ptr<Waves<R>> MakeShared(const Params& params, const NamedInputs& inputs) {
  return std::make_shared<Waves<R>>(params, inputs);
}

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head,
                 std::shared_ptr<const Waves<R>> waves) {
  return {params, inputs, head, std::move(waves)};
}

}  // namespace posgauge::transformer_xl
