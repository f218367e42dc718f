#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "posgauge/reference/all.h"
#include "posgauge/reference/attention.h"
#include "posgauge/reference/equation_quantity.h"
#include "posgauge/schemes/base/scheme.h"

namespace posgauge {

// A quantity of any scheme that has equations row by row, in numbers of any type R: of attention
// (reference/attention.h), or of rows that are added to embeddings. A scheme of rows has in its
// namespace (reference/<scheme>.h) a class template `Rows<R>`, which
//
//   template <class R> Rows<R> MakeRows(const Params&, const NamedInputs&)
//
// makes, with the member `std::vector<R> Row(double position) const`: [width].

/// Calls use(params) with the parameters of a scheme that has equations. Throws ParameterError for
/// others.
template <class Use>
auto WithEquations(const Scheme& scheme, const Use& use) {
  return std::visit(
      [&]<class Params>(const Params& params) {
        if constexpr (ByEquations<Params>) {
          return use(params);
        } else {
          throw ParameterError(fmt::format("{} has no equation for every element: it is {}",
                                           Params::kName, Params::kSummary));
          using Result = decltype(use(std::declval<alibi::Params>()));
          return Result();
        }
      },
      scheme);
}

/// Whether heads share what is made once a call (MakeShared<R> of the scheme).
template <class Params>
concept SharesBetweenHeads = requires(const Params& params, const NamedInputs& inputs) {
  MakeShared<double>(params, inputs);
};

/// What RowOf takes: the head of that index, or, of additions, the rows.
template <class R, class Params>
auto MakeEquations(const Params& params, const NamedInputs& inputs, int64_t head) {
  if constexpr (Adds<Params>) {
    return MakeRows<R>(params, inputs);
  } else if constexpr (SharesBetweenHeads<Params>) {
    auto shared = MakeShared<R>(params, inputs);
    shared->Evaluate();
    return MakeHead<R>(params, inputs, head, shared);
  } else {
    return MakeHead<R>(params, inputs, head);
  }
}

template <class Params>
constexpr bool YieldsOf(EquationQuantity quantity) {
  if constexpr (Adds<Params>) return IsOfRows(quantity);
  if (IsOfRows(quantity)) return false;
  using Head = decltype(MakeEquations<double>(std::declval<const Params&>(),
                                              std::declval<const NamedInputs&>(), int64_t{}));
  switch (quantity) {
    case EquationQuantity::slopes:
      return requires(const Head& head) { head.Slope(); };
    case EquationQuantity::buckets:
      return requires(const Head& head) { head.Bucket(0.0, 0.0); };
    case EquationQuantity::bias:
      return requires(const Head& head) { head.Bias(0.0, 0.0); };
    case EquationQuantity::scores:
    case EquationQuantity::attention:
      return true;
    default:
      return false;
  }
}

/// Where the values of a row stand in the result.
struct RowPlace {
  int64_t first, count;
};

inline RowPlace PlaceOf(EquationQuantity quantity, const std::vector<int64_t>& shape, int64_t head,
                        int64_t query) {
  switch (quantity) {
    case EquationQuantity::slopes:
      return {head, 1};
    case EquationQuantity::attention:
      return {(query * shape[1] + head) * shape[2], shape[2]};
    case EquationQuantity::table:
    case EquationQuantity::embed:
      return {query * shape[1], shape[1]};
    default:
      return {(head * shape[1] + query) * shape[2], shape[2]};
  }
}

/// One row of a quantity: the slope of a head, a query's [keys] or [head_dim], or a position's
/// [width], which then stands for a query. `head` is MakeEquations<R>(params, inputs, head_index).
template <class R, class Params, class Head>
std::vector<R> RowOf(const Params& params, const Head& head, EquationQuantity quantity,
                     const NamedInputs& inputs, int64_t head_index, int64_t query) {
  if constexpr (Adds<Params>) {
    std::vector<R> row = head.Row(inputs["positions"].At(query));
    for (int64_t i = 0; quantity == EquationQuantity::embed && i < params.width; ++i) {
      row[static_cast<size_t>(i)] = R(inputs["x"].At(query, i)) + row[static_cast<size_t>(i)];
    }
    return row;
  } else {
    switch (quantity) {
      case EquationQuantity::slopes:
        if constexpr (requires { head.Slope(); }) return {head.Slope()};
        break;
      case EquationQuantity::bias:
        if constexpr (requires { head.Bias(0.0, 0.0); }) {
          const double query_position = inputs["query_positions"].At(query);
          std::vector<R> row;
          for (double key_position : inputs["key_positions"].values) {
            row.push_back(head.Bias(query_position, key_position));
          }
          return row;
        }
        break;
      case EquationQuantity::scores:
        return ScoresOf<R>(head, params.attention, inputs, head_index, query);
      case EquationQuantity::attention:
        return AttendOf<R>(head, params.attention, inputs, head_index, query);
      default:
        break;
    }
    return {};
  }
}

/// Whether a value of a row is -infinity by rule.
template <class Params>
bool IsMasked(const Params& params, EquationQuantity quantity, const NamedInputs& inputs,
              int64_t query, int64_t index) {
  if constexpr (Adds<Params>) {
    return false;
  } else {
    return quantity == EquationQuantity::scores &&
           !params.attention.Visible(inputs["query_positions"].At(query),
                                     inputs["key_positions"].At(index));
  }
}

/// Calls visit(head, query) for every row of a result, in order.
template <class Visit>
void ForEachRow(EquationQuantity quantity, const std::vector<int64_t>& shape, const Visit& visit) {
  if (IsOfRows(quantity)) {
    for (int64_t position = 0; position < shape[0]; ++position) visit(int64_t{0}, position);
    return;
  }
  const bool by_query = quantity == EquationQuantity::attention;
  const int64_t heads = by_query ? shape[1] : shape[0];
  const int64_t queries = quantity == EquationQuantity::slopes ? 1 : by_query ? shape[0] : shape[1];
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t query = 0; query < queries; ++query) visit(head, query);
  }
}

}  // namespace posgauge
