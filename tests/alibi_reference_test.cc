#include <bit>
#include <map>

#include <gtest/gtest.h>

#include "attention_values.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

std::vector<std::string> Heads(int64_t heads, int64_t max_bias = 8) {
  return {fmt::format("heads={}", heads), fmt::format("max_bias={}", max_bias)};
}

RoundedValues Slopes(const std::vector<std::string>& settings, Dtype dtype) {
  return ExactEquations(ParseScheme("alibi", settings)).Evaluate(Q::slopes, {}, dtype);
}

// By mpmath, as the official code's recursion gives them.
TEST(alibi, PublishedSlopes) {
  const auto expect = [](int64_t heads, int64_t max_bias, const std::vector<std::string>& printed) {
    ExpectPrinted(ParseScheme("alibi", Heads(heads, max_bias)), Q::slopes, {}, printed);
  };
  expect(1, 8, {"0.00390625"});
  expect(2, 8, {"0.0625", "0.00390625"});
  expect(3, 8, {"0.0625", "0.00390625", "0.25"});
  expect(16, 8,
         {"0.707106781186547524400844362105", "0.5", "0.353553390593273762200422181052", "0.25",
          "0.176776695296636881100211090526", "0.125", "0.0883883476483184405501055452631",
          "0.0625", "0.0441941738241592202750527726316", "0.03125",
          "0.0220970869120796101375263863158", "0.015625", "0.0110485434560398050687631931579",
          "0.0078125", "0.00552427172801990253438159657894", "0.00390625"});
  expect(12, 8,
         {"0.5", "0.25", "0.125", "0.0625", "0.03125", "0.015625", "0.0078125", "0.00390625",
          "0.707106781186547524400844362105", "0.353553390593273762200422181052",
          "0.176776695296636881100211090526", "0.0883883476483184405501055452631"});
  expect(6, 8, {"0.25", "0.0625", "0.015625", "0.00390625", "0.5", "0.125"});
  expect(6, 4,
         {"0.5", "0.25", "0.125", "0.0625", "0.707106781186547524400844362105",
          "0.353553390593273762200422181052"});
  expect(6, 16,
         {"0.0625", "0.00390625", "0.000244140625", "0.0000152587890625", "0.25", "0.015625"});
}

// Another route: m = (2^-numerator)^(1/denominator), a root that MPFR rounds correctly, in a format
// of as many bits as the dtype. The heads' exponents come from the authors' recursion.
double Root(int64_t numerator, unsigned long denominator, int bits) {
  mpfr_t x;
  mpfr_init2(x, bits);
  mpfr_set_ui_2exp(x, 1, -numerator, MPFR_RNDN);
  mpfr_rootn_ui(x, x, denominator, MPFR_RNDN);
  const double root = mpfr_get_d(x, MPFR_RNDN);  // exact: no slope here is subnormal
  mpfr_clear(x);
  return root;
}

struct Exponent {
  int64_t numerator;
  int64_t denominator;
};

std::vector<Exponent> Recursion(int64_t heads) {
  std::vector<Exponent> exponents;
  if (std::has_single_bit(static_cast<uint64_t>(heads))) {
    for (int64_t h = 1; h <= heads; ++h) exponents.push_back({h, heads});
    return exponents;
  }
  const auto closest = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  exponents = Recursion(closest);
  const std::vector<Exponent> twice = Recursion(2 * closest);
  for (size_t i = 0; std::ssize(exponents) < heads; i += 2) exponents.push_back(twice[i]);
  return exponents;
}

TEST(alibi, SlopesOfAnyNumberOfHeadsAreCorrectlyRoundedSlow) {
  std::map<std::tuple<int64_t, int64_t, int>, double> roots;
  for (int64_t max_bias = 1; max_bias <= 16; ++max_bias) {
    for (int64_t heads = 1; heads <= 256; ++heads) {
      const std::vector<Exponent> exponents = Recursion(heads);
      for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
        if (dtype == Dtype::f32 && max_bias != 8) continue;
        const int bits = FormatOf(dtype).digits;
        const RoundedValues slopes = Slopes(Heads(heads, max_bias), dtype);
        ASSERT_EQ(slopes.counts.undecided, 0);
        for (size_t h = 0; h < exponents.size(); ++h) {
          const auto [numerator, denominator] = exponents[h];
          double& root = roots[{max_bias * numerator, denominator, bits}];
          if (root == 0) {
            root = Root(max_bias * numerator, static_cast<unsigned long>(denominator), bits);
          }
          ASSERT_EQ(slopes.values[h], root) << heads << " heads, head " << h << ", " << max_bias;
        }
      }
    }
  }
}

// Of a power of two every second slope of twice as many heads; of 12, 20 and 24 heads not.
TEST(alibi, DoublingTheHeadsKeepsSlopesOnlyOfPowersOfTwo) {
  const auto kept = [](int64_t heads) {
    const std::vector<double> once = Slopes(Heads(heads), Dtype::f64).values,
                              twice = Slopes(Heads(2 * heads), Dtype::f64).values;
    for (size_t h = 0; h < once.size(); ++h) {
      if (once[h] != twice[2 * h + 1]) return false;
    }
    return true;
  };
  for (const int64_t heads : {1, 2, 4, 8, 16, 32, 64}) EXPECT_TRUE(kept(heads)) << heads;
  for (const int64_t heads : {12, 20, 24}) EXPECT_FALSE(kept(heads)) << heads;
}

TEST(alibi, ASliceOfHeadsHasTheSlopesOfTheWholeModel) {
  const std::vector<double> whole = Slopes(Heads(12), Dtype::f64).values;
  const std::vector<double> slice =
      Slopes({"heads=4", "total_heads=12", "first_head=7"}, Dtype::f64).values;
  EXPECT_EQ(slice, std::vector(whole.begin() + 7, whole.begin() + 11));
}

// Weights of slope 1/2 at position 3, scaled scores 0.2, -0.1, 0.4, 0.3: their nearest binary64
// numbers, which is why these digits (by mpmath) are not those of the decimal scores. Values that
// are 1 at one key and 0 elsewhere show its weight.
TEST(alibi, CausalFormsHaveTheSameWeights) {
  const std::vector<std::string> weights = {
      "0.095287534900679979511019598093", "0.116384457945973969751742518441",
      "0.31636575714959698740818615428", "0.471962250003749063329051729186"};
  for (const std::string form : {"relative", "symmetric", "key", "key_from_last"}) {
    const Scheme scheme =
        ParseScheme("alibi", {"heads=1", "head_dim=1", "max_bias=1", "form=" + form});
    for (size_t key = 0; key < 4; ++key) {
      std::vector<double> v(4);
      v[key] = 1;
      ExpectPrinted(scheme, Q::attention,
                    {{{"query_positions", List({3})},
                      {"key_positions", Consecutive(4)},
                      {"q", {{1, 1, 1}, {1}}},
                      {"k", {{4, 1, 1}, {0.2, -0.1, 0.4, 0.3}}},
                      {"v", {{4, 1, 1}, v}}}},
                    {weights[key]});
    }
  }
}

TEST(alibi, FormsOfTheBias) {
  // Slope 1/4; query 2 of keys 0 to 3.
  const auto bias = [](const std::string& form) {
    const ExactEquations exact(ParseScheme("alibi", {"heads=1", "max_bias=2", "form=" + form}));
    return exact
        .Evaluate(Q::bias, {{{"query_positions", List({2})}, {"key_positions", Consecutive(4)}}},
                  Dtype::f32)
        .values;
  };
  EXPECT_EQ(bias("relative"), (std::vector<double>{-0.5, -0.25, 0, 0.25}));
  EXPECT_EQ(bias("symmetric"), (std::vector<double>{-0.5, -0.25, 0, -0.25}));
  EXPECT_EQ(bias("key"), (std::vector<double>{0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(bias("key_from_last"), (std::vector<double>{-0.75, -0.5, -0.25, 0}));
}

}  // namespace
}  // namespace posgauge
