#pragma once

#include <span>
#include <string>
#include <vector>

#include "posgauge/reference/exact_equations.h"
#include "posgauge/verify/equation_bound.h"
#include "posgauge/verify/judge.h"

namespace posgauge {

/// A result of a scheme that is given by equations and what it was asked for. `position` stands for
/// the whole call, but where rows have positions of their own: failures are found again by it.
struct EquationResult {
  EquationQuantity quantity;
  const NamedInputs& inputs;
  const Tensor& out;
  double position = 0;
  /// Declared: a row of biases or scores may differ by a constant, which softmax does not see.
  bool rowshift = false;
};

/// The largest position of a query, to find failures again by; 0 of what has none.
double FarthestQuery(const NamedInputs& inputs);

/// Every element against the bound of the contract, by the rounding-interval excess; what is masked
/// must be -infinity. Rows that keep the bound after one shift by a constant pass where `rowshift`
/// is declared and fail where not, and say so.
Finding HoldToBound(const EquationResult& result, const EnclosedEach& truth,
                    const std::vector<EquationLimit>& limits, const Contract& contract);

/// Every element against exact arithmetic: error over budget * spacing of the dtype at the largest
/// magnitude that is added up to it. A declared row shift is taken off first; its cost remains.
Finding HoldToBudget(const EquationResult& result, const EnclosedEach& truth,
                     const std::vector<EquationLimit>& limits, double budget);

/// Integers, element by element.
Finding HoldToIntegers(const EquationResult& result, const std::vector<int64_t>& truth);

/// "head 2, query 17, key 3", of one element.
std::string PlaceText(const EquationResult& result, size_t index);

/// Rows that differ from the truth by a constant, over a whole result: how many, the largest shift,
/// and the spacing of the dtype at the shifted magnitude where it is largest, against that at the
/// row's own.
struct RowShifts {
  uint64_t rows = 0;
  double largest = 0, spacing = 0, own_spacing = 0;
  void Merge(const RowShifts& other);
  std::string Text() const;  // "" if there are none
};
RowShifts FindRowShifts(const EquationResult& result, const EnclosedEach& truth,
                        const std::vector<EquationLimit>& limits, const Contract& contract);

}  // namespace posgauge
