#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "posgauge/reference/equation_quantity.h"
#include "posgauge/reference/named_inputs.h"
#include "posgauge/reference/proof.h"
#include "posgauge/schemes/base/double_double.h"
#include "posgauge/schemes/base/scheme.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge {

/// Values enclosed one by one: |high + low - v| <= radius.
struct EnclosedEach {
  std::vector<DoubleDouble> values;
  std::vector<double> radii;
};

/// What a scheme of attention, or of rows that are no waves, means, as real numbers, rounded once
/// to nearest even with the evidence for each (Ziv over intervals of 128 to 1025 bits). Sums that
/// are rational may be ties that no precision decides: they are then `exact` or `proven` where 1025
/// bits hold them, else `undecided`. Immutable; safe to share between threads.
class ExactEquations {
 public:
  /// Throws ParameterError for a scheme that rotates or adds waves.
  explicit ExactEquations(const Scheme& scheme);

  /// Whether the scheme yields a quantity.
  bool Yields(EquationQuantity quantity) const;

  /// Tensors that a quantity takes, by name and shape; extents that the scheme does not fix are -1
  /// (queries, keys).
  std::vector<Weight> InputsOf(EquationQuantity quantity) const;

  /// What a kernel may take in place of computing it, by name, rounded to dtype: `slopes` [heads],
  /// of a scheme that yields them; `thresholds`, the smallest distance of every bucket of one
  /// direction (t5, deberta), which every dtype that is asked for must hold. Nothing for another
  /// name.
  std::optional<ExactTensor> ReadyMade(std::string_view name, Dtype dtype) const;

  /// Shape of the result. Throws ParameterError unless the inputs are exactly those of InputsOf,
  /// and perhaps `slopes`, which then count in place of the scheme's, fit each other, are finite
  /// and in range, and every query has a visible key where one is needed.
  std::vector<int64_t> CheckInputs(EquationQuantity quantity, const NamedInputs& inputs) const;

  /// All but buckets. Throws as CheckInputs does.
  RoundedValues Evaluate(EquationQuantity quantity, const NamedInputs& inputs, Dtype dtype) const;

  /// Exact integers. Throws as CheckInputs does.
  std::vector<int64_t> Buckets(const NamedInputs& inputs) const;

  /// For measuring errors; -infinity stands for itself.
  EnclosedEach Enclose(EquationQuantity quantity, const NamedInputs& inputs) const;

 private:
  Scheme scheme_;
};

}  // namespace posgauge
