#include "posgauge/properties/swin2.h"

#include <gtest/gtest.h>

#include "attention_values.h"
#include "bias_checks.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

// One unit that shows the column's coordinate c, never switched off: 16 sigmoid((c + 4)/4).
NamedInputs Shown(double query, const std::vector<double>& keys) {
  return {{{"query_positions", List({query})},
           {"key_positions", List(keys)},
           {"w1", {{1, 2}, {0, 1}}},
           {"b1", List({4})},
           {"w2", {{1, 1}, {0.25}}},
           {"tau", List({0})}}};
}

const std::vector<std::string> kOneUnit = {"heads=1", "head_dim=2", "mlp_width=1"};

Scheme With(const std::vector<std::string>& more) {
  std::vector<std::string> settings = kOneUnit;
  settings.insert(settings.end(), more.begin(), more.end());
  return ParseScheme("swin2", settings);
}

// Thirty digits by mpmath, of 16/(1 + exp(-(c + 4)/4)) with
//   c = 0.366511891183638140627363018735 at 1 column of 8, 0.572069011333136254950726308977 at 2,
//       0.715613796109757033788051427315 at 3, 1.0566416671474374543024926293 at 7,
//       0.77397603162912078262343980983 at 3 of 7, and, over 8, 1.39377658823818724861267819169 at
//       15.
TEST(swin2, WorkedCoordinates) {
  ExpectPrinted(With({}), Q::bias, Shown(7, {6, 5, 4, 0, 7}),
                {"11.9790104883620430631819983758", "12.1317308714631988838106371102",
                 "12.2360093392372462178918477505", "12.4758635022653817018997025257",
                 "11.6969372580800780680185478691"});
  ExpectPrinted(With({}), Q::bias, Shown(0, {1, 7}),
                {"11.4026706188898503000775236788", "10.8173666963965494365215980059"});
  ExpectPrinted(With({"window_w=7"}), Q::bias, Shown(3, {0}), {"12.2778461162742221386342917239"});
  ExpectPrinted(With({"window_h=16", "window_w=16", "pretrained_h=8", "pretrained_w=8"}), Q::bias,
                Shown(15, {0}), {"12.7020023820798342073858212258"});
}

// 24/25 times exp of the binary64 number nearest to ln 10, plus 16 sigmoid of that nearest to 0.3.
TEST(swin2, WorkedScore) {
  NamedInputs inputs = Shown(0, {0});
  inputs.tensors["w1"].values = {0, 0};
  inputs.tensors["b1"] = List({1});
  inputs.tensors["w2"].values = {0.3};
  inputs.tensors["tau"] = List({2.302585092994046});
  inputs.tensors["q"] = {{1, 1, 2}, {3, 4}};
  inputs.tensors["k"] = {{1, 1, 2}, {4, 3}};
  ExpectPrinted(With({}), Q::scores, inputs, {"18.7910802689865458349345952987"});
}

RoundedValues Scores(const std::vector<double>& q, const std::vector<double>& k, double tau,
                     Dtype dtype) {
  NamedInputs inputs = Shown(0, {0});
  inputs.tensors["w2"].values = {0};
  inputs.tensors["tau"] = List({tau});
  inputs.tensors["q"] = {{1, 1, 2}, q};
  inputs.tensors["k"] = {{1, 1, 2}, k};
  return ExactEquations(With({})).Evaluate(Q::scores, inputs, dtype);
}

TEST(swin2, RationalCosinesAreExact) {
  const auto expect = [](const std::vector<double>& q, const std::vector<double>& k, double tau,
                         double score) {
    const RoundedValues scores = Scores(q, k, tau, Dtype::f64);
    EXPECT_EQ(scores.values[0], score);
    EXPECT_EQ(scores.proofs[0], Proof::exact);
  };
  expect({1, 1}, {3, 3}, 0, 9);    // norms sqrt 2 and sqrt 18
  expect({1, 2}, {2, 4}, 5, 108);  // beyond ln 100
  expect({1, 2}, {-1, -2}, 5, -92);
  expect({1, 2}, {2, -1}, 5, 8);
  expect({0, 0}, {2, -1}, 1, 8);
  // A tie of E4M3, where an enclosure would not decide: 108 is halfway between 104 and 112.
  const RoundedValues tie = Scores({1, 1}, {1, 1}, 5, Dtype::f8e4m3);
  EXPECT_EQ(tie.values[0], 112);
  EXPECT_EQ(tie.proofs[0], Proof::proven);
}

// ln 100 is between two neighbours: the exponential of the lower one is below 100.
TEST(swin2, TheScaleIsClampedAtLn100) {
  const double above = 0x1.26bb1bbb55516p+2, below = 0x1.26bb1bbb55515p+2;
  EXPECT_EQ(Scores({1, 0}, {1, 0}, above, Dtype::f64).proofs[0], Proof::exact);
  const RoundedValues under = Scores({1, 0}, {1, 0}, below, Dtype::f64);
  EXPECT_EQ(under.proofs[0], Proof::proven);
  EXPECT_LT(under.values[0], 108);
}

// 2^-50/1e-12: a norm below 1e-12 counts as that; by mpmath.
TEST(swin2, ShortVectorsAreDividedBy1e_12) {
  NamedInputs inputs = Shown(0, {0});
  inputs.tensors["w2"].values = {0};
  inputs.tensors["q"] = {{1, 1, 2}, {1, 0}};
  inputs.tensors["k"] = {{1, 1, 2}, {0x1p-50, 0}};
  ExpectPrinted(With({}), Q::scores, inputs, {"8.00088817841970012523233890533"});
}

TEST(swin2, OneTokenIsRefusedOrZero) {
  EXPECT_NE(Refusal([] { With({"window_h=1"}); }), "");
  EXPECT_NE(Refusal([] { With({"pretrained_w=1"}); }), "");
  NamedInputs inputs = Shown(1, {0, 1, 3});
  const auto biases = [&](const Scheme& scheme) {
    return ExactEquations(scheme).Evaluate(Q::bias, inputs, Dtype::f64).values;
  };
  const Scheme one_row = With({"window_h=1", "window_w=4", "one_token=zero"});
  const std::vector<double> without = biases(one_row);
  inputs.tensors["w1"].values = {1000, 1};
  EXPECT_EQ(biases(one_row), without);
}

TEST(swin2, WhatMeansNothingIsRefused) {
  for (const std::string wrong :
       {"window_h=0", "window_w=257", "pretrained_h=0", "pretrained_w=257", "mlp_width=0",
        "causal=true", "scale=inverse_sqrt", "one_token=one"}) {
    EXPECT_NE(Refusal([&] { ParseScheme("swin2", {wrong}); }), "") << wrong;
  }
  const ExactEquations exact(With({}));
  EXPECT_NE(Refusal([&] { exact.CheckInputs(Q::bias, Shown(64, {0})); }), "");
}

std::vector<double> AllTokens(int64_t count) { return Consecutive(count).values; }

const std::vector<std::pair<std::vector<std::string>, int64_t>> kWindows = {
    {{"heads=3", "head_dim=5", "window_h=3", "window_w=5", "mlp_width=4"}, 15},
    {{"heads=2", "head_dim=16", "window_h=4", "window_w=4", "pretrained_h=12", "pretrained_w=3",
      "mlp_width=7"},
     16},
    {{"heads=1", "head_dim=1", "window_h=6", "window_w=1", "one_token=zero", "mlp_width=1"}, 6}};

TEST(swin2, GoodKernelsKeepTheirContractsAtEveryToken) {
  for (const auto& [settings, tokens] : kWindows) {
    // Biases, scores and attention in four dtypes of both libraries.
    ExpectContractsKept(ParseScheme("swin2", settings), 24U, AllTokens(tokens));
  }
}

TEST(swin2, BiasesAreAdequate) {
  for (const auto& [settings, tokens] : kWindows) {
    ExpectAdequateBiases(ParseScheme("swin2", settings), {"f32", "bf16", "f16"}, AllTokens(tokens));
  }
}

TEST(swin2, BiasesKeepTheirContractsOnEveryTarget) {
  for (const auto& [settings, tokens] : kWindows) {
    ExpectContractsKeptOnEveryTarget(ParseScheme("swin2", settings), AllTokens(tokens));
  }
}

TEST(swin2, FaultyKernelsBreakTheirContracts) {
  ExpectFaultsBreakContracts(
      ParseScheme("swin2", {"heads=3", "head_dim=4", "window_h=3", "window_w=5", "mlp_width=4",
                            "pretrained_h=6", "pretrained_w=9"}),
      {"sigmoid_missing", "coordinate_sign", "coordinate_linear", "network_wrong_side",
       "pretrained_whole", "pretrained_ignored", "norms_missing", "tau_unclamped"},
      AllTokens(15));
}

TEST(swin2, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(swin2::AnyParams())); }

TEST(swin2, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*swin2::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
