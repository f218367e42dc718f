#include "posgauge/verify/bound.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace posgauge {

namespace {

// The product of factors (1 + d_k) with sum |d_k| <= e differs from 1 by at most e/(1 - e).
double Compound(double e) { return e < 1 ? e / (1 - e) : HUGE_VAL; }

// 1 ulp is 2 u relative; the power, log and exp of a library are taken as within one ulp.
constexpr double kLibraryRoundoffs = 2;

// Dividing by a factor, and blending two frequencies: at most four more roundings.
constexpr double kScalingRoundoffs = 4;

constexpr double kSqrt2 = std::numbers::sqrt2;

}  // namespace

RotaryBound::RotaryBound(const Contract& contract, const Rotary& layout,
                         std::vector<double> frequencies, double magnitude, bool scaled)
    : contract_(contract),
      layout_(layout),
      frequencies_(std::move(frequencies)),
      magnitude_(magnitude),
      scaled_(scaled) {
  for (size_t pair = 0; pair < frequencies_.size(); ++pair) {
    relative_errors_.push_back(FrequencyError(static_cast<int64_t>(pair)));
  }
}

double RotaryBound::Frequency(int64_t pair) const {
  return relative_errors_[static_cast<size_t>(pair)];
}

// rn: u.  Others, with x = 2i/d and ln = |ln base|:
//   pow         1/pow(b, x): pow one ulp (2u) and the quotient u; where x is not a binary fraction
//   its
//               rounding moves the result by x ln u.
//   exp         exp(-i log(b)/half): log one ulp, product and quotient u each make 4u of the
//   argument
//               x ln; exp itself one ulp.
//   recurrence  i products by a step whose own error is that of pow at i = 1.
// A frequency below the format's normal range also loses up to eta absolutely.
double RotaryBound::FrequencyError(int64_t pair) const {
  const double u = UnitRoundoff(contract_.frequency);
  if (u == 0) return 0;
  const auto i = static_cast<double>(pair), d = static_cast<double>(layout_.rotary_dim);
  const double log_base = std::fabs(std::log(layout_.base));
  const auto power = [&](double index) {
    const double x = 2 * index / d;
    const bool exact = std::remainder(2 * index * 65536, d) == 0;
    return kLibraryRoundoffs + 1 + (exact ? 0 : x * log_base);
  };
  const auto roundoffs = [&]() -> double {
    switch (contract_.frequency_formula) {
      case FrequencyFormula::rn:
        return 1;
      case FrequencyFormula::pow:
        return power(i);
      case FrequencyFormula::exp:
        return 4 * (2 * i / d) * log_base + kLibraryRoundoffs;
      case FrequencyFormula::recurrence:
        break;
    }
    return i * (power(1) + 1);
  };
  const bool formed = contract_.frequency_formula != FrequencyFormula::rn;
  const double e = Compound((roundoffs() + (scaled_ && formed ? kScalingRoundoffs : 0)) * u);
  const double frequency = std::fabs(frequencies_[static_cast<size_t>(pair)]);
  const double lost = UnderflowError(contract_.frequency, contract_.flush_to_zero);
  return frequency == 0 ? e : e + lost / frequency;
}

// phi ((1 + e_frequency)(1 + u_position)(1 + u_angle) - 1), plus the underflow of the product. In
// fixed-point turns the frequency is cut at 2^-64 or 2^-96 of a turn and the product at 2^-64.
double RotaryBound::Angle(double position, int64_t pair) const {
  // The stored frequency is itself within 2^-53 of the real one.
  const double phi = std::fabs(position * frequencies_[static_cast<size_t>(pair)]) * (1 + 0x1p-51);
  if (position == 0) return 0;
  double e_position = 0;
  if (contract_.position != Arithmetic::exact) {
    const Format format{Digits(contract_.position), -1022, 1023};
    if (RoundTo(format, position) != position) e_position = UnitRoundoff(contract_.position);
    if (std::fabs(position) > LargestFinite(contract_.position)) return HUGE_VAL;
  }
  const double e_frequency = Frequency(pair);
  const double e_angle = UnitRoundoff(contract_.angle);
  // Expanded, so that errors far below 2^-53 survive: (1+a)(1+b)(1+c) - 1.
  const double relative = e_frequency + e_position + e_angle + e_frequency * e_position +
                          e_frequency * e_angle + e_position * e_angle +
                          e_frequency * e_position * e_angle;
  double absolute = UnderflowError(contract_.angle, contract_.flush_to_zero);
  if (contract_.angle == Arithmetic::turn64 || contract_.angle == Arithmetic::turn96) {
    const double cut = contract_.angle == Arithmetic::turn64 ? 0x1p-64 : 0x1p-96;
    absolute = 2 * std::numbers::pi * (cut * std::fabs(position) + 2 * 0x1p-64);
  }
  const double error = phi * relative * (1 + 0x1p-50) + absolute;
  return phi + error > LargestFinite(contract_.angle) ? HUGE_VAL : error;
}

namespace {

// Absolute error of one component of (cos, sin): ulps at values in [1/2, 1].
double TrigError(const Contract& contract) {
  if (contract.trig_arithmetic == Arithmetic::exact) return 0;
  return contract.trig_ulps * std::ldexp(1.0, -Digits(contract.trig_arithmetic));
}

// A magnitude other than 1 is formed (two roundings) and multiplied (one) where the sines are.
double MagnitudeError(const Contract& contract, double magnitude) {
  return magnitude == 1 ? 0 : Compound(3 * UnitRoundoff(contract.trig_arithmetic));
}

}  // namespace

// min(2, angle error): the chord of two unit vectors. Then sqrt(2) E for two components, the
// magnitude's relative error, and the rounding of the entries: relative u_t of the norm, plus
// sqrt(2) eta_t.
double RotaryBound::Table(double position, int64_t pair) const {
  const double chord = std::min(2.0, Angle(position, pair)) + kSqrt2 * TrigError(contract_);
  const double scaled = chord + MagnitudeError(contract_, magnitude_) * (1 + chord);
  return scaled + UnitRoundoff(contract_.table) * (1 + scaled) +
         kSqrt2 * UnderflowError(contract_.table, contract_.flush_to_zero) / magnitude_;
}

// As Table, one component, without the store's rounding, which the interval covers. With flush to
// zero the stored entry may lack a number below the normal range.
double RotaryBound::TableExcess(double position, int64_t pair) const {
  const double component = std::min(2.0, Angle(position, pair)) + TrigError(contract_);
  const double error =
      magnitude_ * (component + MagnitudeError(contract_, magnitude_) * (1 + component));
  const double flushed = contract_.flush_to_zero ? UnderflowError(contract_.table, true) : 0;
  return error + flushed;
}

namespace {

// Table entries wider than the rotation's arithmetic are rounded to it first. `exact` stands for
// entries that were handed over in a format that fits.
bool TableIsNarrowed(const Contract& contract) {
  return contract.table != Arithmetic::exact && Digits(contract.table) > Digits(contract.rotate);
}

}  // namespace

// y_j = q0 c - q1 s from table entries with norm error tau: two products and a sum, each (1 + d),
// |d| <= u_c:  |error| <= (2 u_c + u_c^2)(|q0 c| + |q1 s|) <= (2 u_c + u_c^2) r (1 + tau), by
// Cauchy-Schwarz; fused, one rounding less on one term, the same bound. Entries or inputs wider
// than the arithmetic are rounded to it first, u_c each. Each product may lose eta_c.
double RotaryBound::ElementExcess(double position, int64_t pair, double r) const {
  const double tau = Table(position, pair);
  const double u = UnitRoundoff(contract_.rotate);
  int roundings = 2;
  if (TableIsNarrowed(contract_)) ++roundings;
  if (Digits(ArithmeticOf(contract_.store)) > Digits(contract_.rotate)) ++roundings;
  const double e = Compound(roundings * u);
  const double norm = magnitude_ * r * (1 + tau);
  if (norm * (1 + e) > LargestFinite(contract_.rotate) ||
      norm * (1 + e) > LargestFinite(ArithmeticOf(contract_.store))) {
    return HUGE_VAL;
  }
  const double lost =
      3 * UnderflowError(contract_.rotate, contract_.flush_to_zero) +
      (contract_.flush_to_zero ? UnderflowError(ArithmeticOf(contract_.store), true) : 0);
  return magnitude_ * r * tau + norm * e + lost;
}

// One complex product: norm-wise sqrt(5) u_c without a fused multiply-add (Brent, Percival,
// Zimmermann 2007), 2 u_c with one (Jeannerod et al. 2017); then the store, u_o of the norm (twice
// that for truncation and stochastic rounding) and sqrt(2) eta_o.
double RotaryBound::Pair(double position, int64_t pair, double r) const {
  const double element = ElementExcess(position, pair, r);
  if (!std::isfinite(element)) return HUGE_VAL;
  const double tau = Table(position, pair);
  const double u = UnitRoundoff(contract_.rotate);
  double product = (contract_.fma ? 2 : std::sqrt(5.0)) * u;
  if (TableIsNarrowed(contract_)) product += u;
  if (Digits(ArithmeticOf(contract_.store)) > Digits(contract_.rotate)) product += u;
  const double store = UnitRoundoff(ArithmeticOf(contract_.store)) *
                       (contract_.store_rounding == StoreRounding::rne ? 1 : 2);
  const double norm = magnitude_ * r;
  const double computed = tau + Compound(product) * (1 + tau);
  const double lost = 3 * UnderflowError(contract_.rotate, contract_.flush_to_zero) +
                      2 * UnderflowError(ArithmeticOf(contract_.store), contract_.flush_to_zero);
  return norm * (computed + store * (1 + computed)) + kSqrt2 * lost;
}

}  // namespace posgauge
