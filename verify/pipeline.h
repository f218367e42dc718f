#pragma once

#include <vector>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/contract.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// A rotary kernel with exactly the arithmetic of a contract, in software: every operation is
/// rounded where the contract says. Sines are correctly rounded to the contract's format, whatever
/// error it would allow. What a declared pipeline computes, without its kernel at hand.
class Pipeline {
 public:
  Pipeline(const Contract& contract, const Scheme& scheme);

  /// Radians per token as the pipeline holds them, [pairs].
  const std::vector<double>& frequencies() const { return frequencies_; }

  /// Angles in radians as the pipeline forms them are off by this, [positions, pairs].
  std::vector<double> AngleErrors(Positions positions) const;

  /// cos and sin entries, [positions, pairs] each.
  struct Entries {
    std::vector<double> cos, sin;
  };
  Entries Table(Positions positions) const;

  /// x and the result [positions, heads, head_dim], in the contract's store dtype.
  Tensor Rotate(Positions positions, const Tensor& x) const;

 private:
  double RoundedAngle(double position, size_t pair) const;
  bool AngleIsExact() const;

  Contract contract_;
  Rotary layout_;
  ExactRotation exact_, held_;  // the scheme's, and that of the frequencies as held
  std::vector<double> frequencies_;
  double magnitude_;
};

}  // namespace posgauge
