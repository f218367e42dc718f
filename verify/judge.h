#pragma once

#include <functional>
#include <optional>

#include "posgauge/verify/finding.h"
#include "posgauge/verify/subject.h"
#include "posgauge/verify/verdict.h"

namespace posgauge {

/// cos and sin of every (token, pair), magnitude included, that a result is held to. Every entry
/// is within `radius` of the real number.
struct TruthTable {
  std::vector<DoubleDouble> cos, sin;  // [tokens, pairs]
  double radius = 0;
};

TruthTable TruthOf(const ExactRotation& rotation, Positions positions);

/// A table that was handed over counts as exact: what the kernel was asked to apply.
TruthTable TruthOf(const TablePair& supplied);

/// How far the reals that round to a finite number reach from it, to either side. Truncation's
/// interval at the largest number, which has no end, is left out.
struct RoundingReach {
  double below, above;
};
RoundingReach ReachOf(Dtype dtype, StoreRounding rounding, double stored);

/// Error over the rounding interval of one stored number: how far `truth` lies outside the reals
/// that round to `stored`. At most |stored - truth|; infinite for a NaN, unless that is
/// what overflows in dtype. If a kernel rounds z to
/// `stored`, |z - truth| is at least this, so exceeding the bound proves a violation.
double RoundingIntervalExcess(Dtype dtype, StoreRounding rounding, double stored,
                              DoubleDouble truth);

/// A rotated result and what it is the rotation of.
struct Rotated {
  const Rotary& layout;
  Positions positions;
  const Tensor& x;    // [tokens, heads, head_dim]
  const Tensor& out;  // the same shape
  bool backward = false;
  /// The truth element by element, where it is known that way (golden vectors); otherwise it
  /// follows from x and a TruthTable.
  std::span<const DoubleDouble> values = {};
  Axes axes = {};
};

/// What every element of `out` would be in exact arithmetic, in its order; inputs finite.
std::vector<DoubleDouble> ExactValues(const Rotated& rotated, const TruthTable& truth);

// Findings of several axes are ordered by the farthest coordinate of each token; every pair is held
// to the bound at the position on its own axis.

/// Every element against the bound of the contract, by the rounding-interval excess; copied
/// channels and pairs with a NaN or an infinity by rule.
Finding HoldToBound(const Rotated& rotated, const TruthTable& truth, const RotaryBound& bound);

/// Every pair against exact arithmetic: error norm over budget * spacing of the io dtype at the
/// pair's norm.
Finding HoldToBudget(const Rotated& rotated, const TruthTable& truth, double magnitude,
                     double budget);

/// The same for an exported table; the spacing is that at the magnitude.
Finding HoldToBound(const TablePair& table, const Rotary& layout, Positions positions,
                    const TruthTable& truth, const RotaryBound& bound, double magnitude,
                    const Axes& axes = {});
Finding HoldToBudget(const TablePair& table, const Rotary& layout, Positions positions,
                     const TruthTable& truth, double magnitude, double budget,
                     const Axes& axes = {});

/// Exported frequencies and magnitude: relative errors over the contract's.
Finding HoldToBound(const Subject::FrequencyOutput& output, const EnclosedValues& frequencies,
                    const EnclosedValues& magnitude, const RotaryBound& bound);

}  // namespace posgauge
