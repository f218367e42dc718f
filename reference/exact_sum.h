#pragma once

#include <mpfr.h>

#include "posgauge/reference/rounding.h"

namespace posgauge {

/// A sum of products of binary64 numbers without any rounding, for results that are rational: ties
/// happen there, and only exact arithmetic sees them.
class ExactSum {
 public:
  ExactSum();
  ~ExactSum();
  ExactSum(const ExactSum&) = delete;
  ExactSum& operator=(const ExactSum&) = delete;

  /// Adds a b c; all finite.
  void Add(double a, double b, double c);

  /// The sum rounded once; a sum of zero is +0.
  Decided Round(Format format, bool with_distance) const;

  /// Bits of a sum: products of three reach from 2^-3222 to 2^3072, and 2^60 of them are added.
  static constexpr int kBits = 3222 + 3072 + 64;

 private:
  mpfr_t sum_, term_;
};

}  // namespace posgauge
