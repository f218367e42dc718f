#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "posgauge/reference/turned_products.h"
#include "posgauge/schemes/dual_chunk.h"

namespace posgauge::dual_chunk {

/// Where a key turns. Positions are whole and below 2^53: remainders, differences and quotients of
/// multiples are exact.
inline double KeyTurn(const Params& params, double key) { return std::fmod(key, params.Stride()); }

/// Chunks from the key's to the query's; negative where the key comes later.
inline double ChunksBetween(const Params& params, double query, double key) {
  const auto begin = [&](double position) { return position - KeyTurn(params, position); };
  return (begin(query) - begin(key)) / params.Stride();
}

/// Where a query turns against keys that many chunks before. An et al. 2024, arXiv:2402.17463,
/// sec. 2.
inline double QueryTurn(const Params& params, double query, double chunks) {
  const double stride = params.Stride(), size = static_cast<double>(params.chunk_size);
  const double within = std::fmod(query, stride);
  if (chunks <= 0) return within;
  if (params.queries == Queries::critical) return within + (chunks == 1 ? stride : size);
  return std::min(chunks == 1 ? within + stride : 2 * stride - 1, size);
}

/// Where vectors turn.
inline TurnedAt TurnedAtOf(const Params& params, double query, double key) {
  return {QueryTurn(params, query, ChunksBetween(params, query, key)), KeyTurn(params, key)};
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

}  // namespace posgauge::dual_chunk
