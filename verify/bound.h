#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/schemes/base/rotary.h"
#include "posgauge/verify/contract.h"

namespace posgauge {

/// The worst errors that a contract allows a rotary kernel, derived stage by stage; derivations in
/// docs/contracts.md and beside the code. r is the norm of the input pair, a the magnitude.
/// An infinite bound means that the contract allows anything there (something may overflow).
class RotaryBound {
 public:
  /// `frequencies` in radians per token, rounded to nearest: their rounding is inside the bound.
  /// `scaled`: the scheme's frequencies are not plain powers, so that forming them takes more
  /// steps.
  RotaryBound(const Contract& contract, const Rotary& layout, std::vector<double> frequencies,
              double magnitude, bool scaled);

  const Contract& contract() const { return contract_; }
  double magnitude() const { return magnitude_; }

  /// Relative error of the frequency of a pair.
  double Frequency(int64_t pair) const;

  /// Absolute error of the angle, radians.
  double Angle(double position, int64_t pair) const;

  /// Norm of the error of (cos, sin) of a pair before the magnitude, the table's rounding included;
  /// at most 2 + rounding, however wrong the angle.
  double Table(double position, int64_t pair) const;

  /// Error of one entry of an exported table over its rounding interval: dist(truth, interval that
  /// rounds to the stored entry), magnitude included.
  double TableExcess(double position, int64_t pair) const;

  /// Error of one output element over its rounding interval.
  double ElementExcess(double position, int64_t pair, double r) const;

  /// Norm of the error of an output pair, the store's rounding included.
  double Pair(double position, int64_t pair, double r) const;

 private:
  double FrequencyError(int64_t pair) const;

  Contract contract_;
  Rotary layout_;
  std::vector<double> frequencies_;
  double magnitude_;
  bool scaled_;
  std::vector<double> relative_errors_;  // Frequency of every pair
};

}  // namespace posgauge
