#pragma once

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/swin2.h"

namespace posgauge::swin2 {

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head)
      : params_(&params), inputs_(&inputs), head_(head) {}

  /// Liu et al. 2022, eqs. 3 and 4.
  R Bias(double query_position, double key_position) const {
    const NamedInputs& in = *inputs_;
    const auto query = static_cast<int64_t>(query_position),
               key = static_cast<int64_t>(key_position);
    const int64_t width = params_->window.w;
    const R y = Coordinate(query / width - key / width, params_->ExtentH());
    const R x = Coordinate(query % width - key % width, params_->ExtentW());
    std::vector<R> terms;
    for (int64_t unit = 0; unit < params_->mlp_width; ++unit) {
      const R hidden = Sum(std::vector<R>{R(in["w1"].At(unit, 0)) * y, R(in["w1"].At(unit, 1)) * x,
                                          R(in["b1"].At(unit))});
      terms.push_back(R(in["w2"].At(head_, unit)) * Max(hidden, R(0)));
    }
    return R(16) * Sigmoid(Sum(terms));
  }

  /// Eq. 2.
  R Score(int64_t query, int64_t key) const {
    const NamedInputs& in = *inputs_;
    return Cosine(query, key) * Scale() +
           Bias(in["query_positions"].At(query), in["key_positions"].At(key));
  }

 private:
  // sign(u) log2(|u| + 1) / log2 8, u = 8 difference / (extent - 1). Whole logarithms, where an
  // enclosure alone would not tell a coordinate from its neighbours, are taken as such.
  R Coordinate(int64_t difference, int64_t extent) const {
    if (difference == 0 || extent == 1) return R(0);
    const int64_t steps = extent - 1, far = 8 * std::abs(difference);
    const auto size = [&] {
      if constexpr (kIsInterval<R>) {
        for (int64_t log = 1; steps << log <= steps + far; ++log) {
          if (steps << log == steps + far) return R(log) / R(3);
        }
      }
      return Log(R(1) + R(far) / R(steps)) / Log(R(8));
    }();
    return difference > 0 ? size : -size;
  }

  // exp(min(tau, ln 100)). Beyond ln 100 that is 100 itself, of which an enclosure of the
  // exponential would fall short.
  R Scale() const {
    const double tau = (*inputs_)["tau"].At(head_);
    if constexpr (kIsInterval<R>) {
      return Less(R(tau), Log(R(100))) ? Exp(R(tau)) : R(100);
    } else {
      return Exp(Min(R(tau), Log(R(100))));
    }
  }

  // <q, k> / (max(|q|, 1e-12) max(|k|, 1e-12)). Enclosures take one root of the product of squares,
  // which is exact wherever the cosine is rational; a kernel may normalise before it multiplies.
  R Cosine(int64_t query, int64_t key) const {
    const ExactTensor &q = (*inputs_)["q"], &k = (*inputs_)["k"];
    const R least = R(1) / R(1e12);
    if constexpr (kIsInterval<R>) {
      const R squared = least * least;
      return DotOf<R>(*inputs_, head_, query, key) /
             Sqrt(Max(Squared(q, query), squared) * Max(Squared(k, key), squared));
    } else {
      const R of_query = Max(Sqrt(Squared(q, query)), least),
              of_key = Max(Sqrt(Squared(k, key)), least);
      std::vector<R> terms;
      for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
        terms.push_back(R(q.At(query, head_, c)) / of_query * (R(k.At(key, head_, c)) / of_key));
      }
      return Sum(terms);
    }
  }

  R Squared(const ExactTensor& rows, int64_t row) const {
    std::vector<R> squares;
    for (int64_t c = 0; c < params_->attention.head_dim; ++c) {
      const R value(rows.At(row, head_, c));
      squares.push_back(value * value);
    }
    return Sum(squares);
  }

  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
};

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  return {params, inputs, head};
}

}  // namespace posgauge::swin2
