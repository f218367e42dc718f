#pragma once

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/reference/row_cache.h"

namespace posgauge {

/// What ExactRotation holds; for its own source files.
struct ExactRotation::State {
  State(RotationLadder::Source source, const Rotary& layout, Axes axes);

  RotationLadder ladder;
  Axes axes;
  std::vector<std::vector<int64_t>> pairs_of;  // [axes]: the pairs that count each
  mutable RowCache rows;
  EnclosedValues magnitude;  // [1]
  bool pure;                 // the magnitude is the number 1
  std::vector<bool> still;   // [pairs]: the frequency is the number 0

  /// The magnitude as the exact factor of Scale: the value, an exponent with |value| <= 2^exponent,
  /// and what a radius r of entries up to 1 becomes.
  DoubleDouble Factor() const { return magnitude.values[0]; }
  int Exponent() const;
  double ScaledRadius(double radius) const;

  /// Whether rows in double-double may be scaled by the magnitude and rounded to every dtype.
  bool Scalable() const;
};

/// cos and sin times the magnitude as enclosures: the definition that everything faster is held to.
template <class I>
std::array<I, 2> Turn(const Rotation<I>& rotation, size_t pair, const I& position) {
  auto [cos, sin] = CosSin(position * rotation.frequency[pair]);
  return {rotation.magnitude * cos, rotation.magnitude * sin};
}

/// Throws ParameterError unless every position is finite and there are whole tokens of them.
void RequirePositions(const Axes& axes, Positions positions);

// Work below which a second thread does not pay: about a millisecond of sines.
inline constexpr int64_t kValuesPerThread = 512;

}  // namespace posgauge
