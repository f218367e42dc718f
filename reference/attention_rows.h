#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "posgauge/reference/all.h"
#include "posgauge/reference/attention.h"
#include "posgauge/reference/attention_quantity.h"
#include "posgauge/schemes/base/scheme.h"

namespace posgauge {

// A quantity of any scheme of attention row by row, in numbers of any type R.

/// Calls use(params) with the parameters of a scheme of attention. Throws ParameterError for
/// others.
template <class Use>
auto WithAttention(const Scheme& scheme, const Use& use) {
  return std::visit(
      [&]<class Params>(const Params& params) {
        if constexpr (Attends<Params>) {
          return use(params);
        } else {
          AttentionOf(scheme);  // throws
          using Result = decltype(use(std::declval<alibi::Params>()));
          return Result();
        }
      },
      scheme);
}

template <class Params>
constexpr bool YieldsOf(AttentionQuantity quantity) {
  using Head = decltype(MakeHead<double>(std::declval<const Params&>(),
                                         std::declval<const NamedInputs&>(), int64_t{}));
  switch (quantity) {
    case AttentionQuantity::slopes:
      return requires(const Head& head) { head.Slope(); };
    case AttentionQuantity::buckets:
      return requires(const Head& head) { head.Bucket(0.0, 0.0); };
    case AttentionQuantity::bias:
      return requires(const Head& head) { head.Bias(0.0, 0.0); };
    case AttentionQuantity::scores:
    case AttentionQuantity::attention:
      return true;
  }
  return false;
}

/// Where the values of a row stand in the result.
struct RowPlace {
  int64_t first, count;
};

inline RowPlace PlaceOf(AttentionQuantity quantity, const std::vector<int64_t>& shape, int64_t head,
                        int64_t query) {
  switch (quantity) {
    case AttentionQuantity::slopes:
      return {head, 1};
    case AttentionQuantity::attention:
      return {(query * shape[1] + head) * shape[2], shape[2]};
    default:
      return {(head * shape[1] + query) * shape[2], shape[2]};
  }
}

/// One row of a quantity: the slope of a head, or a query's [keys] or [head_dim]. `head` is
/// MakeHead<R>(params, inputs, head_index).
template <class R, class Params, class Head>
std::vector<R> RowOf(const Params& params, const Head& head, AttentionQuantity quantity,
                     const NamedInputs& inputs, int64_t head_index, int64_t query) {
  switch (quantity) {
    case AttentionQuantity::slopes:
      if constexpr (requires { head.Slope(); }) return {head.Slope()};
      break;
    case AttentionQuantity::bias:
      if constexpr (requires { head.Bias(0.0, 0.0); }) {
        const double query_position = inputs["query_positions"].At(query);
        std::vector<R> row;
        for (double key_position : inputs["key_positions"].values) {
          row.push_back(head.Bias(query_position, key_position));
        }
        return row;
      }
      break;
    case AttentionQuantity::scores:
      return ScoresOf<R>(head, params.attention, inputs, head_index, query);
    case AttentionQuantity::attention:
      return AttendOf<R>(head, params.attention, inputs, head_index, query);
    case AttentionQuantity::buckets:
      break;
  }
  return {};
}

/// Whether a value of a row is -infinity by rule.
inline bool IsMasked(const Attention& attention, AttentionQuantity quantity,
                     const NamedInputs& inputs, int64_t query, int64_t index) {
  return quantity == AttentionQuantity::scores &&
         !attention.Visible(inputs["query_positions"].At(query), inputs["key_positions"].At(index));
}

/// Calls visit(head, query) for every row of a result, in order.
template <class Visit>
void ForEachRow(AttentionQuantity quantity, const std::vector<int64_t>& shape, const Visit& visit) {
  const bool by_query = quantity == AttentionQuantity::attention;
  const int64_t heads = by_query ? shape[1] : shape[0];
  const int64_t queries = quantity == AttentionQuantity::slopes ? 1
                          : by_query                            ? shape[0]
                                                                : shape[1];
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t query = 0; query < queries; ++query) visit(head, query);
  }
}

}  // namespace posgauge
