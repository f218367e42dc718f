#include "posgauge/properties/none.h"

#include <gtest/gtest.h>

#include "attention_checks.h"
#include "attention_values.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

// One head of one channel, q = k = v = x.
NamedInputs Equal(const std::vector<double>& x) {
  const auto rows = static_cast<int64_t>(x.size());
  const ExactTensor tensor{{rows, 1, 1}, x};
  return {{{"query_positions", Consecutive(rows)},
           {"key_positions", Consecutive(rows)},
           {"q", tensor},
           {"k", tensor},
           {"v", tensor}}};
}

Scheme None(const std::string& causal) {
  return ParseScheme("none", {"heads=1", "head_dim=1", "causal=" + causal});
}

// Thirty digits by mpmath, from the definition of softmax.
TEST(none, WithoutMaskAPermutationOfTokensPermutesTheOutput) {
  ExpectPrinted(None("false"), Q::attention, Equal({0, 1, 2}),
                {"1", "1.57521038260444143153099617869", "1.85093709222086810482164624078"});
  ExpectPrinted(None("false"), Q::attention, Equal({2, 0, 1}),
                {"1.85093709222086810482164624078", "1", "1.57521038260444143153099617869"});
}

TEST(none, TheCausalMaskAloneTellsPositionsApart) {
  ExpectPrinted(None("true"), Q::attention, Equal({0, 1, 2}),
                {"0", "0.731058578630004879251159241822", "1.85093709222086810482164624078"});
  ExpectPrinted(None("true"), Q::attention, Equal({2, 0, 1}),
                {"2", "1", "1.57521038260444143153099617869"});
}

TEST(none, HasScoresAndAttentionOnly) {
  const ExactEquations exact(None("true"));
  for (const Q quantity : {Q::slopes, Q::buckets, Q::bias}) {
    EXPECT_FALSE(exact.Yields(quantity));
    EXPECT_EQ(Refusal([&] { exact.CheckInputs(quantity, {}); }),
              "none has no " + std::string(VariantName(quantity)));
  }
}

// 3 (scale ln(floor((p + 1)/floor_scale) + 1) + 1) by mpmath: exactly 3 up to position 8190, then
// with ln 2 and ln 3.
TEST(none, ATemperatureSharpensLateQueries) {
  const auto scheme = [](const std::string& floor_scale, const std::string& scale) {
    return ParseScheme("none", {"heads=1", "head_dim=1", "temperature_floor_scale=" + floor_scale,
                                "temperature_scale=" + scale});
  };
  const NamedInputs inputs{{{"query_positions", List({8190, 8191, 16383})},
                            {"key_positions", List({0})},
                            {"q", {{3, 1, 1}, {1.5, 1.5, 1.5}}},
                            {"k", {{1, 1, 1}, {2}}}}};
  ExpectPrinted(scheme("8192", "0.1"), Q::scores, inputs,
                {"3", "3.20794415416798360436838902611", "3.32958368660043292571414344131"});
  NamedInputs first = Equal({1.5});
  first.tensors["k"].values = {2};
  first.tensors.erase("v");
  ExpectPrinted(scheme("1", "0.25"), Q::scores, first, {"3.51986038541995898206292409109"});
}

TEST(none, ATemperatureHasBothParametersAndPositionsFromZero) {
  EXPECT_EQ(Refusal([&] { ParseScheme("none", {"temperature_scale=0.1"}); }),
            "temperature_floor_scale and temperature_scale must be given together, "
            "temperature_floor_scale is missing");
  EXPECT_EQ(Refusal([&] { ParseScheme("none", {"temperature_floor_scale=8192"}); }),
            "temperature_floor_scale and temperature_scale must be given together, "
            "temperature_scale is missing");
  for (const std::string wrong : {"temperature_floor_scale=0", "temperature_scale=-1"}) {
    EXPECT_NE(
        Refusal([&] {
          ParseScheme("none", {"temperature_floor_scale=8192", "temperature_scale=0.1", wrong});
        }),
        "")
        << wrong;
  }
  const ExactEquations exact(
      ParseScheme("none", {"heads=1", "head_dim=1", "causal=false", "temperature_floor_scale=8192",
                           "temperature_scale=0.1"}));
  NamedInputs inputs = Equal({1, 2});
  inputs.tensors["query_positions"] = List({-1, 0});
  EXPECT_NE(Refusal([&] { exact.CheckInputs(Q::attention, inputs); }), "");
}

const std::vector<double> kPositions = {0, 1, 2, 17, 255, 257, 4095, 131071};

TEST(none, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"heads=4", "head_dim=8"},
           {"heads=3", "head_dim=5", "causal=false", "scale=one"},
           {"heads=2", "head_dim=64"},
           {"heads=2", "head_dim=8", "temperature_floor_scale=64", "temperature_scale=0.1"}}) {
    ExpectContractsKept(ParseScheme("none", settings), kPositions);
  }
}

TEST(none, FaultyKernelsBreakTheirContracts) {
  const Scheme faulty = ParseScheme("none", {"heads=4", "head_dim=8"});
  ExpectContractBroken(faulty, "bias_left", "scores", kPositions);
  ExpectContractBroken(faulty, "bias_left", "attention", kPositions);
  ExpectContractBroken(faulty, "no_mask", "scores", kPositions);
  ExpectContractBroken(faulty, "no_mask", "attention", kPositions);
  ExpectContractBroken(faulty, "head_leak", "scores", kPositions);
  const Scheme sharp = ParseScheme(
      "none", {"heads=4", "head_dim=8", "temperature_floor_scale=8", "temperature_scale=0.5"});
  ExpectContractBroken(sharp, "temperature_ignored", "scores", kPositions);
  ExpectContractBroken(sharp, "temperature_ignored", "attention", kPositions);
}

TEST(none, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(none::AnyParams())); }

TEST(none, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*none::AnyParams()).Validate(); }));
}

std::vector<double> Answer(const std::string& kernel, const Scheme& scheme,
                           const NamedInputs& inputs) {
  return Subject(AnyKernel(kernel), scheme).Evaluate(inputs).Values();
}

// Keys at the query's own distance have the bias 0 of alibi.
TEST(none, AKernelWithABiasOfZeroYieldsTheSameBits) {
  const std::vector<std::string> settings = {"heads=2", "head_dim=3"};
  const Scheme none = ParseScheme("none", settings), alibi = ParseScheme("alibi", settings);
  NamedInputs inputs{{{"query_positions", List({7})},
                      {"key_positions", List({7, 7, 7})},
                      {"q", {{1, 2, 3}, {1, 0.5, -0.25, 3, 1, 2}}},
                      {"k", {{3, 2, 3}, {}}}}};
  for (int i = 0; i < 18; ++i) inputs.tensors["k"].values.push_back((i * 7 % 11 - 5) / 4.0);
  for (const std::string dtype : {"f64", "f32", "bf16", "f16"}) {
    inputs.tensors.erase("v");
    EXPECT_EQ(Answer("fast.scores.none." + dtype, none, inputs),
              Answer("fast.scores.alibi." + dtype, alibi, inputs));
    inputs.tensors["v"] = inputs["k"];
    EXPECT_EQ(Answer("fast.attention.none." + dtype, none, inputs),
              Answer("fast.attention.alibi." + dtype, alibi, inputs));
  }
}

// A NaN that a query sees reaches its output; the exponential of one is not 0.
TEST(none, NanOfAVisibleKeySpreads) {
  const Scheme scheme = None("true");
  for (const std::string dtype : {"f64", "f32", "bf16", "f16"}) {
    NamedInputs inputs = Equal({1, 2, 3});
    inputs.tensors["k"].values[1] = std::nan("");
    const std::vector<double> out = Answer("fast.attention.none." + dtype, scheme, inputs);
    EXPECT_EQ(out[0], 1) << dtype;
    EXPECT_TRUE(std::isnan(out[1]) && std::isnan(out[2])) << dtype;
  }
}

// Without a position the last of five tokens sees the same set in any order, and nobody else does.
TEST(none, OnlyTheLastRowOutlivesAPermutation) {
  const Scheme scheme = None("true");
  const auto out = [&](const std::vector<double>& x) {
    return ExactEquations(scheme).Evaluate(Q::attention, Equal(x), Dtype::f64).values;
  };
  const std::vector<double> before = out({0, 1, 2, -1, 3}), after = out({2, -1, 0, 1, 3});
  EXPECT_EQ(after[4], before[4]);
  const std::vector<size_t> came_from = {2, 3, 0, 1};
  for (size_t i = 0; i < 4; ++i) EXPECT_NE(after[i], before[came_from[i]]) << i;
}

}  // namespace
}  // namespace posgauge
