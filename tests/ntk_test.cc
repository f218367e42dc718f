#include "posgauge/properties/ntk.h"

#include <gtest/gtest.h>

#include "law_checks.h"
#include "worked_values.h"

namespace posgauge {
namespace {

TEST(ntk, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(ntk::AnyParams())); }

TEST(ntk, WidthTwoIsRefusedWhereTheExponentDividesByZero) {
  const ntk::Params aware{.rotary = {.head_dim = 2, .rotary_dim = 2}, .factor = 4};
  EXPECT_THROW(aware.Validate(), ParameterError);
  ntk::Params naive = aware;
  naive.form = ntk::Form::naive;
  EXPECT_NO_THROW(naive.Validate());
}

TEST(ntk, LeavingPairsAndCachedKeysAreListed) {
  const auto note_of = [](const Scheme& scheme, std::string_view law) {
    const Subject subject(AnyKernel("honest.rotate.f32"), scheme);
    const Verdict verdict =
        CheckLaw(FindLaw(scheme, law).value(), subject, StandardCases(subject, {.cases = 1}, 1));
    EXPECT_EQ(verdict.outcome, Outcome::pass) << Line(verdict);
    return verdict.note;
  };
  // Width 16: eight pairs, all but the last turn further than in training.
  EXPECT_EQ(note_of(ParseScheme("ntk", {"head_dim=16", "factor=4"}), "leaving_pairs"),
            "pairs 0..6 leave the angles met in training before position s L0, pair 0 by the "
            "factor 4");
  const std::string cached = note_of(ParseScheme("ntk", {"head_dim=16", "factor=4", "form=dynamic",
                                                         "trained_length=4096", "length=16384"}),
                                     "cached_keys");
  EXPECT_TRUE(cached.starts_with("keys cached up to length 4096 no longer match at length 16384"))
      << cached;
}

// The values below: mpmath at 400 bits, width 128, base 10000, w = mpf(b)**(-mpf(2*i)/d).
//   fixed: w * mpf(8)**(-mpf(2*(i+1))/d);  mixed: w * exp(-log(mpf(8)) * (mpf(i+1)/64)**mpf(0.625))
TEST(ntk, FixedAndMixedHaveTheDigitsComputedElsewhere) {
  ExpectFrequencies("ntk", {"form=fixed", "factor=8"},
                    {{0, "0.968030896746147225299027952283"},
                     {1, "0.811481153567830195463514967008"},
                     {31, "0.00408277086082987889262299274184"},
                     {63, "0.0000144347748086182272458310360911"}});
  ExpectFrequencies("ntk", {"form=mixed", "factor=8", "mixed_exponent=0.625"},
                    {{0, "0.856796009515754610528938121868"},
                     {1, "0.682311755572564444012308750481"},
                     {31, "0.00299860038025268237469331181092"},
                     {63, "0.0000144347748086182272458310360911"}});
}

TEST(ntk, MixedReachesFromPositionInterpolationToFixed) {
  const Settings wide = {"head_dim=80", "factor=3", "base=500000"};
  ExpectSameFrequencies(ParseScheme("ntk", wide + Settings{"form=mixed", "mixed_exponent=0"}),
                        ParseScheme("linear", wide));
  ExpectSameFrequencies(ParseScheme("ntk", wide + Settings{"form=mixed", "mixed_exponent=1"}),
                        ParseScheme("ntk", wide + Settings{"form=fixed"}));
}

TEST(ntk, FixedServesASinglePair) {
  ExpectFrequencies("ntk", {"form=fixed", "factor=8", "head_dim=2"}, {{0, "0.125"}});
}

// w * mpf(a)**(-mpf(2*i)/(d-2)), a = 1, 3, 7, 15.
TEST(ntk, QwenStepsWhereTheLengthDoubles) {
  const std::vector<PrintedFrequency> unscaled = {{1, "0.865964323360065352353169183420"},
                                                  {63, "0.000115478198468945817966648288729"}},
                                      by_3 = {{1, "0.850994291341216229943385500836"},
                                              {63, "0.0000384927328229819393222160962431"}},
                                      by_7 = {{1, "0.839625742564311391102412084101"},
                                              {63, "0.0000164968854955636882809497555327"}},
                                      by_15 = {{1, "0.829529594775687536595470978136"},
                                               {63, "0.00000769854656459638786444321924863"}};
  const std::vector<std::pair<int64_t, std::vector<PrintedFrequency>>> steps = {
      {0, unscaled}, {1, unscaled}, {8191, unscaled}, {8192, unscaled}, {8193, by_3},
      {16384, by_3}, {16385, by_7}, {32768, by_7},    {32769, by_15}};
  for (const auto& [length, printed] : steps) {
    ExpectFrequencies("ntk", {"form=qwen", "trained_length=8192", fmt::format("length={}", length)},
                      printed);
  }
}

// w * a**(-mpf(2*i)/(d-2)), a = 1 + mpf(8)*(N-4096)/4096.
TEST(ntk, DynamicSwitchesOneTokenBeyondTheTrainedLength) {
  const auto expect = [](int64_t length, const std::vector<PrintedFrequency>& printed) {
    ExpectFrequencies(
        "ntk",
        {"form=dynamic", "factor=8", "trained_length=4096", fmt::format("length={}", length)},
        printed);
  };
  expect(4096,
         {{1, "0.865964323360065352353169183420"}, {63, "0.000115478198468945817966648288729"}});
  expect(4097,
         {{1, "0.865937503346498934006347653521"}, {63, "0.000115253094768226625339032989921"}});
  expect(8192,
         {{1, "0.836283048111466201925641837304"}, {63, "0.0000128309109409939797740720320810"}});
}

TEST(ntk, FormsTakeTheirOwnParametersOnly) {
  EXPECT_EQ(RefusalOf("ntk", {"form=qwen", "trained_length=4096"}),
            "ntk.length must be given for the qwen form: its frequencies depend on the current "
            "length in tokens");
  EXPECT_EQ(RefusalOf("ntk", {"form=qwen", "trained_length=4096", "length=1", "factor=2"}),
            "ntk.factor must be 1 in the qwen form, which scales by lengths alone, got 2");
  EXPECT_EQ(RefusalOf("ntk", {"form=mixed"}),
            "ntk.mixed_exponent must be given for the mixed form");
  EXPECT_EQ(RefusalOf("ntk", {"form=fixed", "mixed_exponent=1"}),
            "ntk.mixed_exponent belongs to the mixed form, not the fixed form");
  EXPECT_EQ(RefusalOf("ntk", {"form=mixed", "mixed_exponent=2.5"}),
            "ntk.mixed_exponent must be in 0..2, got 2.5");
  EXPECT_EQ(RefusalOf("ntk", {"form=fixed", "length=5"}),
            "ntk.trained_length and length belong to the dynamic and qwen forms, not fixed");
}

}  // namespace
}  // namespace posgauge
