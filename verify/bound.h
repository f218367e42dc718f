#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "posgauge/schemes/base/scheme.h"
#include "posgauge/verify/contract.h"

namespace posgauge {

/// Stages whose results were handed to the kernel, each in the arithmetic that it was handed over
/// in. They count as exact: the truth is computed from them.
struct GivenStages {
  std::optional<Arithmetic> frequency = {}, table = {};
};

/// The worst errors that a contract allows a rotary kernel, derived stage by stage; derivations in
/// docs/contracts.md and beside the code. r is the norm of the input pair, a the magnitude.
/// An infinite bound means that the contract allows anything there (something may overflow).
class RotaryBound {
 public:
  /// `frequencies` in radians per token, rounded to nearest: their rounding is inside the bound.
  RotaryBound(const Contract& contract, const Scheme& scheme, std::vector<double> frequencies,
              double magnitude, GivenStages given = {});

  const Contract& contract() const { return contract_; }
  double magnitude() const { return magnitude_; }

  /// Relative error of the frequency of a pair.
  double Frequency(int64_t pair) const;

  /// Absolute error of the angle, radians; infinite only where the angle may overflow.
  double Angle(double position, int64_t pair) const;

  /// Norm of the error of (cos, sin) of a pair before the magnitude, the table's rounding included;
  /// at most 2 + rounding, however wrong the angle.
  double Table(double position, int64_t pair) const;

  /// Error of one entry of an exported table over its rounding interval: dist(truth, interval that
  /// rounds to the stored entry), magnitude included.
  double TableExcess(double position, int64_t pair) const;

  /// The same where the angle is off by `angle` radians, and the error of one entry as the table's
  /// arithmetic holds it.
  double EntryExcess(double angle) const;
  double Entry(double angle) const;

  /// How an exported entry is rounded last: to nearest where the store holds the table's
  /// arithmetic, else as the store says.
  StoreRounding TableRounding() const;

  /// Error of one output element over its rounding interval.
  double ElementExcess(double position, int64_t pair, double r) const;

  /// Norm of the error of an output pair, the store's rounding included.
  double Pair(double position, int64_t pair, double r) const;

 private:
  // What the rotation's arithmetic may lose besides u per operation, and what it works on.
  struct Rotation {
    double entries_norm;  // largest norm of a pair of table entries
    int narrowings;       // operands that are rounded to the arithmetic first
    double lost;          // absolute, of one element before the store
    bool may_overflow;
  };
  Rotation RotationOf(double tau, double r) const;
  // Of one entry before the table's rounding, relative to the magnitude.
  double Component(double angle) const;

  Contract contract_;
  std::vector<double> frequencies_;
  double magnitude_;
  GivenStages given_;
  std::vector<double> frequency_errors_;
};

}  // namespace posgauge
