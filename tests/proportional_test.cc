#include "posgauge/properties/proportional.h"

#include <bit>

#include <gtest/gtest.h>

#include "law_checks.h"
#include "worked_values.h"

namespace posgauge {
namespace {

TEST(proportional, LawsHoldForAnyParameters) {
  EXPECT_TRUE(LawsHoldForAny(proportional::AnyParams()));
}

const Settings kGemma4 = {"head_dim=512", "base=1000000", "proportion=0.25"};

// mpmath at 400 bits: mpf(10)**6 ** (-mpf(2*i)/512). A reader's exponent over the 128 channels that
// turn would give 10^(-6 * 126/128) for pair 63.
TEST(proportional, TurnsTheFirstPairsByTheWholeWidth) {
  ExpectFrequencies("proportional", kGemma4,
                    {{0, "1.00000000000000000000000000000"},
                     {1, "0.947463525655375397756035754437"},
                     {63, "0.0333762469429203854619826292996"}});
}

TEST(proportional, OtherPairsStandStillExactly) {
  for (const std::string direction : {"counterclockwise", "clockwise"}) {
    const Scheme scheme = ParseScheme("proportional", kGemma4 + Settings{"direction=" + direction});
    const RoundedValues frequencies = ExactRotation(scheme).Frequencies(Dtype::f64);
    ASSERT_EQ(frequencies.values.size(), 256u);
    for (size_t i = 0; i < 256; ++i) {
      EXPECT_EQ(frequencies.values[i] == 0, i >= 64) << i;
      if (i < 64) continue;
      EXPECT_FALSE(std::signbit(frequencies.values[i])) << i;
      EXPECT_EQ(frequencies.proofs[i], Proof::exact) << i;
    }
  }
}

// Channel c of 512 belongs to pair c or c - 256: 64..255 and 320..511 stand still. cos and sin of
// 1000 * 10**6 ** (-mpf(126)/512) by mpmath.
TEST(proportional, UntouchedChannelsKeepTheirBits) {
  const ExactRotation exact(ParseScheme("proportional", kGemma4));
  const std::vector<double> position = {1000};
  std::vector<double> x;
  for (int c = 0; c < 512; ++c) x.push_back(0.7 + c);
  for (const Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16}) {
    const RoundedValues out = exact.Rotate(position, x, 1, dtype);
    for (size_t c = 0; c < 512; ++c) {
      const bool still = c % 256 >= 64;
      // Of the others a narrow dtype may show the same number.
      const bool same = out.values[c] == RoundTo(FormatOf(dtype), x[c]);
      EXPECT_TRUE(same == still || (same && dtype != Dtype::f64)) << c;
    }
    EXPECT_EQ(out.counts.undecided, 0);
  }
  std::vector<double> one(512);
  one[63] = 1;
  const RoundedValues out = exact.Rotate(position, one, 1, Dtype::f64);
  EXPECT_EQ(out.values[63], std::strtod("-0.3797481895742132002836538893261604", nullptr));
  EXPECT_EQ(out.values[63 + 256], std::strtod("0.925089894288715831962001017949539", nullptr));
}

TEST(proportional, PairsAreOneProductInBinary64RoundedDown) {
  const auto turning = [](const Settings& settings) {
    const auto values =
        ExactRotation(ParseScheme("proportional", settings)).Frequencies(Dtype::f64).values;
    return std::count_if(values.begin(), values.end(), [](double value) { return value != 0; });
  };
  EXPECT_EQ(turning({"head_dim=100", "proportion=0.29"}), 14);  // 28.999999999999996 / 2
  EXPECT_EQ(turning({"head_dim=6", "proportion=0.75"}), 2);     // 4.5 / 2; MLX: 3
  EXPECT_EQ(turning({"head_dim=6", "proportion=0.3"}), 0);      // 1.8 / 2
  EXPECT_EQ(turning({"head_dim=6", "proportion=0"}), 0);
  EXPECT_EQ(turning({"head_dim=6", "proportion=1"}), 3);
}

TEST(proportional, AllPairsAreLinearScaling) {
  ExpectSameFrequencies(ParseScheme("proportional", {"head_dim=64", "factor=3"}),
                        ParseScheme("linear", {"head_dim=64", "factor=3"}));
}

TEST(proportional, ProportionIsAShare) {
  EXPECT_EQ(RefusalOf("proportional", {"proportion=1.5"}),
            "proportional.proportion must be in 0..1, got 1.5");
  EXPECT_EQ(RefusalOf("proportional", {"proportion=-0.25"}),
            "proportional.proportion must be in 0..1, got -0.25");
}

}  // namespace
}  // namespace posgauge
