#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>

namespace posgauge {

// The vocabulary of the schemes' equations for plain binary64: what a careful program without
// proofs computes. Tests run the same equations through it.

inline double Log(double x) { return std::log(x); }
inline double Exp(double x) { return std::exp(x); }
inline double RationalPower(double x, int64_t numerator, int64_t denominator) {
  return std::pow(x, static_cast<double>(numerator) / static_cast<double>(denominator));
}
template <std::same_as<double> R>
double Pi() {
  return std::numbers::pi;
}
inline double Floor(double x) { return std::floor(x); }
inline double Ceil(double x) { return std::ceil(x); }
inline bool Less(double a, double b) { return a < b; }
inline double Max(double a, double b) { return std::max(a, b); }
inline double Min(double a, double b) { return std::min(a, b); }

}  // namespace posgauge
