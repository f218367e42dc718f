#include "posgauge/properties/swin.h"

#include <gtest/gtest.h>

#include "attention_values.h"
#include "bias_checks.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

const std::vector<std::string> kTwoByTwo = {"heads=1", "head_dim=1", "window_h=2", "window_w=2"};

NamedInputs Tokens(int64_t count) {
  return {{{"query_positions", Consecutive(count)}, {"key_positions", Consecutive(count)}}};
}

TEST(swin, WorkedNumbersOfTwoByTwo) {
  EXPECT_EQ(ExactEquations(ParseScheme("swin", kTwoByTwo)).Buckets(Tokens(4)),
            (std::vector<int64_t>{4, 3, 1, 0, 5, 4, 2, 1, 7, 6, 4, 3, 8, 7, 5, 4}));
}

// Every offset of an oblong window has one number, and every number an offset: by counting.
TEST(swin, NumbersAreABijectionOnOffsets) {
  for (const auto& [h, w] : std::vector<std::pair<int64_t, int64_t>>{{3, 5}, {7, 7}, {1, 6}}) {
    const ExactEquations exact(ParseScheme(
        "swin", {"heads=1", fmt::format("window_h={}", h), fmt::format("window_w={}", w)}));
    const std::vector<int64_t> numbers = exact.Buckets(Tokens(h * w));
    std::map<int64_t, std::pair<int64_t, int64_t>> offset_of;
    for (int64_t query = 0; query < h * w; ++query) {
      for (int64_t key = 0; key < h * w; ++key) {
        const std::pair offset(query / w - key / w, query % w - key % w);
        const int64_t number = numbers[static_cast<size_t>(query * h * w + key)];
        EXPECT_EQ(offset_of.emplace(number, offset).first->second, offset);
      }
    }
    EXPECT_EQ(std::ssize(offset_of), (2 * h - 1) * (2 * w - 1));
    EXPECT_EQ(offset_of.begin()->first, 0);
    EXPECT_EQ(offset_of.rbegin()->first, (2 * h - 1) * (2 * w - 1) - 1);
    const int64_t centre = numbers[0];
    EXPECT_EQ(offset_of.at(centre), std::pair(int64_t{0}, int64_t{0}));
    EXPECT_EQ(2 * centre, (2 * h - 1) * (2 * w - 1) - 1);
  }
}

TEST(swin, ScoresGatherTheTable) {
  NamedInputs inputs = Tokens(4);
  inputs.tensors["q"] = {{4, 1, 1}, {1, 0, 0, 2}};
  inputs.tensors["k"] = {{4, 1, 1}, {1, 2, 3, 4}};
  inputs.tensors["table"] = {{9, 1}, {0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1}};
  const RoundedValues scores =
      ExactEquations(ParseScheme("swin", kTwoByTwo)).Evaluate(Q::scores, inputs, Dtype::f32);
  EXPECT_EQ(scores.values, (std::vector<double>{1.5, 2.375, 3.125, 4, 0.625, 0.5, 0.25, 0.125,
                                                0.875, 0.75, 0.5, 0.375, 3, 4.875, 6.625, 8.5}));
  EXPECT_EQ(scores.counts.exact, 16);
}

TEST(swin, WhatIsOutsideTheWindowIsRefused) {
  for (const std::string wrong : {"window_h=0", "window_w=257", "window_h=-1", "causal=true"}) {
    EXPECT_NE(Refusal([&] { ParseScheme("swin", {wrong}); }), "") << wrong;
  }
  const ExactEquations exact(ParseScheme("swin", kTwoByTwo));
  for (const double wrong : {4.0, -1.0, 0.5}) {
    NamedInputs inputs = Tokens(2);
    inputs.tensors["key_positions"].values[1] = wrong;
    EXPECT_NE(Refusal([&] { exact.Buckets(inputs); }), "") << wrong;
    const Subject subject(AnyKernel("fast.buckets.swin.i32"), ParseScheme("swin", kTwoByTwo));
    EXPECT_THROW(subject.Evaluate(inputs), Unsupported) << wrong;
  }
}

std::vector<double> AllTokens(int64_t count) { return Consecutive(count).values; }

const std::vector<std::pair<std::vector<std::string>, int64_t>> kWindows = {
    {{"heads=3", "head_dim=5", "window_h=3", "window_w=5"}, 15},
    {{"heads=1", "head_dim=4", "window_h=6", "window_w=1", "scale=one"}, 6},
    {{"heads=2", "head_dim=16"}, 49}};

TEST(swin, GoodKernelsKeepTheirContractsAtEveryToken) {
  for (const auto& [settings, tokens] : kWindows) {
    // Numbers of both libraries; biases, scores and attention in four dtypes.
    ExpectContractsKept(ParseScheme("swin", settings), 26U, AllTokens(tokens));
  }
}

TEST(swin, BiasesAreAdequate) {
  for (const auto& [settings, tokens] : kWindows) {
    ExpectAdequateBiases(ParseScheme("swin", settings), {"f64", "f32", "bf16", "f16"},
                         AllTokens(tokens));
  }
}

TEST(swin, BiasesKeepTheirContractsOnEveryTarget) {
  for (const auto& [settings, tokens] : kWindows) {
    ExpectContractsKeptOnEveryTarget(ParseScheme("swin", settings), AllTokens(tokens));
  }
}

TEST(swin, FaultyKernelsBreakTheirContracts) {
  ExpectFaultsBreakContracts(
      ParseScheme("swin", kWindows[0].first),
      {"axes_exchanged", "wrong_side", "offsets_reversed", "offsets_absolute", "score_scale"},
      AllTokens(15));
}

TEST(swin, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(swin::AnyParams())); }

TEST(swin, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*swin::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
