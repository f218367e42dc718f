#include "posgauge/properties/yarn.h"

#include <gtest/gtest.h>

#include "law_checks.h"
#include "worked_values.h"

namespace posgauge {
namespace {

TEST(yarn, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(yarn::AnyParams())); }

TEST(yarn, InvertedRampIsRefusedUnlessAReadingIsChosen) {
  // Over one token no pair makes a turn: both ends lie below pair 0.
  const Scheme refused = ParseScheme("yarn", {"head_dim=16", "factor=4", "original_length=1"});
  EXPECT_THROW(ExactRotation{refused}, ParameterError);
  Scheme chosen = refused;
  Apply(chosen, {"inverted_ramp=huggingface"});
  EXPECT_NO_THROW(ExactRotation{chosen});
}

// mpmath at 400 bits, width 128, base 10000, w = mpf(b)**(-mpf(2*i)/d):
//   r = 4096*w/(2*pi); k = (r-1)/31 in 0..1; w/16*(1-k) + w*k
TEST(yarn, RampOverTurnsHasTheDigitsComputedElsewhere) {
  ExpectFrequencies("yarn", {"factor=16", "ramp=turns"},
                    {{0, "1.00000000000000000000000000000"},
                     {20, "0.0562341325190349080394951039776"},
                     {30, "0.00393598859068474466504872011809"},
                     {38, "0.000486613168814361513602104330513"},
                     {45, "0.0000964259154583358442099318259504"},
                     {63, "0.00000721738740430911362291551804559"}});
}

// The largest disagreement between the paper and all code, of one name: 3.04 at pair 38.
TEST(yarn, RampsOverPairsAndTurnsDiffer) {
  const auto at_38 = [](const std::string& ramp) {
    return ExactRotation(ParseScheme("yarn", {"factor=16", "ramp=" + ramp}))
        .Frequencies(Dtype::f64)
        .values[38];
  };
  EXPECT_EQ(fmt::format("{:.10f}", at_38("pairs") / at_38("turns")), "3.0414148875");
}

// Meta's formula is the paper's ramp, under other names and without a magnitude.
TEST(yarn, RampOverTurnsWithoutMagnitudeIsLlama3) {
  const Settings shared = {"head_dim=64", "base=500000", "factor=32", "original_length=8192"};
  ExpectSameFrequencies(ParseScheme("yarn", shared + Settings{"ramp=turns", "beta_slow=1",
                                                              "beta_fast=4", "magnitude=none"}),
                        ParseScheme("llama3", shared + Settings{"low_frequency_factor=1",
                                                                "high_frequency_factor=4"}));
}

TEST(yarn, RampOverTurnsTakesAnyBase) {
  EXPECT_EQ(RefusalOf("yarn", {"base=1"}),
            "yarn.base must be above 1 for YaRN's ramp over pairs (it divides by ln base), got 1");
  EXPECT_NO_THROW(ExactRotation(ParseScheme("yarn", {"base=1", "factor=4", "ramp=turns"})));
  // Nor can it be inverted: over one token no pair makes a turn, and all are divided.
  ExpectSameFrequencies(
      ParseScheme("yarn", {"head_dim=16", "factor=4", "original_length=1", "ramp=turns"}),
      ParseScheme("linear", {"head_dim=16", "factor=4"}));
}

//   s = max(1, N/4096); k = 1 - (i-20)/26 in 0..1; w/s*(1-k) + w*k; log(s)/10 + 1
TEST(yarn, DynamicSwitchesOneTokenBeyondTheOriginalLength) {
  const auto expect = [](int64_t length, const std::vector<PrintedFrequency>& printed,
                         const std::string& magnitude) {
    const Settings settings = {fmt::format("length={}", length)};
    ExpectFrequencies("yarn", settings, printed);
    ExpectMagnitude("yarn", settings, magnitude);
  };
  const std::vector<PrintedFrequency> unscaled = {{20, "0.0562341325190349080394951039776"},
                                                  {38, "0.00421696503428582248569013359509"},
                                                  {63, "0.000115478198468945817966648288729"}};
  expect(0, unscaled, "1.00000000000000000000000000000");
  expect(4096, unscaled, "1.00000000000000000000000000000");
  expect(4097,
         {{20, "0.0562341325190349080394951039776"},
          {38, "0.00421625245500063121248138401843"},
          {63, "0.000115450012430754715741125552998"}},
         "1.00002441108275273627091604790");
  expect(8192,
         {{20, "0.0562341325190349080394951039776"},
          {38, "0.00275724636857149931756662581217"},
          {63, "0.0000577390992344729089833241443647"}},
         "1.06931471805599453094172321214");
}

TEST(yarn, DynamicAtSTimesTheOriginalLengthIsYarnWithFactorS) {
  for (const std::string ramp : {"ramp=pairs", "ramp=turns"}) {
    const Scheme dynamic = ParseScheme("yarn", {ramp, "length=65536"});
    const Scheme fixed = ParseScheme("yarn", {ramp, "factor=16"});
    ExpectSameFrequencies(dynamic, fixed);
    EXPECT_EQ(ExactRotation(dynamic).Magnitude(Dtype::f64).values,
              ExactRotation(fixed).Magnitude(Dtype::f64).values);
  }
}

TEST(yarn, DynamicTakesNoFactor) {
  EXPECT_EQ(RefusalOf("yarn", {"length=8192", "factor=2"}),
            "yarn.factor must be 1 where length is given (the factor is then "
            "length/original_length), got 2");
}

}  // namespace
}  // namespace posgauge
