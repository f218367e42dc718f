#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "posgauge/reference/proof.h"
#include "posgauge/schemes/base/double_double.h"
#include "posgauge/schemes/base/scheme.h"

namespace posgauge {

/// Positions in tokens, of a rotation over several axes [tokens, axes] in C order. Any finite
/// binary64 number, so all of int32 and float, and int64 to 2^53.
using Positions = std::span<const double>;

/// cos and sin rows, each [tokens, pairs], the scheme's magnitude included.
struct RoundedTable {
  RoundedValues cos, sin;
};

/// A table with every entry enclosed: |high + low - real value| <= radius. Without magnitude, so
/// that all values lie in [-1, 1]. Each [tokens, pairs].
struct EnclosedTable {
  std::vector<DoubleDouble> cos, sin;
  double radius = 0;
};

/// Values enclosed relatively: |high + low - v| <= radius * |v|.
struct EnclosedValues {
  std::vector<DoubleDouble> values;
  double radius = 0;
};

/// The rotation that a scheme means, as real numbers, enclosed at rising precision until the
/// requested rounding is decided (Ziv). Immutable; safe to share between threads.
///
/// Rounding is to nearest, ties to even, once, straight to the dtype, subnormals included; what
/// rounds beyond the largest number is an infinity, in f8e4m3 a NaN of its sign. An exact zero
/// keeps the sign of the input it comes from at angle zero and is +0 elsewhere, in scores too. A
/// pair with a NaN or an infinity in the input gives NaN in both channels (at angle zero the finite
/// partner of such a channel too).
///
/// Where positions have several axes each pair is a rotation by the position on its own axis;
/// everything else is as with one. Throws ParameterError where positions are not whole tokens.
class ExactRotation {
 public:
  /// Opaque; for this room's own files.
  struct State;
  const State& state() const { return *state_; }

  /// From the scheme's equations; of an addition the rotation by its waves, a pair each. Throws
  /// ParameterError: an inverted YaRN ramp that is refused.
  explicit ExactRotation(const Scheme& scheme);

  /// From given frequencies (radians per token, [pairs]) and magnitude, taken as exact numbers: the
  /// truth for a kernel that is handed them. Throws ParameterError on a wrong count.
  ExactRotation(const Rotary& layout, std::span<const DoubleDouble> frequencies,
                DoubleDouble magnitude, Axes axes = {});

  const Rotary& layout() const;
  const Axes& axes() const;

  /// True where the magnitude is the number 1.
  bool IsPure() const;

  /// Radians per token, [pairs]; negative in the clockwise direction.
  RoundedValues Frequencies(Dtype dtype) const;

  /// The factor a on cos and sin, [1].
  RoundedValues Magnitude(Dtype dtype) const;

  /// What the model multiplies its logits by besides a^2, [1]: for yarn's magnitude `deepseek`
  /// g(s, mscale_all_dim)^2, for `none` g(s, mscale)^2 if given; otherwise 1.
  RoundedValues SoftmaxMultiplier(Dtype dtype) const;

  /// a cos(p w), a sin(p w), [tokens, pairs].
  RoundedTable Table(Positions positions, Dtype dtype) const;

  /// x and the result [tokens, heads, head_dim]; channels that do not rotate are rounded copies.
  RoundedValues Rotate(Positions positions, std::span<const double> x, int64_t heads,
                       Dtype dtype) const;

  /// The transpose (VJP): a times the rotation by the negative angle.
  RoundedValues RotateBackward(Positions positions, std::span<const double> x, int64_t heads,
                               Dtype dtype) const;

  /// scale * <R(p) q, R(t) k> for every head and pair of positions, [heads, queries, keys]. q is
  /// [queries, heads, head_dim], k [keys, heads, head_dim]; scale is exact.
  RoundedValues Scores(Positions query_positions, Positions key_positions,
                       std::span<const double> q, std::span<const double> k, int64_t heads,
                       double scale, Dtype dtype) const;

  /// For measuring errors: enclosures instead of roundings.
  EnclosedValues EncloseFrequencies() const;
  EnclosedValues EncloseMagnitude() const;
  EnclosedTable EncloseTable(Positions positions) const;

 private:
  RoundedValues RotateBy(double angle_sign, Positions positions, std::span<const double> x,
                         int64_t heads, Dtype dtype) const;

  std::shared_ptr<const State> state_;
};

}  // namespace posgauge
