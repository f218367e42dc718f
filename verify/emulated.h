#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "posgauge/verify/computed_softmax.h"
#include "posgauge/verify/declared_arithmetic.h"

namespace posgauge {

/// A number of a kernel that computes exactly as the ArithmeticScope says, in software: every
/// operation is rounded to the declared format, to nearest, an operand that the format does not
/// hold before it. Sums go from left to right. For formats of at most 53 bits: `exact` and `dd` are
/// taken as f64. A result of binary64 rounded once more to a format of at most 24 bits is the
/// operation rounded once (Figueroa 1995); functions are those of the C library, rounded.
struct Emulated {
  double value = 0;

  Emulated() = default;
  explicit Emulated(double constant) : value(constant) {}
  explicit Emulated(int64_t constant) : value(static_cast<double>(constant)) {}
  explicit Emulated(int constant) : value(constant) {}

  static double Round(Arithmetic arithmetic, double value) {
    const Format format = FormatOf(arithmetic);
    const double rounded = RoundTo(format, value);
    const bool flush = ArithmeticScope::Current().flush_to_zero &&
                       std::fabs(rounded) < std::ldexp(1.0, format.min_exponent);
    return flush ? std::copysign(0.0, rounded) : rounded;
  }
};

namespace emulated_detail {

inline const DeclaredArithmetic& Current() { return ArithmeticScope::Current(); }

template <class Operation>
Emulated Elementwise(const Emulated& a, const Emulated& b, Operation operation) {
  const Arithmetic arithmetic = Current().elementwise;
  const double x = Emulated::Round(arithmetic, a.value), y = Emulated::Round(arithmetic, b.value);
  return Emulated(Emulated::Round(arithmetic, operation(x, y)));
}

template <class Operation>
Emulated Function(const Emulated& a, Operation operation) {
  const Arithmetic arithmetic = Current().functions;
  return Emulated(Emulated::Round(arithmetic, operation(Emulated::Round(arithmetic, a.value))));
}

}  // namespace emulated_detail

inline Emulated operator-(const Emulated& a) { return Emulated(-a.value); }
inline Emulated operator+(const Emulated& a, const Emulated& b) {
  return emulated_detail::Elementwise(a, b, [](double x, double y) { return x + y; });
}
inline Emulated operator-(const Emulated& a, const Emulated& b) {
  return emulated_detail::Elementwise(a, b, [](double x, double y) { return x - y; });
}
inline Emulated operator*(const Emulated& a, const Emulated& b) {
  return emulated_detail::Elementwise(a, b, [](double x, double y) { return x * y; });
}
inline Emulated operator/(const Emulated& a, const Emulated& b) {
  return emulated_detail::Elementwise(a, b, [](double x, double y) { return x / y; });
}

/// In turns: as in binary64, in which such a phase is at least as good.
inline Emulated Angle(const Emulated& distance, const Emulated& frequency) {
  DeclaredArithmetic arithmetic = emulated_detail::Current();
  const bool turns =
      arithmetic.angles == Arithmetic::turn64 || arithmetic.angles == Arithmetic::turn96;
  arithmetic.elementwise = turns ? Arithmetic::f64 : arithmetic.angles;
  const ArithmeticScope scope(arithmetic);
  return distance * frequency;
}

inline Emulated SumOfAngles(const Emulated& a, const Emulated& b) {
  DeclaredArithmetic arithmetic = emulated_detail::Current();
  const bool turns =
      arithmetic.angles == Arithmetic::turn64 || arithmetic.angles == Arithmetic::turn96;
  arithmetic.elementwise = turns ? Arithmetic::f64 : arithmetic.angles;
  const ArithmeticScope scope(arithmetic);
  return a + b;
}

inline Emulated Exp(const Emulated& x) {
  return emulated_detail::Function(x, [](double at) { return std::exp(at); });
}
inline Emulated Log(const Emulated& x) {
  return emulated_detail::Function(x, [](double at) { return std::log(at); });
}
inline Emulated Log1p(const Emulated& x) {
  return emulated_detail::Function(x, [](double at) { return std::log1p(at); });
}
inline Emulated Sqrt(const Emulated& x) {
  return emulated_detail::Function(x, [](double at) { return std::sqrt(at); });
}
inline Emulated Power2(const Emulated& x) {
  return emulated_detail::Function(x, [](double at) { return std::exp2(at); });
}
inline Emulated Power(const Emulated& x, const Emulated& y) {
  const double exponent = Emulated::Round(emulated_detail::Current().functions, y.value);
  return emulated_detail::Function(x, [&](double at) { return std::pow(at, exponent); });
}
inline Emulated RationalPower(const Emulated& x, int64_t numerator, int64_t denominator) {
  return Power(x, Emulated(numerator) / Emulated(denominator));
}
inline Emulated Sigmoid(const Emulated& x) { return Emulated(1) / (Emulated(1) + Exp(-x)); }
/// Of the angle as the arithmetic of angles has it.
inline std::array<Emulated, 2> CosSin(const Emulated& x) {
  const Arithmetic arithmetic = emulated_detail::Current().functions;
  return {Emulated(Emulated::Round(arithmetic, std::cos(x.value))),
          Emulated(Emulated::Round(arithmetic, std::sin(x.value)))};
}
inline Emulated Abs(const Emulated& x) { return Emulated(std::fabs(x.value)); }
inline Emulated Max(const Emulated& a, const Emulated& b) { return a.value < b.value ? b : a; }
inline Emulated Min(const Emulated& a, const Emulated& b) { return b.value < a.value ? b : a; }
inline Emulated Hull(const Emulated&, const Emulated& b) { return b; }
inline std::array<int64_t, 2> FloorRange(const Emulated& x) {
  const auto floor = static_cast<int64_t>(std::floor(x.value));
  return {floor, floor};
}
inline bool LooksLess(const Emulated& a, const Emulated& b) { return a.value < b.value; }
inline bool IsZero(const Emulated& x) { return x.value == 0; }
inline Emulated Sum(const std::vector<Emulated>& terms) {
  const Arithmetic arithmetic = emulated_detail::Current().sums;
  double sum = 0;
  for (const Emulated& term : terms) {
    sum = Emulated::Round(arithmetic, sum + Emulated::Round(arithmetic, term.value));
  }
  return Emulated(sum);
}
inline std::vector<Emulated> SoftmaxMean(const std::vector<Emulated>& scores,
                                         const std::vector<std::vector<Emulated>>& values) {
  return ComputedSoftmaxMean(scores, values,
                             [](const Emulated& a, const Emulated& b) { return Exp(a - b); });
}
inline Emulated Dot(std::span<const double> a, const std::vector<Emulated>& x) {
  std::vector<Emulated> terms;
  for (size_t i = 0; i < x.size(); ++i) terms.push_back(Emulated(a[i]) * x[i]);
  return Sum(terms);
}
inline Emulated PositionProduct(const Emulated& a, const Emulated& b) {
  const ArithmeticScope scope(emulated_detail::Current().OfPositions());
  return a * b;
}
inline Emulated PositionSum(const std::vector<Emulated>& terms) {
  const ArithmeticScope scope(emulated_detail::Current().OfPositions());
  return Sum(terms);
}
inline Emulated Held(const Emulated& x) {
  return Emulated(Emulated::Round(emulated_detail::Current().held, x.value));
}

}  // namespace posgauge
