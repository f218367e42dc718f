#pragma once

#include <array>
#include <string_view>

#include "posgauge/schemes/base/fields.h"

namespace posgauge {

/// What can be asked of a scheme that acts in attention.
///   slopes     [heads]                     alibi's factors on the distance
///   buckets    [queries, keys]             t5's indices
///   bias       [heads, queries, keys]      what is added to scaled scores
///   scores     [heads, queries, keys]      before softmax; -infinity where a key is not visible
///   attention  [queries, heads, head_dim]  the output
enum class AttentionQuantity { slopes, buckets, bias, scores, attention };
template <>
inline constexpr auto kVariantNames<AttentionQuantity> =
    std::array<std::string_view, 5>{"slopes", "buckets", "bias", "scores", "attention"};

}  // namespace posgauge
