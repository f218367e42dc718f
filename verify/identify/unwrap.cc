#include <algorithm>
#include <cmath>
#include <numbers>

#include "posgauge/verify/identify/seen_rotation.h"

namespace posgauge {

namespace {

constexpr long double kTurn = 2 * std::numbers::pi_v<long double>;

bool IsPowerOfTwo(double x) {
  int exponent = 0;
  return std::frexp(std::fabs(x), &exponent) == 0.5;
}

}  // namespace

double Wrapped(double x, double modulus) { return modulus == 0 ? x : std::remainder(x, modulus); }

Dtype NarrowestDtype(const std::vector<double>& values) {
  for (Dtype dtype : {Dtype::bf16, Dtype::f16, Dtype::f32}) {
    if (std::ranges::all_of(values, [&](double value) {
          return std::isnan(value) || RoundTo(FormatOf(dtype), value) == value;
        })) {
      return dtype;
    }
  }
  return Dtype::f64;
}

SeenFrequencies Unwrap(const std::vector<double>& positions, const std::vector<double>& angles,
                       size_t pairs, double angle_error) {
  std::vector<size_t> all, exact;  // tokens in order of position, without 0
  for (size_t token = 0; token < positions.size(); ++token) {
    if (positions[token] == 0) continue;
    all.push_back(token);
    if (IsPowerOfTwo(positions[token])) exact.push_back(token);
  }
  std::vector<size_t>& tokens = exact.size() >= 3 ? exact : all;
  std::ranges::sort(tokens, {}, [&](size_t token) { return std::fabs(positions[token]); });
  SeenFrequencies seen;
  if (tokens.empty()) {
    seen.values.assign(pairs, 0);
    seen.errors.assign(pairs, HUGE_VAL);
    return seen;
  }
  // The first angle is that of a frequency modulo 2 pi over its position.
  seen.modulus = 2 * std::numbers::pi / std::fabs(positions[tokens.front()]);
  for (size_t pair = 0; pair < pairs; ++pair) {
    long double middle = 0, radius = HUGE_VALL, noise = angle_error;
    for (size_t token : tokens) {
      const long double position = positions[token], angle = angles[token * pairs + pair];
      if (!std::isfinite(angle)) continue;
      const bool first = !std::isfinite(radius);
      // Beyond a third of a turn the wrap count is no longer decided by the coarser estimate.
      if (!first && radius * std::fabs(position) > kTurn / 3) break;
      const long double off = first ? angle : std::remainder(angle - middle * position, kTurn);
      // What is off by more than the roundings of the output is the arithmetic of the angles.
      if (!first && std::fabs(off) > radius * std::fabs(position) + noise) noise = std::fabs(off);
      if (noise / std::fabs(position) < radius) {
        middle += off / position;
        radius = noise / std::fabs(position);
      }
      seen.largest = std::max(seen.largest, std::fabs(positions[token]));
    }
    seen.values.push_back(static_cast<double>(middle));
    seen.errors.push_back(static_cast<double>(radius));
  }
  return seen;
}

}  // namespace posgauge
