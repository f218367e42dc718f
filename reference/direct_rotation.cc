#include "posgauge/reference/direct_rotation.h"

#include <cmath>

#include <gmp.h>

#include "posgauge/reference/double_double_product.h"

namespace posgauge {

namespace {

__extension__ using uint128 = unsigned __int128;
__extension__ using int128 = __int128;

constexpr int kTurnBits = 192;
constexpr int kPointBits = 10;  // points of the turn: 1024

using Interval257 = Interval<kDigits[1]>;

// The nearest sum of two doubles; the interval is far narrower than a low part's ulp.
DoubleDouble Nearest(const Interval257& value) {
  double radius = 0;
  const auto [high, low] = MiddleOf(value, &radius);
  const double sum = high + low;
  return {sum, (high - sum) + low};
}

// What does not depend on the frequencies.
struct Constants {
  struct Point {
    DoubleDouble cos, sin;
  };
  std::array<Point, 1 << kPointBits> points;
  DoubleDouble two_pi;  // times 2^-64: radians of one unit of a 64-bit fraction of a turn
  DoubleDouble third;   // 1/3!, negative
  DoubleDouble fourth;  // 1/4!
  DoubleDouble fifth;   // 1/5!
};

Constants MakeConstants() {
  using I = Interval257;
  Constants constants;
  const I turn = I(2) * Pi<I>();
  constexpr int kQuarter = 1 << (kPointBits - 2);
  for (int j = 0; j < 1 << kPointBits; ++j) {
    auto& point = constants.points[static_cast<size_t>(j)];
    if (j % kQuarter == 0) {
      constexpr double kCos[] = {1, 0, -1, 0};
      point = {{kCos[j / kQuarter], 0}, {kCos[(j / kQuarter + 3) % 4], 0}};
    } else {
      const auto [cos, sin] = CosSin(turn * I(std::ldexp(j, -kPointBits)));
      point = {Nearest(cos), Nearest(sin)};
    }
  }
  constants.two_pi = Nearest(turn * I(0x1p-64));
  constants.third = Nearest(I(-1) / I(6));
  constants.fourth = Nearest(I(1) / I(24));
  constants.fifth = Nearest(I(1) / I(120));
  return constants;
}

const Constants& TheConstants() {
  static const Constants constants = MakeConstants();
  return constants;
}

// Error-free transformations. FastTwoSum needs |a| >= |b| or a = 0.
DoubleDouble TwoSum(double a, double b) {
  const double sum = a + b, b_seen = sum - a;
  return {sum, (a - (sum - b_seen)) + (b - b_seen)};
}
DoubleDouble FastTwoSum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// a b without the product of the low parts.
DoubleDouble Multiply(DoubleDouble a, DoubleDouble b) {
  const auto [high, error] = TwoProduct(a.high, b.high);
  return {high, error + std::fma(a.high, b.low, a.low * b.high)};
}

// sin r and cos r - 1 for |r| <= pi / 1024, by their Taylor polynomials to r^9 and r^10.
struct SmallAngle {
  DoubleDouble sin, cos_less_one;
};
SmallAngle OfSmallAngle(DoubleDouble r) {
  const Constants& k = TheConstants();
  DoubleDouble square = TwoProduct(r.high, r.high);
  square.low = std::fma(2 * r.high, r.low, square.low);

  // sin r = r + r^3 (-1/6 + r^2 (1/120 - r^2 / 5040 + r^4 / 362880))
  DoubleDouble inner = TwoProduct(square.high, k.fifth.high);
  const double tail =
      std::fma(square.high, std::fma(square.high, 1.0 / 362880, -1.0 / 5040), k.fifth.low);
  inner.low += std::fma(square.low, k.fifth.high, square.high * tail);
  DoubleDouble factor = FastTwoSum(k.third.high, inner.high);
  factor.low += k.third.low + inner.low;
  const DoubleDouble cubed = Multiply(factor, Multiply(square, r));
  DoubleDouble sin = FastTwoSum(r.high, cubed.high);
  sin.low += r.low + cubed.low;

  // cos r - 1 = -r^2 / 2 + r^4 (1/24 - r^2 / 720 + r^4 / 40320 - r^6 / 3628800)
  const double rest =
      square.high *
      std::fma(square.high, std::fma(square.high, -1.0 / 3628800, 1.0 / 40320), -1.0 / 720);
  factor = FastTwoSum(k.fourth.high, rest);
  factor.low += k.fourth.low;
  DoubleDouble fourth_power = TwoProduct(square.high, square.high);
  fourth_power.low = std::fma(2 * square.high, square.low, fourth_power.low);
  const DoubleDouble quartic = Multiply(factor, fourth_power);
  DoubleDouble cos_less_one = FastTwoSum(-0.5 * square.high, quartic.high);
  cos_less_one.low += quartic.low - 0.5 * square.low;
  return {sin, cos_less_one};
}

// point + a b + sign c d, the last step of an angle's sum.
DoubleDouble Combine(DoubleDouble point, DoubleDouble a, DoubleDouble b, double sign,
                     DoubleDouble c, DoubleDouble d) {
  const DoubleDouble ab = Multiply(a, b), cd = Multiply(c, d);
  const DoubleDouble change = TwoSum(ab.high, sign * cd.high);
  const DoubleDouble sum = TwoSum(point.high, change.high);
  return FastTwoSum(sum.high, sum.low + (point.low + (change.low + (ab.low + sign * cd.low))));
}

}  // namespace

DirectRotation::DirectRotation(const RotationLadder& ladder) {
  TheConstants();  // here, so that no worker thread is left with MPFR's caches
  mpz_t lowest, highest;
  mpz_inits(lowest, highest, nullptr);
  for (int64_t pair = 0; pair < ladder.layout().Pairs(); ++pair) {
    Turns turns = {};
    ladder.WithLowest<1>([&]<class I>(const Rotation<I>& rotation) {
      // A power of two scales exactly.
      const I scaled = rotation.frequency[static_cast<size_t>(pair)] / Pi<I>() *
                       I(std::ldexp(1.0, kTurnBits - 1));
      mpfr_get_z(lowest, I::Ptr(scaled.lo()), MPFR_RNDD);
      mpfr_get_z(highest, I::Ptr(scaled.hi()), MPFR_RNDD);
      if (mpz_cmp(lowest, highest) != 0) throw Undecided();
      mpz_fdiv_r_2exp(lowest, lowest, kTurnBits);
      turns = {};
      mpz_export(turns.data(), nullptr, -1, sizeof(uint64_t), 0, 0, lowest);
    });
    frequency_.push_back(turns);
  }
  mpz_clears(lowest, highest, nullptr);
}

std::array<DoubleDouble, 2> DirectRotation::At(int64_t position, int64_t pair) const {
  const auto p = static_cast<uint64_t>(position);
  const Turns& turns = frequency_[static_cast<size_t>(pair)];
  // The upper 128 bits of p w mod 2^192: below the fraction of a turn by less than p 2^-192 +
  // 2^-128.
  const uint128 middle = uint128{p} * turns[1] + static_cast<uint64_t>(uint128{p} * turns[0] >> 64);
  const uint64_t top = p * turns[2] + static_cast<uint64_t>(middle >> 64);
  constexpr int kRestBits = 128 - kPointBits;
  constexpr uint128 kHalf = uint128{1} << (kRestBits - 1);
  const uint128 fraction = (uint128{top} << 64 | static_cast<uint64_t>(middle)) + kHalf;
  const auto& point = TheConstants().points[static_cast<size_t>(fraction >> kRestBits)];
  const auto rest =
      static_cast<int128>(fraction & ((uint128{1} << kRestBits) - 1)) - static_cast<int128>(kHalf);
  const DoubleDouble units = FastTwoSum(static_cast<double>(static_cast<int64_t>(rest >> 64)),
                                        static_cast<double>(static_cast<uint64_t>(rest)) * 0x1p-64);
  DoubleDouble r = Multiply(units, TheConstants().two_pi);
  r = FastTwoSum(r.high, r.low);
  const auto [sin, cos_less_one] = OfSmallAngle(r);
  return {Combine(point.cos, point.cos, cos_less_one, -1, point.sin, sin),
          Combine(point.sin, point.sin, cos_less_one, 1, point.cos, sin)};
}

}  // namespace posgauge
