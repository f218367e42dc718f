#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/reference/named_inputs.h"
#include "posgauge/reference/proof.h"
#include "posgauge/schemes/base/double_double.h"
#include "posgauge/schemes/base/scheme.h"
#include "posgauge/schemes/base/weight.h"

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

/// Values enclosed one by one: |high + low - v| <= radius.
struct EnclosedEach {
  std::vector<DoubleDouble> values;
  std::vector<double> radii;
};

/// What a scheme of attention means, as real numbers, rounded once to nearest even with the
/// evidence for each (Ziv over intervals of 128 to 1025 bits). Sums that are rational may be ties
/// that no precision decides: they are then `exact` or `proven` where 1025 bits hold them, else
/// `undecided`. Immutable; safe to share between threads.
class ExactAttention {
 public:
  /// Throws ParameterError for a scheme that does not act in attention.
  explicit ExactAttention(const Scheme& scheme);

  /// Whether the scheme yields a quantity.
  bool Yields(AttentionQuantity quantity) const;

  /// Tensors that a quantity takes, by name and shape; extents that the scheme does not fix are -1
  /// (queries, keys).
  std::vector<Weight> InputsOf(AttentionQuantity quantity) const;

  /// Shape of the result. Throws ParameterError unless the inputs are exactly those of InputsOf,
  /// fit each other, are finite and in range, and every query has a visible key where one is
  /// needed.
  std::vector<int64_t> CheckInputs(AttentionQuantity quantity, const NamedInputs& inputs) const;

  /// All but buckets. Throws as CheckInputs does.
  RoundedValues Evaluate(AttentionQuantity quantity, const NamedInputs& inputs, Dtype dtype) const;

  /// Exact integers. Throws as CheckInputs does.
  std::vector<int64_t> Buckets(const NamedInputs& inputs) const;

  /// For measuring errors; -infinity stands for itself.
  EnclosedEach Enclose(AttentionQuantity quantity, const NamedInputs& inputs) const;

 private:
  Scheme scheme_;
};

}  // namespace posgauge
