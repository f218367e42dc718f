#include "posgauge/properties/rerope.h"

#include <gtest/gtest.h>

#include "attention_checks.h"
#include "attention_values.h"
#include "posgauge/reference/rerope.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

Scheme Rerope(const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = {"heads=1", "head_dim=4", "scale=one", "window=4"};
  settings.insert(settings.end(), more.begin(), more.end());
  return ParseScheme("rerope", settings);
}

// One query (1, 2, 1/2, -1) and keys (1, -1, 2, 1/2).
NamedInputs At(double query, const std::vector<double>& keys) {
  NamedInputs inputs{{{"query_positions", List({query})},
                      {"key_positions", List(keys)},
                      {"q", {{1, 1, 4}, {1, 2, 0.5, -1}}},
                      {"k", {{static_cast<int64_t>(keys.size()), 1, 4}, {}}}}};
  for (size_t i = 0; i < keys.size(); ++i) {
    for (const double channel : {1.0, -1.0, 2.0, 0.5}) {
      inputs.tensors["k"].values.push_back(channel);
    }
  }
  return inputs;
}

// Thirty digits by mpmath: of offset 2, and of offset 4 three times; the window ends at 6.
TEST(rerope, WorkedScoresAtAndBeyondTheWindow) {
  ExpectPrinted(Rerope(), Q::scores, At(10, {8, 6, 5, 1}),
                {"-1.96784754952220667693284563723", "-4.94049125134156105712372190329",
                 "-4.94049125134156105712372190329", "-4.94049125134156105712372190329"});
}

// Offset -7 counts as -4: the sign is kept.
TEST(rerope, KeysAfterTheQueryCountAsTheWindowBeforeIt) {
  ExpectPrinted(Rerope({"causal=false"}), Q::scores, At(2, {9}),
                {"-2.67008376541777630300580461975"});
}

// ln(p + 1)/ln 8 of p = 6, 7, 15 and 9: below 1, 1, 4/3 exactly, and no fraction.
TEST(rerope, LateQueriesAreSharpened) {
  for (const auto& [position, score, own] :
       {std::tuple(6, "-1.96784754952220667693284563723", "-0.5"),
        std::tuple(7, "-1.96784754952220667693284563723", "-0.5"),
        std::tuple(15, "-2.62379673269627556924379418297", "-0.666666666666666666666666666667"),
        std::tuple(9, "-2.17901602040435615292416055859", "-0.553654682481227057978386571582")}) {
    ExpectPrinted(Rerope({"trained_length=8"}), Q::scores,
                  At(position, {static_cast<double>(position - 2), static_cast<double>(position)}),
                  {score, own});
  }
}

// 64 = 4^3: three times the plain product -1/2, a tie of no dtype but exact in all.
TEST(rerope, ARationalLogarithmIsExact) {
  const RoundedValues score =
      ExactEquations(Rerope({"trained_length=4"})).Evaluate(Q::scores, At(63, {63}), Dtype::f8e5m2);
  EXPECT_EQ(score.values[0], -1.5);
  EXPECT_EQ(score.proofs[0], Proof::exact);
}

TEST(rerope, LogarithmsAreFractionsOfPowersOfOneNumber) {
  EXPECT_EQ(RationalLogarithm(64, 4), (std::array<int64_t, 2>{3, 1}));
  EXPECT_EQ(RationalLogarithm(8, 4), (std::array<int64_t, 2>{3, 2}));
  EXPECT_EQ(RationalLogarithm(216, 36), (std::array<int64_t, 2>{3, 2}));
  EXPECT_EQ(RationalLogarithm(1, 5), (std::array<int64_t, 2>{0, 1}));
  EXPECT_EQ(RationalLogarithm(7, 7), (std::array<int64_t, 2>{1, 1}));
  EXPECT_EQ(RationalLogarithm(12, 6), std::nullopt);
  EXPECT_EQ(RationalLogarithm(72, 12), std::nullopt);
  EXPECT_EQ(RationalLogarithm(9, 8), std::nullopt);
}

TEST(rerope, ParametersAndPositionsOutsideTheirDomainAreRefused) {
  for (const std::string wrong :
       {"window=0", "window=-1", "trained_length=1", "rotary_dim=3", "rotary_dim=6", "base=0"}) {
    EXPECT_NE(Refusal([&] { Rerope({wrong}); }), "") << wrong;
  }
  const auto refusal = [](const Scheme& scheme, const NamedInputs& inputs) {
    return Refusal([&] { ExactEquations(scheme).CheckInputs(Q::scores, inputs); });
  };
  EXPECT_EQ(refusal(Rerope(), At(2.5, {1})), "positions must be whole numbers below 2^53, got 2.5");
  EXPECT_EQ(refusal(Rerope(), At(-3, {-4})), "");
  EXPECT_EQ(refusal(Rerope({"trained_length=8"}), At(-3, {-4})),
            "query positions must be at least 0 with a trained_length, got -3");
}

const std::vector<double> kPositions = {0, 1, 2, 17, 255, 257, 4095, 131071};

TEST(rerope, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"heads=4", "head_dim=16", "window=5"},
           {"heads=3", "head_dim=5", "rotary_dim=4", "pairing=interleaved", "window=100",
            "trained_length=128"},
           {"heads=2", "head_dim=6", "causal=false", "window=3", "base=100", "trained_length=2"},
           {"heads=2", "head_dim=4", "scale=one"}}) {
    ExpectContractsKept(ParseScheme("rerope", settings), kPositions);
  }
}

TEST(rerope, FaultyKernelsBreakTheirContracts) {
  const Scheme faulty =
      ParseScheme("rerope", {"heads=4", "head_dim=8", "window=5", "trained_length=64"});
  for (const char* fault :
       {"window_ignored", "window_short", "temperature_ignored", "pairing_swapped"}) {
    ExpectContractBroken(faulty, fault, "scores", kPositions);
    ExpectContractBroken(faulty, fault, "attention", kPositions);
  }
}

TEST(rerope, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(rerope::AnyParams())); }

TEST(rerope, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*rerope::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
