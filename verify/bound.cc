#include "posgauge/verify/bound.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "posgauge/verify/frequency_error.h"

namespace posgauge {

namespace {

constexpr double kSqrt2 = std::numbers::sqrt2;

// The bounds themselves are evaluated in binary64, in fewer than thirty operations, each rounded.
double Upward(double bound) { return bound * (1 + 0x1p-47); }

}  // namespace

RotaryBound::RotaryBound(const Contract& contract, const Scheme& scheme,
                         std::vector<double> frequencies, double magnitude, GivenStages given)
    : contract_(contract),
      frequencies_(std::move(frequencies)),
      magnitude_(magnitude),
      given_(given),
      frequency_errors_(given.frequency ? std::vector<double>(frequencies_.size(), 0.0)
                                        : FrequencyErrors(contract, scheme, frequencies_)) {}

double RotaryBound::Frequency(int64_t pair) const {
  return frequency_errors_[static_cast<size_t>(pair)];
}

// The kernel multiplies w' = w (1 + e_w) by p' = p (1 + e_p), each rounded once more to the angle's
// arithmetic where that does not hold it, and rounds the product:
//   angle = (w' + eta)(p' + lost_p)(1 + u) + eta.
// A position that is a number of its arithmetic, and of the angle's, loses nothing. In fixed-point
// turns the frequency is cut at 2^-64 or 2^-96 of a turn and the product at 2^-64, twice.
double RotaryBound::Angle(double position, int64_t pair) const {
  const double e_frequency = Frequency(pair);
  if (std::isinf(e_frequency)) return HUGE_VAL;
  if (position == 0) return 0;
  const bool flush = contract_.flush_to_zero;
  const double p = std::fabs(position);
  // The stored frequency is itself within 2^-53 of the real one.
  const double w = std::fabs(frequencies_[static_cast<size_t>(pair)]) * (1 + 0x1p-52);
  if (p > LargestFinite(contract_.position) || p > LargestFinite(contract_.angle)) return HUGE_VAL;
  const Loss stored = LossOf(contract_.position, flush, p);
  const double held = stored.relative > 0 ? RoundTo(FormatOf(contract_.position), p) : p;
  const Loss read = LossOf(contract_.angle, flush, held);
  const double u = UnitRoundoff(contract_.angle), eta = UnderflowError(contract_.angle, flush);
  const bool narrowed =
      u > 0 && !Holds(contract_.angle, given_.frequency.value_or(contract_.frequency));
  const double relative_w = Together(e_frequency, narrowed ? u : 0);
  const double relative_p = Together(stored.relative, read.relative);
  const double lost_w = narrowed || flush ? eta : 0;
  const double lost_p = stored.absolute * (1 + read.relative) + read.absolute;
  const double relative = Together(Together(relative_w, relative_p), u);
  double absolute =
      (1 + u) * (w * (1 + relative_w) * lost_p + p * (1 + relative_p) * lost_w + lost_w * lost_p) +
      eta;
  if (contract_.angle == Arithmetic::turn64 || contract_.angle == Arithmetic::turn96) {
    const double cut = contract_.angle == Arithmetic::turn64 ? 0x1p-64 : 0x1p-96;
    absolute = 2 * std::numbers::pi * (cut * p + 2 * 0x1p-64);
  }
  const double phi = w * p, error = Upward(phi * relative + absolute);
  return phi + error > LargestFinite(contract_.angle) ? HUGE_VAL : error;
}

namespace {

// Absolute error of one component of (cos, sin): ulps at values in [1/2, 1]; a value below the
// normal range may be flushed.
double TrigError(const Contract& contract) {
  if (contract.trig_arithmetic == Arithmetic::exact) return 0;
  return contract.trig_ulps * std::ldexp(1.0, -Digits(contract.trig_arithmetic)) +
         (contract.flush_to_zero ? UnderflowError(contract.trig_arithmetic, true) : 0);
}

// The magnitude is formed where the sines are, in two roundings, and multiplied in a third. A
// magnitude of 1 is not multiplied. `component` is the error of a sine before, both errors relative
// to the magnitude: eta once of the magnitude, once of each product.
struct MagnitudeError {
  double relative = 0, per_product = 0;
};
MagnitudeError MagnitudeErrorOf(const Contract& contract, double magnitude) {
  if (magnitude == 1) return {};
  const double eta = UnderflowError(contract.trig_arithmetic, contract.flush_to_zero) / magnitude;
  return {Compound(3, UnitRoundoff(contract.trig_arithmetic)) + eta, eta};
}

}  // namespace

// min(2, angle error): the chord of two unit vectors. Then sqrt(2) E for two components, the
// magnitude's error, and the rounding of the entries: relative u_t of the norm, plus sqrt(2) eta_t.
double RotaryBound::Table(double position, int64_t pair) const {
  if (given_.table) return 0;
  const double angle = Angle(position, pair);
  if (std::isinf(angle)) return HUGE_VAL;
  const double chord = std::min(2.0, angle) + kSqrt2 * TrigError(contract_);
  const MagnitudeError scaling = MagnitudeErrorOf(contract_, magnitude_);
  const double scaled = Together(chord, scaling.relative) + kSqrt2 * scaling.per_product;
  const double largest = magnitude_ * (1 + scaled);
  if (largest > LargestFinite(contract_.table) ||
      (magnitude_ != 1 && largest > LargestFinite(contract_.trig_arithmetic))) {
    return HUGE_VAL;
  }
  return Upward(Together(scaled, UnitRoundoff(contract_.table)) +
                kSqrt2 * UnderflowError(contract_.table, contract_.flush_to_zero) / magnitude_);
}

StoreRounding RotaryBound::TableRounding() const {
  return Holds(ArithmeticOf(contract_.store), contract_.table) ? StoreRounding::rne
                                                               : contract_.store_rounding;
}

double RotaryBound::TableExcess(double position, int64_t pair) const {
  return EntryExcess(Angle(position, pair));
}

// As Table, one component.
double RotaryBound::Component(double angle) const {
  const double component = std::min(2.0, angle) + TrigError(contract_);
  const MagnitudeError scaling = MagnitudeErrorOf(contract_, magnitude_);
  return Together(component, scaling.relative) + scaling.per_product;
}

double RotaryBound::Entry(double angle) const {
  if (std::isinf(angle)) return HUGE_VAL;
  const double component = Component(angle);
  if (magnitude_ * (1 + component) > LargestFinite(contract_.table)) return HUGE_VAL;
  return Upward(magnitude_ * Together(component, UnitRoundoff(contract_.table)) +
                UnderflowError(contract_.table, contract_.flush_to_zero));
}

// Of the two roundings, to the table's arithmetic and to the store's format, the interval covers
// the last one that is not idle: the table's where the two are one format, else the store's.
double RotaryBound::EntryExcess(double angle) const {
  if (std::isinf(angle)) return HUGE_VAL;
  const bool flush = contract_.flush_to_zero;
  const Arithmetic store = ArithmeticOf(contract_.store);
  const double scaled = Component(angle);
  double error = magnitude_ * scaled;
  if (contract_.table != store) {
    error += UnitRoundoff(contract_.table) * magnitude_ * (1 + scaled) +
             UnderflowError(contract_.table, flush);
  }
  if (flush) error += UnderflowError(store, true);
  error = Upward(error);
  const double largest = magnitude_ + error;
  const bool overflows = largest > LargestFinite(contract_.table) ||
                         largest > LargestFinite(store) ||
                         (magnitude_ != 1 && largest > LargestFinite(contract_.trig_arithmetic));
  return overflows ? HUGE_VAL : error;
}

// The entries have the norm a (1 + tau) at most. Entries and inputs that the rotation's arithmetic
// does not hold are rounded to it first, (1 + u) and eta each; with flush to zero any operand may
// lose eta. So a product |q c| may become (|q| + eta)(|c| + eta), and two of them
//   eta sqrt(2) (r + entries) + 2 eta^2
// more, by Cauchy-Schwarz. Each product may lose eta itself, and with flush the sum too.
RotaryBound::Rotation RotaryBound::RotationOf(double tau, double r) const {
  const bool flush = contract_.flush_to_zero;
  const double u = UnitRoundoff(contract_.rotate), eta = UnderflowError(contract_.rotate, flush);
  double entries = magnitude_ * (1 + tau);
  if (given_.table) {
    entries = magnitude_ * (1 + UnitRoundoff(*given_.table)) +
              kSqrt2 * UnderflowError(*given_.table, false);
  }
  const bool narrow_entries = !Holds(contract_.rotate, given_.table.value_or(contract_.table));
  const bool narrow_inputs = !Holds(contract_.rotate, ArithmeticOf(contract_.store));
  const double lost_entry = narrow_entries || flush ? eta : 0;
  const double lost_input = narrow_inputs || flush ? eta : 0;
  const double operands =
      kSqrt2 * (lost_entry * r + lost_input * entries) + 2 * lost_entry * lost_input;
  const int narrowings = int{narrow_entries} + int{narrow_inputs};
  const double grown = 1 + Compound(2 + narrowings, u);
  const double largest = LargestFinite(contract_.rotate);
  const double lost = grown * (operands + (flush ? 3 : 2) * eta);
  return {entries, narrowings, lost,
          r * entries * grown + lost > largest ||
              r * entries * grown + lost > LargestFinite(ArithmeticOf(contract_.store)) ||
              (narrow_inputs && r * (1 + u) > largest) ||
              (narrow_entries && entries * (1 + u) > largest)};
}

// y_j = q0 c - q1 s from table entries with norm error a tau: two products and a sum, each (1 + d),
// |d| <= u:  |error| <= (2 u + u^2)(|q0 c| + |q1 s|) <= (2 u + u^2) r |(c, s)|, by Cauchy-Schwarz;
// fused, one rounding less on one term, the same bound. Where the rotation works in the format of
// the store, the sum's rounding is the one that the interval covers (and the products' remain).
double RotaryBound::ElementExcess(double position, int64_t pair, double r) const {
  const double tau = Table(position, pair);
  if (std::isinf(tau)) return HUGE_VAL;
  const Rotation rotation = RotationOf(tau, r);
  if (rotation.may_overflow) return HUGE_VAL;
  const Arithmetic store = ArithmeticOf(contract_.store);
  const bool sum_is_store =
      contract_.rotate == store && contract_.store_rounding != StoreRounding::rtz;
  const int roundings = (sum_is_store ? 1 : 2) + rotation.narrowings;
  const double flushed = contract_.flush_to_zero ? UnderflowError(store, true) : 0;
  return Upward(magnitude_ * r * tau +
                r * rotation.entries_norm * Compound(roundings, UnitRoundoff(contract_.rotate)) +
                rotation.lost + flushed);
}

// One complex product: norm-wise sqrt(5) u_c without a fused multiply-add (Brent, Percival,
// Zimmermann 2007), 2 u_c with one (Jeannerod et al. 2017); u_c more for each operand that is
// narrowed; then the store, where it does not hold the rotation's numbers: u_o of the norm (twice
// that for truncation and stochastic rounding) and sqrt(2) eta_o (likewise).
double RotaryBound::Pair(double position, int64_t pair, double r) const {
  const double tau = Table(position, pair);
  if (std::isinf(tau)) return HUGE_VAL;
  const Rotation rotation = RotationOf(tau, r);
  if (rotation.may_overflow) return HUGE_VAL;
  const Arithmetic store = ArithmeticOf(contract_.store);
  const double u = UnitRoundoff(contract_.rotate);
  const double product = Compound((contract_.fma ? 2 : std::sqrt(5.0)) + rotation.narrowings, u);
  const double computed =
      magnitude_ * r * tau + r * rotation.entries_norm * product + kSqrt2 * rotation.lost;
  const bool flush = contract_.flush_to_zero;
  const double share = contract_.store_rounding == StoreRounding::rne ? 1 : 2;
  const bool idle = Holds(store, contract_.rotate);
  const double rounding = idle ? 0 : share * UnitRoundoff(store);
  const double lost = idle && !flush ? 0 : share * UnderflowError(store, flush);
  return Upward(computed + rounding * (magnitude_ * r + computed) + kSqrt2 * lost);
}

}  // namespace posgauge
