#pragma once

#include <memory>
#include <utility>

#include "posgauge/reference/rational_logarithm.h"
#include "posgauge/reference/turned_products.h"
#include "posgauge/schemes/rerope.h"

namespace posgauge::rerope {

/// Where vectors turn: by their positions, or, of keys beyond the window, the query alone by it.
inline TurnedAt TurnedAtOf(const Params& params, double query, double key) {
  if (params.IsNear(query, key)) return {query, key};
  const auto window = static_cast<double>(params.window);
  return {query > key ? window : -window, 0};
}

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head,
       std::shared_ptr<const TurnedProducts<R>> products)
      : params_(&params), inputs_(&inputs), head_(head), products_(std::move(products)) {}

  /// scale f_i Re(conj(q) k e^(-i o w)). Kernels multiply q by f_i; of real numbers f_i comes last,
  /// its denominator after its numerator, so that what is rational comes out so.
  R Score(int64_t query, int64_t key) const {
    const NamedInputs& in = *inputs_;
    const double query_position = in["query_positions"].At(query);
    std::vector<R> q = HeadRow<R>(in["q"], query, head_);
    const std::vector<R> k = HeadRow<R>(in["k"], key, head_);
    const auto sum_of = [&] {
      return Sum(products_->Terms(q, k, query_position, in["key_positions"].At(key)));
    };
    if (!params_->trained_length) return Scaled(params_->attention, sum_of());
    const int64_t trained = *params_->trained_length;
    if constexpr (kIsInterval<R>) {
      const R sum = sum_of();
      const int64_t length = static_cast<int64_t>(query_position) + 1;
      if (length <= trained) return Scaled(params_->attention, sum);
      const auto rational = RationalLogarithm(length, trained);
      const R first = rational ? R((*rational)[0]) : Log(R(length)),
              second = rational ? R((*rational)[1]) : Log(R(trained));
      return Scaled(params_->attention, sum * first / second);
    } else {
      const R factor = Max(R(1), Log(R(query_position) + R(1)) / Log(R(trained)));
      for (R& channel : q) channel = channel * factor;
      return Scaled(params_->attention, sum_of());
    }
  }

 private:
  const Params* params_;
  const NamedInputs* inputs_;
  int64_t head_;
  std::shared_ptr<const TurnedProducts<R>> products_;
};

template <class R>
std::shared_ptr<TurnedProducts<R>> MakeShared(const Params& params, const NamedInputs& inputs) {
  return std::make_shared<TurnedProducts<R>>(
      params.turning.Of(params.attention), inputs,
      [params](double query, double key) { return TurnedAtOf(params, query, key); });
}

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head,
                 std::shared_ptr<const TurnedProducts<R>> products) {
  return {params, inputs, head, std::move(products)};
}

}  // namespace posgauge::rerope
