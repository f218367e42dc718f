#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "posgauge/reference/rotation_ladder.h"

namespace posgauge {

/// cos and sin of p w for one whole position and one pair, by a route of its own: the independent
/// second opinion on tables. The frequency is held as a fraction of a turn to 192 bits, so that the
/// product with the position is reduced in integers, exactly; a table of 1024 points of the turn
/// and the Taylor polynomials of the rest do the remainder in double-double. It shares nothing with
/// RowCache but the frequencies.
class DirectRotation {
 public:
  /// Throws ParameterError if a frequency cannot be enclosed to 2^-192 turns at 1025 bits.
  explicit DirectRotation(const RotationLadder& ladder);

  /// {cos, sin}, 0 <= position < 2^32; each |high + low - real value| <= kRadius.
  std::array<DoubleDouble, 2> At(int64_t position, int64_t pair) const;

  /// Derived by tests/rotation_bounds.py, operation by operation.
  static constexpr double kRadius = 0x1p-103;

 private:
  using Turns = std::array<uint64_t, 3>;  // floor(w / 2 pi * 2^192) mod 2^192, low word first
  std::vector<Turns> frequency_;
};

}  // namespace posgauge
