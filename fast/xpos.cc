#include "posgauge/fast/xpos.h"

#include <cmath>

namespace posgauge::xpos {

namespace {

constexpr double kStep = 64;  // tokens

// Beyond it e^x is 0 or infinite in double, subnormals included.
constexpr double kLargestExponent = 800;

// e^x rounded once where it is normal: x = k ln 2 + r, |r| < 0.4, and k below 2^11 times the error
// of ln 2 is far below that of x itself.
double RoundedExp(fast::Wide x) {
  if (!(std::fabs(x.high) < kLargestExponent)) return x.high < 0 ? 0 : HUGE_VAL;
  static const fast::Wide log_of_2 = fast::Log(2);
  const double k = std::nearbyint(x.high / log_of_2.high);
  const fast::Wide power = fast::Exp(x - fast::Wide(k) * log_of_2);
  return std::ldexp(power.high + power.low, static_cast<int>(k));
}

// ln(1 - u), 0 < u < 1, within 2^-85 of itself: of a small u, whose logarithm of 1 - u would keep
// only what rounding leaves, by ten terms of the series, the next of which is below 2^-100 of the
// first.
fast::Wide LogOneMinus(fast::Wide u) {
  constexpr int kTerms = 10;
  if (u.high > 0x1p-10) return fast::Log(fast::Wide(1) - u);
  fast::Wide sum(0), power(1);
  for (int k = 1; k <= kTerms; ++k) {
    power = power * u;
    sum = sum + power / fast::Wide(static_cast<double>(k));
  }
  return -sum;
}

}  // namespace

// 1 - zeta_n = (d - 2n) / (d (1 + gamma)).
Fading::Fading(const Params& params) {
  const Rotary rotary = params.turning.Of(params.attention);
  const fast::Wide width(static_cast<double>(rotary.rotary_dim)), gamma(params.gamma);
  for (int64_t pair = 0; pair < rotary.Pairs(); ++pair) {
    const fast::Wide below = width - fast::Wide(static_cast<double>(2 * pair));
    const fast::Wide lost = below / (width * (fast::Wide(1) + gamma));
    rate_.push_back(LogOneMinus(lost) / fast::Wide(params.scale_base));
  }
  row_.resize(rate_.size());
}

std::vector<double> Fading::Factors(double offset) const {
  std::vector<double> factors;
  for (const fast::Wide& rate : rate_) factors.push_back(RoundedExp(fast::Wide(offset) * rate));
  return factors;
}

const std::vector<double>& Fading::Kept(double offset) {
  constexpr size_t kMost = 4096;  // rows
  if (kept_.size() > kMost) kept_.clear();
  std::vector<double>& factors = kept_[offset];
  if (factors.empty()) factors = Factors(offset);
  return factors;
}

const std::vector<double>& Fading::At(double offset) {
  if (offset != std::trunc(offset)) {
    row_ = Factors(offset);
    return row_;
  }
  const double rest = std::fmod(offset, kStep);
  if (rest == offset || rest == 0) return Kept(offset);
  row_ = Kept(rest);
  const std::vector<double>& block = Kept(offset - rest);
  for (size_t i = 0; i < row_.size(); ++i) row_[i] *= block[i];
  return row_;
}

}  // namespace posgauge::xpos
