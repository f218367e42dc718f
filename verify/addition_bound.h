#pragma once

#include <vector>

#include "posgauge/schemes/base/channel.h"
#include "posgauge/verify/bound.h"

namespace posgauge {

/// The worst errors that a contract allows a kernel of added rows, derived stage by stage:
/// position, frequency, angle, trig and table as those of a rotation of magnitude 1, where
/// `position` holds the position and its sum with the start, and `rotate` is the arithmetic of
/// x + row. Derivations in docs/contracts.md and beside the code. An infinite bound means that the
/// contract allows anything there.
class AdditionBound {
 public:
  /// `frequencies` in radians per token, scale included, rounded to nearest; `start` in tokens.
  AdditionBound(const Contract& contract, const Scheme& scheme, std::vector<double> frequencies,
                double start, GivenStages given = {});

  const Contract& contract() const { return waves_.contract(); }

  /// The waves alone, at row indices (position plus start).
  const RotaryBound& waves() const { return waves_; }

  /// Absolute error of the angle of a wave, radians.
  double Angle(double position, int64_t wave) const;

  /// Error of one entry of an exported row over its rounding interval, and how it is rounded last.
  double RowExcess(double position, Channel channel) const;
  StoreRounding RowRounding() const { return waves_.TableRounding(); }

  /// Error of one element of x + row over its rounding interval; `sum` is the true one.
  double EmbedExcess(double position, Channel channel, double x, double sum) const;

  /// Error of one stored entry of an exported row, and of one stored element of x + row.
  double Row(double position, Channel channel) const;
  double Embed(double position, Channel channel, double x, double sum) const;

 private:
  // Of x + row before its last rounding that the store's interval covers.
  struct Sum {
    double error;
    bool may_overflow;
  };
  Sum SumOf(double position, Channel channel, double x, double sum, bool last_is_covered) const;
  // How far a stored number may be from the one that was rounded to it.
  double Stored(double size) const;

  RotaryBound waves_;
  std::vector<double> frequencies_;
  double start_;
  GivenStages given_;
};

}  // namespace posgauge
