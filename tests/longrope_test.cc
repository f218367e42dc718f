#include "posgauge/properties/longrope.h"

#include <gtest/gtest.h>

#include "law_checks.h"
#include "posgauge/schemes/model/config.h"
#include "worked_values.h"

namespace posgauge {
namespace {

TEST(longrope, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(longrope::AnyParams())); }

Scheme Phi4(int64_t length) {
  return ReadModelConfig(POSGAUGE_SOURCE_DIR "/golden/models/phi-4-mini.json",
                         {.pairing = {}, .length = length})
      .groups.at(0)
      .scheme;
}

// mpmath at 400 bits: w = mpf(10000)**(-mpf(2*i)/96), over mpf(long_factor[i]) from length 4097 on.
struct PrintedPair {
  size_t pair;
  std::string within, beyond;
};
const std::vector<PrintedPair> kPhi4 = {
    {1, "0.825404185268018425679628885772", "0.738074691753545957152803217733"},
    {24, "0.0100000000000000000000000000000", "0.000682979284476096972711628335636"},
    {47, "0.000121152765862858844635860293332", "0.00000253616842919947324067016235278"}};

TEST(longrope, SwitchesOneTokenBeyondTheOriginalLength) {
  for (const int64_t length : {0, 4095, 4096, 4097, 131072}) {
    SCOPED_TRACE(length);
    const ExactRotation exact(Phi4(length));
    const EnclosedValues enclosed = exact.EncloseFrequencies();
    const RoundedValues rounded = exact.Frequencies(Dtype::f64);
    for (const auto& [pair, within, beyond] : kPhi4) {
      ExpectPrinted(length <= 4096 ? within : beyond, enclosed.values.at(pair),
                    rounded.values.at(pair));
    }
  }
}

// sqrt(1 + log(mpf(32))/log(mpf(4096))), and that times cos and sin of 4095 w.
TEST(longrope, MagnitudeIsTheSameInBothRegimes) {
  for (const int64_t length : {4096, 4097}) {
    const ExactRotation exact(Phi4(length));
    ExpectPrinted("1.19023807142380833299989996856", exact.EncloseMagnitude().values.at(0),
                  exact.Magnitude(Dtype::f64).values.at(0));
  }
}

TEST(longrope, TablesHaveTheDigitsComputedElsewhere) {
  const std::vector<double> position = {4095};
  const auto expect = [&](int64_t length, size_t pair, const char* cos, const char* sin) {
    const RoundedTable table = ExactRotation(Phi4(length)).Table(position, Dtype::f64);
    EXPECT_EQ(table.cos.values.at(pair), std::strtod(cos, nullptr));
    EXPECT_EQ(table.sin.values.at(pair), std::strtod(sin, nullptr));
  };
  expect(4096, 1, "1.1284773707711976218464679359944", "-0.37842501281494546309834222387495");
  expect(4096, 47, "1.0467380280175042344297599927492", "0.56657406168010655498972973954816");
  expect(4097, 1, "1.1656224362117090237532854859517", "0.24081321156977038796313105648433");
  expect(4097, 47, "1.1901738819323976081367485996914", "0.012361125864335536925762314627055");
}

// 1 + ln s/ln L0 is rational where both are powers of one number.
TEST(longrope, RationalMagnitudesAreExact) {
  const auto magnitude = [](int64_t original, double factor) {
    return ExactRotation(longrope::Params{.original_length = original, .factor = factor})
        .Magnitude(Dtype::f16);
  };
  const auto expect_exact = [&](int64_t original, double factor, double want) {
    const RoundedValues got = magnitude(original, factor);
    EXPECT_EQ(got.values[0], want);
    EXPECT_EQ(got.proofs[0], Proof::exact);
  };
  expect_exact(4096, 32768, 1.5);  // 2^12, 2^15
  expect_exact(65536, 512, 1.25);  // 2^16, 2^9
  expect_exact(3, 27, 2);
  expect_exact(10, 1000, 2);
  expect_exact(4096, 1, 1);
  expect_exact(4096, 0.5, 1);
  EXPECT_EQ(magnitude(4096, 4096).proofs[0], Proof::proven);  // sqrt 2
  ExpectMagnitude("longrope", {"factor=4096"}, "1.41421356237309504880168872420");
}

TEST(longrope, AConstantFactorIsPositionInterpolation) {
  const Scheme scheme = ParseScheme(
      "longrope", {"head_dim=8", "long_factor=[3,3,3,3]", "original_length=7", "length=8"});
  ExpectSameFrequencies(scheme, ParseScheme("linear", {"head_dim=8", "factor=3"}));
}

TEST(longrope, MagnitudesOfTheRegimesReplaceTheRule) {
  const Settings settings = {"head_dim=8", "factor=8", "original_length=512", "short_mscale=1.25",
                             "long_mscale=1.5"};
  ExpectMagnitude("longrope", settings + Settings{"length=512"}, "1.25");
  ExpectMagnitude("longrope", settings + Settings{"length=513"}, "1.5");
  ExpectMagnitude("longrope", {"attention_factor=1.125", "factor=8"}, "1.125");
}

TEST(longrope, RefusesWhatHasNoMeaning) {
  const Settings narrow = {"head_dim=8", "length=5"};
  EXPECT_EQ(RefusalOf("longrope", narrow + Settings{"long_factor=[1,2,3]"}),
            "longrope.long_factor must have 4 entries (rotary_dim/2), got 3");
  EXPECT_EQ(RefusalOf("longrope", narrow + Settings{"short_factor=[]"}),
            "longrope.short_factor must have 4 entries (rotary_dim/2), got 0");
  EXPECT_EQ(RefusalOf("longrope", narrow + Settings{"long_factor=[1,2,0,4]"}),
            "longrope.long_factor[2] must be in 1e-06..1000000, got 0");
  EXPECT_EQ(RefusalOf("longrope", narrow + Settings{"short_factor=[-1,2,3,4]"}),
            "longrope.short_factor[0] must be in 1e-06..1000000, got -1");
  EXPECT_EQ(RefusalOf("longrope", narrow + Settings{"short_factor=7"}),
            "longrope.short_factor must be a list of numbers, got 7");
  EXPECT_EQ(RefusalOf("longrope", {"head_dim=8", "long_factor=[1,2,3,4]"}),
            "longrope.length must be given: the current length in tokens chooses between the short "
            "and the long factors");
  EXPECT_EQ(RefusalOf("longrope", {"original_length=1"}),
            "longrope.original_length must be in 2..1099511627776 tokens, got 1");
  EXPECT_EQ(RefusalOf("longrope", narrow + Settings{"attention_factor=1", "short_mscale=1"}),
            "longrope.attention_factor and short_mscale or long_mscale both replace the magnitude: "
            "keep one");
}

}  // namespace
}  // namespace posgauge
