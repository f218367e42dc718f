#pragma once

#include <vector>

#include "posgauge/reference/equation_quantity.h"
#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/contract.h"

namespace posgauge {

/// What a contract allows one element of a result to be off.
struct EquationLimit {
  double excess = 0;  // over the rounding interval of what is stored
  double stored = 0;  // of the stored number, its rounding included
  double size = 0;    // largest magnitude that was added up to it
};

/// The worst errors that a contract allows a kernel of a scheme that is given by equations: its own
/// equations (reference/<scheme>.h) on Tracked numbers. An infinite limit means that the contract
/// allows anything there: something may overflow, or `position` does not hold a position.
class EquationBound {
 public:
  EquationBound(const Contract& contract, const Scheme& scheme)
      : contract_(contract), scheme_(scheme) {}

  const Contract& contract() const { return contract_; }

  /// One an element, in C order; `shape` is that of the result. Of `slopes` in the inputs the limit
  /// takes that they are what the kernel was handed. Zeros where a score is masked.
  std::vector<EquationLimit> Limits(EquationQuantity quantity, const NamedInputs& inputs,
                                    const std::vector<int64_t>& shape) const;

 private:
  Contract contract_;
  Scheme scheme_;
};

/// What a kernel with exactly the arithmetic of a contract yields, in software (verify/emulated.h),
/// stored to nearest.
std::vector<double> EmulateEquations(const Contract& contract, const Scheme& scheme,
                                     EquationQuantity quantity, const NamedInputs& inputs,
                                     const std::vector<int64_t>& shape);

}  // namespace posgauge
