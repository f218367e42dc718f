#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

namespace posgauge {

// The vocabulary of the schemes' equations for plain binary64: what a careful program without
// proofs computes. Tests run the same equations through it.

inline double Log(double x) { return std::log(x); }
inline double RationalPower(double x, int64_t numerator, int64_t denominator) {
  return std::pow(x, static_cast<double>(numerator) / static_cast<double>(denominator));
}
template <std::same_as<double> R>
double Pi() {
  return std::numbers::pi;
}
inline double Log1p(double x) { return std::log1p(x); }
inline double Sqrt(double x) { return std::sqrt(x); }
inline double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double Power(double x, double y) { return std::pow(x, y); }
inline double Power2(double x) { return std::exp2(x); }
inline double Abs(double x) { return std::fabs(x); }
inline double Exp(double x) { return std::exp(x); }
inline double PositionProduct(double a, double b) { return a * b; }
inline double PositionSum(const std::vector<double>& terms) {
  return std::accumulate(terms.begin(), terms.end(), 0.0);
}
inline double Angle(double position, double frequency) { return position * frequency; }
inline double SumOfAngles(double a, double b) { return a + b; }
inline std::array<double, 2> CosSin(double x) { return {std::cos(x), std::sin(x)}; }
inline std::array<int64_t, 2> FloorRange(double x) {
  const auto floor = static_cast<int64_t>(std::floor(x));
  return {floor, floor};
}
inline double Hull(double, double b) { return b; }
inline double Held(double x) { return x; }
inline bool LooksLess(double a, double b) { return a < b; }
inline bool IsZero(double x) { return x == 0; }
inline double Sum(const std::vector<double>& terms) {
  return std::accumulate(terms.begin(), terms.end(), 0.0);
}
inline double Dot(std::span<const double> a, const std::vector<double>& x) {
  return std::inner_product(x.begin(), x.end(), a.begin(), 0.0);
}
inline double Floor(double x) { return std::floor(x); }
inline double Ceil(double x) { return std::ceil(x); }
inline bool Less(double a, double b) { return a < b; }
inline double Max(double a, double b) { return std::max(a, b); }
inline double Min(double a, double b) { return std::min(a, b); }

}  // namespace posgauge
