#pragma once

#include <vector>

#include "posgauge/fast/wide.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge {

/// What a scheme's kernels compute from its parameters. Every fast/<scheme>.h offers
///   FastRotation Frequencies(const Params&)
/// in the scheme's namespace; relative errors at most 2^-90 unless stated there.
struct FastRotation {
  std::vector<DoubleDouble> frequency;  // radians per token, [pairs]; negative: clockwise
  DoubleDouble magnitude{1, 0};         // factor on cos and sin
};

namespace fast {

/// exp(-(index/denominator) log): relative error at most (73 |e| + 32) 2^-106, e the exponent,
/// since log carries 47, the product 5 and the quotient 15 of these units, and Exp 6 |e| + 32.
/// Published bases (log up to 25) give 2^-95, the widest that is allowed (1e30, log 69) 2^-93.
inline Wide InversePower(Wide log, int64_t index, int64_t denominator) {
  return Exp(-(log * Wide(static_cast<double>(index)) / Wide(static_cast<double>(denominator))));
}

/// base^(-2i/rotary_dim), [pairs].
inline std::vector<Wide> PlainFrequencies(const Rotary& rotary) {
  const Wide log_base = Log(rotary.base);
  std::vector<Wide> frequencies;
  for (int64_t i = 0; i < rotary.Pairs(); ++i) {
    frequencies.push_back(InversePower(log_base, 2 * i, rotary.rotary_dim));
  }
  return frequencies;
}

/// The scheme's result, with the sign of its direction.
inline FastRotation Rotation(const Rotary& rotary, const std::vector<Wide>& frequencies,
                             Wide magnitude = 1) {
  FastRotation rotation;
  const bool clockwise = rotary.direction == Direction::clockwise;
  for (Wide frequency : frequencies) {
    rotation.frequency.push_back(DoubleDouble(clockwise ? -frequency : frequency));
  }
  rotation.magnitude = DoubleDouble(magnitude);
  return rotation;
}

}  // namespace fast
}  // namespace posgauge
