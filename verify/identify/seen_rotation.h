#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "posgauge/schemes/base/rotary.h"
#include "posgauge/verify/identify/answers.h"

namespace posgauge {

/// Frequencies as outputs show them: pair i turns by values[i] +- errors[i] radians per token,
/// counter-clockwise positive, modulo `modulus` (2 pi over the smallest step between positions).
struct SeenFrequencies {
  std::vector<double> values, errors;  // [pairs]
  double modulus = 0;                  // 0: known altogether
  double magnitude = 1, magnitude_error = 0;
  double largest = 0;  // the largest position that was seen
};

/// A rotation as outputs show it.
struct SeenRotation {
  Rotary layout;  // head_dim, rotary_dim, rotary_offset, pairing; direction as most pairs turn
  bool pairing_known = true, width_known = true;
  SeenFrequencies frequencies;
  /// Angles modulo 2 pi, [tokens, pairs], and how far their roundings alone may put them off.
  std::vector<double> angles;
  double angle_error = 0;
  std::optional<Dtype> table;  // the narrowest dtype that holds every entry
  std::string why_not;         // not empty: no rotation by angles
};

/// From x and out, cos and sin, or frequencies.
SeenRotation SeeRotation(const Answers& answers);

/// Angles at positions, [tokens, pairs], as frequencies; those at powers of two are taken where
/// there are any, since every arithmetic forms them exactly.
SeenFrequencies Unwrap(const std::vector<double>& positions, const std::vector<double>& angles,
                       size_t pairs, double angle_error);

/// The narrowest of bf16, f16, f32, f64 that holds every value.
Dtype NarrowestDtype(const std::vector<double>& values);

/// x less the nearest multiple of the modulus; x itself where that is 0.
double Wrapped(double x, double modulus);

}  // namespace posgauge
