#pragma once

#include <vector>

#include "posgauge/reference/exact_addition.h"
#include "posgauge/verify/addition_bound.h"
#include "posgauge/verify/judge.h"

namespace posgauge {

/// The true rows that a result is held to, [positions, width]. Every entry is within `radius` of
/// the real number.
struct RowTruth {
  std::vector<DoubleDouble> values;
  double radius = 0;
};

RowTruth TruthOf(const ExactAddition& exact, Positions positions);

/// Rows that were handed over count as exact.
RowTruth TruthOf(const Tensor& supplied);

/// A result of an addition and what it was asked for.
struct Added {
  const ExactAddition& exact;  // what each channel holds
  Positions positions;
  const Tensor* x;    // [positions, width]; null for exported rows
  const Tensor& out;  // the same shape
  /// x + row element by element, where it is known that way (golden vectors); otherwise it follows
  /// from x and a RowTruth.
  std::span<const DoubleDouble> sums = {};
};

/// Every element against the bound of the contract, by the rounding-interval excess; a NaN or an
/// infinity in x must come out as it is.
Finding HoldToBound(const Added& added, const RowTruth& truth, const AdditionBound& bound);

/// Every element against exact arithmetic: error over budget * spacing of the dtype at the larger
/// of 1 and |x|.
Finding HoldToBudget(const Added& added, const RowTruth& truth, double budget);

}  // namespace posgauge
