#pragma once

#include <vector>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/contract.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// A rotary kernel with exactly the arithmetic of a contract, in software: every operation is
/// rounded where the contract says, to nearest. Sines, powers and logarithms are correctly rounded
/// to the contract's formats, whatever error it would allow. What a declared pipeline computes,
/// without its kernel at hand. `exact` and `dd` stand for sums of two doubles (2^-100) and
/// fixed-point turns for exact angles.
class Pipeline {
 public:
  Pipeline(const Contract& contract, const Scheme& scheme);

  /// Radians per token as the pipeline holds them, [pairs].
  const std::vector<DoubleDouble>& frequencies() const { return frequencies_; }

  /// Angles in radians as the pipeline forms them are off by this, [tokens, pairs]; infinite
  /// where they overflow.
  std::vector<double> AngleErrors(Positions positions) const;

  /// cos and sin entries, [tokens, pairs] each, in the contract's table arithmetic; NaN where
  /// the angle overflows.
  struct Entries {
    std::vector<DoubleDouble> cos, sin;
  };
  Entries Table(Positions positions) const;

  /// x and the result [tokens, heads, head_dim], in the contract's store dtype. Throws
  /// ParameterError on another shape.
  Tensor Rotate(Positions positions, const Tensor& x) const;

 private:
  DoubleDouble Angle(double position, size_t pair) const;
  double StoredPosition(double position) const;

  Contract contract_;
  Rotary layout_;
  ExactRotation exact_, held_;  // the scheme's, and that of the frequencies as held
  std::vector<DoubleDouble> frequencies_;
  DoubleDouble magnitude_;
};

}  // namespace posgauge
