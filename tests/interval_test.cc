// Interval arithmetic and rounding: what every proof rests on.
#include "posgauge/reference/interval.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "posgauge/reference/rounding.h"
#include "posgauge/verify/random.h"

namespace posgauge {
namespace {

using Coarse = Interval<38>;
using Fine = Interval<154>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool Contains(const Coarse& outer, const Fine& inner) {
  return mpfr_lessequal_p(Coarse::Ptr(outer.lo()), Fine::Ptr(inner.lo())) != 0 &&
         mpfr_greaterequal_p(Coarse::Ptr(outer.hi()), Fine::Ptr(inner.hi())) != 0;
}

// The same random expressions at two precisions: what is known to 513 bits lies in what is known to
// 128. Each value comes with its origin, so that errors add up over several operations.
TEST(interval, HoldsTheValueOfRandomExpressions) {
  Random random(1, "expressions");
  int compared = 0, wide = 0;
  for (int round = 0; round < 400; ++round) {
    const double start = (random.Uniform() - 0.5) * std::exp2(20 * random.Uniform() - 10);
    Coarse coarse(start);
    Fine fine(start);
    try {
      for (int step = 0; step < 8; ++step) {
        const double operand = std::exp2(8 * random.Uniform() - 4) * (random.Below(2) ? 1 : -1);
        const auto n = static_cast<int64_t>(random.Below(200)) - 100;
        const auto m = static_cast<int64_t>(1 + random.Below(128));
        const uint64_t choice = random.Below(11);
        const auto apply = [&]<class I>(const I& x) -> I {
          switch (choice) {
            case 0:
              return x + I(operand);
            case 1:
              return I(operand) - x * x;
            case 2:
              return x * (x - I(operand));
            case 3:
              return I(operand) / x;
            case 4:
              return x / I(3);
            case 5:
              return Log(x * x + I(1));
            case 6:
              return CosSin(x)[0] + CosSin(x)[1];
            case 7:
              return CosSin(x * I(1000))[1];
            case 8:
              return RationalPower(x * x + I(1), n % 8, m);
            case 9:
              return Max(x, I(operand)) * Min(x, I(1)) - Pi<I>();
            default:
              return RationalPower(I(10000), n, 128) - x;
          }
        };
        coarse = apply(coarse);
        fine = apply(fine);
        ASSERT_TRUE(Contains(coarse, fine)) << "operation " << choice << " in round " << round;
        ++compared;
        wide += coarse.IsPoint() ? 0 : 1;
      }
    } catch (const Undecided&) {
      // A division by what may be zero.
    }
  }
  EXPECT_GT(compared, 2000);
  EXPECT_GT(wide, compared / 2);
}

// Every way of the signs: the extremes of a product and of a quotient are among those of the ends.
// Divisors are powers of two, so that nothing rounds.
TEST(interval, ProductsAndQuotientsReachTheExtremesOfTheirEndsAndNoFarther) {
  const std::vector<double> ends = {-4, -2, -1, 0, 1, 2, 8};
  const auto interval = [](double low, double high) {
    return Coarse(Coarse(low).lo(), Coarse(high).hi());
  };
  int products = 0, quotients = 0;
  for (const double a : ends) {
    for (const double b : ends) {
      for (const double c : ends) {
        for (const double d : ends) {
          if (a > b || c > d) continue;
          const auto [least, most] = std::minmax({a * c, a * d, b * c, b * d});
          const Coarse product = interval(a, b) * interval(c, d);
          EXPECT_TRUE(product.lo() == least && product.hi() == most)
              << a << " " << b << " " << c << " " << d;
          if (a == b) {
            const Coarse scaled = a * interval(c, d);
            EXPECT_TRUE(scaled.lo() == least && scaled.hi() == most) << a << " " << c << " " << d;
          }
          ++products;
          if (c <= 0 && d >= 0) {
            EXPECT_THROW(interval(a, b) / interval(c, d), Undecided);
            continue;
          }
          const auto [lowest, highest] = std::minmax({a / c, a / d, b / c, b / d});
          const Coarse quotient = interval(a, b) / interval(c, d);
          EXPECT_TRUE(quotient.lo() == lowest && quotient.hi() == highest)
              << a << " " << b << " " << c << " " << d;
          ++quotients;
        }
      }
    }
  }
  // A number that is no power of two: the product rounds to both sides.
  for (const double a : {0.1, -0.1}) {
    const Coarse third = Coarse(1) / Coarse(3), scaled = a * third, same = Coarse(a) * third;
    EXPECT_TRUE(scaled.lo() == same.lo() && scaled.hi() == same.hi() && scaled.lo() < scaled.hi());
  }
  EXPECT_EQ(products, 28 * 28);
  EXPECT_EQ(quotients, 28 * 12);
}

TEST(interval, ExactOperationsStayPoints) {
  const Coarse a(0.1), b(3);
  EXPECT_TRUE((a + b).IsPoint() && (a - b).IsPoint() && (a * b).IsPoint());
  EXPECT_FALSE((a / b).IsPoint());
  EXPECT_TRUE((Coarse(0.75) / Coarse(3)).IsPoint());
  EXPECT_FALSE(Log(b).IsPoint());
  EXPECT_FALSE(Pi<Coarse>().IsPoint());
  EXPECT_TRUE(CosSin(Coarse(0))[0].IsPoint() && CosSin(Coarse(0))[1].IsZero());
  EXPECT_TRUE(CosSin(Coarse(1))[0].lo() < CosSin(Coarse(1))[0].hi());
  EXPECT_EQ(Coarse::Bits(), 128);
  EXPECT_EQ(Fine::Bits(), 513);
}

TEST(interval, PowersThatAreBinaryNumbersArePoints) {
  for (int64_t i = 0; i < 8; ++i) {
    const Coarse power = RationalPower(Coarse(65536), -2 * i, 16);
    ASSERT_TRUE(power.IsPoint()) << i;
    EXPECT_EQ(power.lo(), std::ldexp(1.0, static_cast<int>(-2 * i)));
  }
  EXPECT_TRUE(RationalPower(Coarse(81), 3, 4).IsPoint());  // 27
  EXPECT_EQ(RationalPower(Coarse(81), 3, 4).lo(), 27);
  EXPECT_TRUE(RationalPower(Coarse(2.25), -1, 2).lo() < RationalPower(Coarse(2.25), -1, 2).hi());
  EXPECT_EQ(RationalPower(Coarse(7), 0, 5).lo(), 1);
  EXPECT_FALSE(RationalPower(Coarse(10000), -2, 128).IsPoint());
  EXPECT_THROW(RationalPower(Coarse(-1), 1, 2), Undecided);
}

// root <= x^(n/m) <= root, checked by raising it again, exactly: root^m against x^n. The second row
// of exponents is where x^n is too long to be formed exactly.
TEST(interval, DirectedPowersLieOnTheirSide) {
  const std::vector<double> bases = {10000, 0.1, 500000.5, 0x1.fffffffffffffp-1};
  const std::vector<std::pair<uint64_t, uint64_t>> exponents = {
      {1, 64}, {63, 64}, {3, 2}, {5000, 7}, {4001, 4000}};
  for (const double base : bases) {
    for (const auto& [n, m] : exponents) {
      const Real<38> x(base);
      const Real<38> down = interval_detail::DirectedPower<38>(x, n, m, MPFR_RNDD);
      const Real<38> up = interval_detail::DirectedPower<38>(x, n, m, MPFR_RNDU);
      mpfr_t power, root;
      mpfr_inits2(static_cast<mpfr_prec_t>(53 * n + 64), power, nullptr);
      mpfr_inits2(static_cast<mpfr_prec_t>(128 * m + 64), root, nullptr);
      EXPECT_EQ(mpfr_pow_ui(power, Coarse::Ptr(x), n, MPFR_RNDN), 0) << "x^n is exact";
      EXPECT_EQ(mpfr_pow_ui(root, Coarse::Ptr(down), m, MPFR_RNDN), 0);
      EXPECT_LE(mpfr_cmp(root, power), 0) << base << "^" << n << "/" << m;
      EXPECT_EQ(mpfr_pow_ui(root, Coarse::Ptr(up), m, MPFR_RNDN), 0);
      EXPECT_GE(mpfr_cmp(root, power), 0) << base << "^" << n << "/" << m;
      mpfr_clears(power, root, nullptr);
      // And no wider than a few units of the last place.
      EXPECT_LE((up - down) / up, Real<38>(0x1p-120));
      EXPECT_EQ(down == up, base == 10000 && n == 3);  // a million
    }
  }
}

TEST(interval, DecisionsAreRefusedWhereTheyCannotBeMade) {
  const Coarse third = Coarse(1) / Coarse(3);
  EXPECT_TRUE(Less(Coarse(0), third));
  EXPECT_FALSE(Less(third, Coarse(0)));
  EXPECT_THROW(Less(third, third), Undecided);
  EXPECT_FALSE(Less(Coarse(2), Coarse(2)));
  EXPECT_THROW(Floor(third * Coarse(3)), Undecided);
  EXPECT_EQ(Floor(Coarse(-2.5)).lo(), -3);
  EXPECT_EQ(Ceil(Coarse(-2.5)).lo(), -2);
  EXPECT_EQ(Ceil(Coarse(4)).lo(), 4);
  EXPECT_THROW(Coarse(1) / (third * Coarse(3) - Coarse(1)), Undecided);
  EXPECT_THROW(Log(Coarse(0)), Undecided);
}

// ---------------------------------------------------------------------------- rounding

double Round(const Real<38>& value, Dtype dtype) {
  return RoundReal(Coarse::Ptr(value), FormatOf(dtype));
}

// NaNs of one sign are alike.
bool SameBits(double a, double b) {
  return (a == b || (std::isnan(a) && std::isnan(b))) && std::signbit(a) == std::signbit(b);
}

// Doubles of every size, and what lies just beside them.
TEST(rounding, AgreesWithRoundToOnDoublesOfEverySize) {
  Random random(2, "doubles");
  for (int n = 0; n < 40000; ++n) {
    const int exponent = static_cast<int>(random.Below(340)) - 170;
    // A third with few digits, so that ties occur.
    double significand = 1 + random.Uniform();
    if (n % 3 == 0) significand = std::ldexp(std::floor(std::ldexp(significand, 12)), -12);
    if (n % 3 == 1) significand = std::ldexp(std::floor(std::ldexp(significand, 25)), -25);
    const double value = std::ldexp(n % 2 == 0 ? significand : -significand, exponent);
    for (const Dtype dtype : kFloatDtypes) {
      EXPECT_TRUE(SameBits(Round(Real<38>(value), dtype), RoundTo(FormatOf(dtype), value)))
          << value << " to " << Name(dtype);
    }
  }
}

// Against MPFR's own conversions, which know subnormals and overflow.
TEST(rounding, AgreesWithMpfrOnWideNumbers) {
  Random random(3, "wide");
  for (int n = 0; n < 20000; ++n) {
    const int exponent = static_cast<int>(random.Below(2240)) - 1110;
    Real<38> value = ldexp(Real<38>(1 + random.Uniform()), exponent) +
                     ldexp(Real<38>(random.Uniform()), exponent - 60);
    if (n % 2 == 0) value = -value;
    EXPECT_TRUE(SameBits(Round(value, Dtype::f64), mpfr_get_d(Coarse::Ptr(value), MPFR_RNDN)));
    const float narrow = mpfr_get_flt(Coarse::Ptr(value), MPFR_RNDN);
    EXPECT_TRUE(SameBits(Round(value, Dtype::f32), static_cast<double>(narrow)));
  }
}

// Every midpoint of f16 goes to the even neighbour, and a hair on either side decides otherwise.
TEST(rounding, TiesGoToEvenAndHairsDecide) {
  const Real<38> hair = ldexp(Real<38>(1), -120);
  for (uint64_t bits = 0; bits < 0x7c00; ++bits) {
    const double below = Decode(Dtype::f16, bits);
    const double above = bits == 0x7bff ? 65536 : Decode(Dtype::f16, bits + 1);
    const double stored_above = bits == 0x7bff ? kInfinity : above;
    const Real<38> middle = (Real<38>(below) + Real<38>(above)) / 2;
    const double even = bits % 2 == 0 ? below : stored_above;
    ASSERT_EQ(Round(middle, Dtype::f16), even) << below;
    ASSERT_EQ(Round(middle - middle * hair, Dtype::f16), below) << below;
    ASSERT_EQ(Round(middle + middle * hair, Dtype::f16), stored_above) << below;
    ASSERT_EQ(Round(-middle, Dtype::f16), -even) << below;
  }
  EXPECT_TRUE(SameBits(Round(-ldexp(Real<38>(1), -5000), Dtype::f64), -0.0));
  EXPECT_EQ(Round(ldexp(Real<38>(1), 5000), Dtype::f32), kInfinity);
  EXPECT_EQ(Round(ldexp(Real<38>(-1), 5000), Dtype::bf16), -kInfinity);
  EXPECT_TRUE(SameBits(Round(Real<38>(-0.0), Dtype::f16), -0.0));
}

TEST(rounding, DistanceCountsParts) {
  const auto distance = [](const Real<38>& value, Dtype dtype, double stored) {
    return DistanceInUlps(Coarse::Ptr(value), FormatOf(dtype), stored);
  };
  for (const double stored : {1.0, -1.5, 0x1p-126, 3 * 0x1p-149, 0x1.fffffep127}) {
    const double ulp = Ulp(FormatOf(Dtype::f32), stored);
    for (const int64_t parts : {-32768, -1000, -1, 0, 1, 7, 32768}) {
      const Real<38> value = Real<38>(stored) + Real<38>(ulp) * static_cast<double>(parts) / 65536;
      EXPECT_EQ(distance(value, Dtype::f32, stored), parts) << stored;
    }
  }
  // Zero counts in smallest subnormals; parts are rounded to nearest.
  EXPECT_EQ(distance(ldexp(Real<38>(1), -150), Dtype::f32, 0), 32768);
  EXPECT_EQ(distance(Real<38>(1) + ldexp(Real<38>(3), -23 - 18), Dtype::f32, 1), 1);
  EXPECT_EQ(distance(ldexp(Real<38>(1), -1074 - 3), Dtype::f64, 0), 8192);
}

TEST(rounding, AnEnclosureDecidesOnlyWhereAllOfItAgrees) {
  const Format f16 = FormatOf(Dtype::f16);
  const auto decide = [&](const Real<38>& lo, const Real<38>& hi, bool with_distance) {
    return Decide(Coarse(lo, hi), f16, with_distance);
  };
  const Real<38> tie = Real<38>(1) + ldexp(Real<38>(1), -11);
  const Real<38> hair = ldexp(Real<38>(1), -100);
  EXPECT_EQ(decide(Real<38>(1), Real<38>(1), true)->proof, Proof::exact);
  EXPECT_EQ(decide(tie, tie, false)->proof, Proof::proven);
  EXPECT_EQ(decide(tie, tie, false)->value, 1);
  EXPECT_FALSE(decide(tie - hair, tie + hair, false));
  EXPECT_TRUE(decide(tie - hair, tie, false));
  // Around zero the sign is not known, unless it is zero itself.
  EXPECT_FALSE(decide(-hair, hair, false));
  EXPECT_EQ(decide(Real<38>(-0.0), Real<38>(0), false)->proof, Proof::exact);
  // The same rounding, but another part of an ulp.
  const Real<38> part = Real<38>(1) + ldexp(Real<38>(1), -10 - 17);
  EXPECT_TRUE(decide(part - hair, part + hair, false));
  EXPECT_FALSE(decide(part - hair, part + hair, true));
}

}  // namespace
}  // namespace posgauge
