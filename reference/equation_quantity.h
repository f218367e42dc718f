#pragma once

#include <array>
#include <string_view>

#include "posgauge/schemes/base/fields.h"

namespace posgauge {

/// What can be asked of a scheme that acts in attention.
///   slopes     [heads]                     alibi's factors on the distance
///   buckets    [queries, keys]             rows of a learned table, by distance or offset
///   bias       [heads, queries, keys]      what is added to scaled scores
///   scores     [heads, queries, keys]      before softmax; -infinity where a key is not visible
///   attention  [queries, heads, head_dim]  the output
/// and of one that adds rows which are no waves:
///   table      [positions, width]          the rows
///   embed      [positions, width]          x plus its rows
enum class EquationQuantity { slopes, buckets, bias, scores, attention, table, embed };
template <>
inline constexpr auto kVariantNames<EquationQuantity> = std::array<std::string_view, 7>{
    "slopes", "buckets", "bias", "scores", "attention", "table", "embed"};

/// What a kernel calls its result.
constexpr std::string_view OutputName(EquationQuantity quantity) {
  return quantity == EquationQuantity::table   ? "rows"
         : quantity == EquationQuantity::embed ? "out"
                                               : VariantName(quantity);
}

/// Whether a quantity is one of added rows.
constexpr bool IsOfRows(EquationQuantity quantity) {
  return quantity == EquationQuantity::table || quantity == EquationQuantity::embed;
}

}  // namespace posgauge
