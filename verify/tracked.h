#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "posgauge/verify/declared_arithmetic.h"

namespace posgauge {

/// A real number x that a kernel may only know roughly: the equations of reference/<scheme>.h, run
/// on it, bound the error of whatever computes them in the arithmetic of the ArithmeticScope. Every
/// operation passes on the errors of its operands by the largest slope of the function over the
/// whole range where they may lie, and adds its own rounding: u |result| and, where it may
/// underflow, eta. A constant, and a result that is a number of the arithmetic because its operands
/// are constants, costs nothing. Derivations beside the code; docs/contracts.md.
struct Tracked {
  double value = 0;   // near x
  double own = 0;     // |value - x| at most: the rounding of this very computation in binary64
  double error = 0;   // |what a kernel computes - x| at most; infinite where that may overflow
  double before = 0;  // the same before the last rounding
  double size = 0;    // largest magnitude that was added up to it: what rounding is relative to
  Arithmetic arithmetic = Arithmetic::exact;  // what a kernel computes is a number of it

  Tracked() = default;
  explicit Tracked(double constant) : value(constant), size(constant < 0 ? -constant : constant) {}
  explicit Tracked(int64_t constant) : Tracked(static_cast<double>(constant)) {}
  explicit Tracked(int constant) : Tracked(static_cast<double>(constant)) {}

  bool IsConstant() const { return own == 0 && error == 0; }
};

Tracked operator-(const Tracked& a);
Tracked operator+(const Tracked& a, const Tracked& b);
Tracked operator-(const Tracked& a, const Tracked& b);
Tracked operator*(const Tracked& a, const Tracked& b);
Tracked operator/(const Tracked& a, const Tracked& b);

/// a * b, and terms as Sum adds them, in the arithmetic of positions.
Tracked PositionProduct(const Tracked& a, const Tracked& b);
Tracked PositionSum(const std::vector<Tracked>& terms);

/// distance * frequency in the arithmetic of angles. In fixed-point turns, of the phase within a
/// turn.
Tracked Angle(const Tracked& distance, const Tracked& frequency);

/// Two of them added, in the same arithmetic; turns add up without error.
Tracked SumOfAngles(const Tracked& a, const Tracked& b);

Tracked Exp(const Tracked& x);
Tracked Log(const Tracked& x);
Tracked Log1p(const Tracked& x);
Tracked Sqrt(const Tracked& x);
Tracked Power2(const Tracked& x);
Tracked Power(const Tracked& x, const Tracked& y);
Tracked RationalPower(const Tracked& x, int64_t numerator, int64_t denominator);

/// As 1 / (1 + e^-x): an exponential and two operations.
Tracked Sigmoid(const Tracked& x);

std::array<Tracked, 2> CosSin(const Tracked& x);

Tracked Abs(const Tracked& x);
Tracked Max(const Tracked& a, const Tracked& b);
Tracked Min(const Tracked& a, const Tracked& b);

/// Any number that either may be.
Tracked Hull(const Tracked& a, const Tracked& b);

/// Of x and of what a kernel computes, within 2^53.
std::array<int64_t, 2> FloorRange(const Tracked& x);

inline bool LooksLess(const Tracked& a, const Tracked& b) { return a.value < b.value; }

/// A constant zero.
inline bool IsZero(const Tracked& x) { return x.value == 0 && x.IsConstant(); }

/// In any order, with any number of partial sums, fused or not.
Tracked Sum(const std::vector<Tracked>& terms);

/// Sum of a[i] x[i], as Sum of those products.
Tracked Dot(std::span<const double> a, const std::vector<Tracked>& x);

/// As a kernel computes it (verify/computed_softmax.h), whichever score it takes for the highest.
std::vector<Tracked> SoftmaxMean(const std::vector<Tracked>& scores,
                                 const std::vector<std::vector<Tracked>>& values);

/// Rounded to the arithmetic of parameters, where it is not a number of it already.
Tracked Held(const Tracked& x);

}  // namespace posgauge
