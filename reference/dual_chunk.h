#pragma once

#include <memory>
#include <utility>

#include "posgauge/reference/turned_products.h"
#include "posgauge/schemes/dual_chunk.h"

namespace posgauge::dual_chunk {

/// Where vectors turn.
inline TurnedAt TurnedAtOf(const Params& params, double query, double key) {
  return {params.QueryTurn(query, params.ChunksBetween(query, key)), params.KeyTurn(key)};
}

template <class R>
class Head {
 public:
  Head(const Params& params, const NamedInputs& inputs, int64_t head,
       std::shared_ptr<const TurnedProducts<R>> products)
      : params_(&params), inputs_(&inputs), head_(head), products_(std::move(products)) {}

  /// An et al. 2024, sec. 2.
  R Score(int64_t query, int64_t key) const {
    const NamedInputs& in = *inputs_;
    const std::vector<R> q = HeadRow<R>(in["q"], query, head_), k = HeadRow<R>(in["k"], key, head_);
    return Scaled(params_->attention, Sum(products_->Terms(q, k, in["query_positions"].At(query),
                                                           in["key_positions"].At(key))));
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

template <class R>
Head<R> MakeHead(const Params& params, const NamedInputs& inputs, int64_t head) {
  const auto products = MakeShared<R>(params, inputs);
  products->Evaluate();
  return {params, inputs, head, products};
}

}  // namespace posgauge::dual_chunk
