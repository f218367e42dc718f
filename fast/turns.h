#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "posgauge/fast/wide.h"

namespace posgauge::fast {

/// Frequencies as fixed-point turns per token, |w|/(2 pi): what a phase is made of by integer
/// arithmetic, where whole turns drop out by themselves. [pairs], a 64-bit lane for every word, so
/// that vectors load them as they are.
struct Turns {
  /// 96 bits of the fraction, 32 in each word, the first the highest; within 2^-97 turns.
  std::vector<uint64_t> fraction[3];
  /// Whole turns per token; only positions with a fraction meet them.
  std::vector<uint64_t> whole;
  /// Sign bit of w in the place of a double's.
  std::vector<uint64_t> sign;
  bool any_whole = false;

  size_t Pairs() const { return sign.size(); }
};

/// Largest |frequency|, in radians per token.
inline constexpr double kLargestFrequency = 0x1p34;

/// Of the exact sums high + low. Throws ParameterError on a sum that is not finite or above
/// kLargestFrequency.
Turns TurnsOf(std::span<const double> high, std::span<const double> low);

/// |position| in tokens.
struct TurnPosition {
  uint32_t whole = 0;
  uint64_t fraction = 0;  // units of 2^-64, nearest
  bool negative = false;
};

/// Positions of several axes as every pair meets its own, [pairs]: a 64-bit lane for every word.
struct PairPositions {
  std::vector<uint64_t> whole;     // 32 bits; bit 62 where the position is not 0, 63 where negative
  std::vector<uint64_t> fraction;  // units of 2^-64; of no meaning where there is none at all
  bool any_fraction = false;

  /// From the position of one token on each axis, and the axis of each pair.
  void Set(std::span<const TurnPosition> row, std::span<const int64_t> axis);

 private:
  std::vector<uint64_t> packed_;  // [axes]
};

/// Largest |position|: whole tokens fit 32 bits.
inline constexpr double kLargestPosition = 0x1p32 - 1;

/// Throws ParameterError on a position that is not finite or above kLargestPosition.
TurnPosition TurnPositionOf(double position);
TurnPosition TurnPositionOf(Wide position);

}  // namespace posgauge::fast
