#include "posgauge/properties/mixed.h"

#include <gtest/gtest.h>

#include "attention_checks.h"
#include "attention_values.h"
#include "posgauge/fast/mixed.h"
#include "posgauge/reference/exact_rotation.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

// One head on 3 rows of 4 patches, unscaled.
Scheme Patches(const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = {"heads=1", "head_dim=4", "scale=one", "window_h=3",
                                       "window_w=4"};
  settings.insert(settings.end(), more.begin(), more.end());
  return ParseScheme("mixed", settings);
}

const std::vector<double> kQ = {1, 0.5, 0.8, 0.3}, kK = {0.2, -1, 0.4, 0.6};

NamedInputs OnePair(double query, double key, const std::vector<double>& of_x = {0.5, 0.125},
                    const std::vector<double>& of_y = {0.25, -1}) {
  const auto pairs = static_cast<int64_t>(of_x.size());
  return {{{"query_positions", List({query})},
           {"key_positions", List({key})},
           {"q", {{1, 1, 4}, kQ}},
           {"k", {{1, 1, 4}, kK}},
           {"x_frequency", {{1, pairs}, of_x}},
           {"y_frequency", {{1, pairs}, of_y}}}};
}

double ScoreOf(const Scheme& scheme, const NamedInputs& inputs) {
  return ExactEquations(scheme).Evaluate(Q::scores, inputs, Dtype::f64).values[0];
}

// A column to the left and a row down: by -1/2 + 1/4 and -1/8 - 1. Thirty digits by mpmath, with
// the binary64 numbers nearest to 0.8, 0.3, ...
TEST(mixed, WorkedScoreOfAPatchLeftBelow) {
  for (const auto& [query, key] : {std::pair(6, 9), std::pair(2, 5)}) {
    ExpectPrinted(Patches(), Q::scores, OnePair(query, key),
                  {"-0.0224134894181612859052254712573"});
  }
  ExpectPrinted(Patches({"pairing=half"}), Q::scores, OnePair(6, 9),
                {"0.966595480594504732612529823776"});
}

// q = k = (1, 0): the cosine of x fx + y fy, which a kernel forms of both.
TEST(mixed, APairCountsBothAxesAtOnce) {
  NamedInputs inputs = OnePair(0, 11, {0.3, 1e-9}, {0.7, 0});
  inputs.tensors["q"].values = inputs.tensors["k"].values = {1, 0, 0, 0};
  ExpectPrinted(Patches(), Q::scores, inputs, {"-0.666276021279824102248979995592"});
}

TEST(mixed, AtItsOwnPatchAKeyIsThePlainProductExactly) {
  NamedInputs inputs = OnePair(11, 11);
  inputs.tensors["q"].values = {1, 0.5, 2, 0.25};
  inputs.tensors["k"].values = {0.25, -1, 0.5, 4};
  const RoundedValues score = ExactEquations(Patches()).Evaluate(Q::scores, inputs, Dtype::f16);
  EXPECT_EQ(score.values[0], 1.75);
  EXPECT_EQ(score.proofs[0], Proof::exact);
  // Along a diagonal the axes may turn a pair back, exactly.
  inputs.tensors["query_positions"].values = {0};
  inputs.tensors["key_positions"].values = {10};
  inputs.tensors["x_frequency"].values = {0.1, 3};
  inputs.tensors["y_frequency"].values = {-0.1, -3};
  const RoundedValues back = ExactEquations(Patches()).Evaluate(Q::scores, inputs, Dtype::f16);
  EXPECT_EQ(back.values[0], 1.75);
  EXPECT_EQ(back.proofs[0], Proof::exact);
}

// rope-vit's axial scheme: one block counts columns, the other rows, with the same frequencies.
TEST(mixed, FrequenciesOnOneAxisEachAreAxial) {
  const ExactRotation axial({.head_dim = 8, .rotary_dim = 8, .pairing = Pairing::interleaved},
                            std::vector<DoubleDouble>{{1, 0}, {0.1, 0}, {1, 0}, {0.1, 0}}, {1, 0},
                            {.count = 2, .of_pair = {0, 0, 1, 1}});
  const Scheme scheme = Patches({"head_dim=8"});
  const std::vector<double> q = {1, 0.5, -2, 3, 0.25, -1, 1.5, 0.75},
                            k = {2, -1, 0.5, 1, 3, 1, -1, 2};
  for (int64_t query = 0; query < 12; ++query) {
    for (int64_t key = 0; key < 12; ++key) {
      NamedInputs inputs = OnePair(static_cast<double>(query), static_cast<double>(key),
                                   {1, 0.1, 0, 0}, {0, 0, 1, 0.1});
      inputs.tensors["q"] = {{1, 1, 8}, q};
      inputs.tensors["k"] = {{1, 1, 8}, k};
      const std::vector<double> at = {static_cast<double>(query % 4),
                                      static_cast<double>(query / 4)},
                                to = {static_cast<double>(key % 4), static_cast<double>(key / 4)};
      EXPECT_EQ(ScoreOf(scheme, inputs), axial.Scores(at, to, q, k, 1, 1, Dtype::f64).values[0])
          << query << " " << key;
    }
  }
}

// Heads differ by their frequencies alone.
TEST(mixed, EveryHeadHasFrequenciesOfItsOwn) {
  const Scheme two = Patches({"heads=2"});
  NamedInputs inputs = OnePair(1, 10);
  inputs.tensors["q"] = {{1, 2, 4}, {1, 0.5, 0.8, 0.3, 1, 0.5, 0.8, 0.3}};
  inputs.tensors["k"] = {{1, 2, 4}, {0.2, -1, 0.4, 0.6, 0.2, -1, 0.4, 0.6}};
  inputs.tensors["x_frequency"] = {{2, 2}, {0.5, 0.125, 2, 0.75}};
  inputs.tensors["y_frequency"] = {{2, 2}, {0.25, -1, 0.5, 3}};
  const RoundedValues both = ExactEquations(two).Evaluate(Q::scores, inputs, Dtype::f64);
  EXPECT_EQ(both.values[0], ScoreOf(Patches(), OnePair(1, 10)));
  EXPECT_EQ(both.values[1], ScoreOf(Patches(), OnePair(1, 10, {2, 0.75}, {0.5, 3})));
  EXPECT_NE(both.values[0], both.values[1]);
}

TEST(mixed, ParametersOutsideTheirDomainAreRefused) {
  for (const std::string wrong :
       {"window_h=0", "window_w=257", "causal=true", "rotary_dim=0", "rotary_dim=3", "rotary_dim=6",
        "pairing=half_per_axis", "pairing=thirds", "base=100"}) {
    EXPECT_NE(Refusal([&] { Patches({wrong}); }), "") << wrong;
  }
  EXPECT_EQ(Refusal([&] { Patches({"head_dim=5"}); }),
            "mixed.rotary_dim must be even and in 0..5 (head_dim), got 5");
  const ExactEquations exact(Patches());
  for (const double wrong : {12.0, -1.0, 0.5}) {
    EXPECT_NE(Refusal([&] { exact.Evaluate(Q::scores, OnePair(wrong, 0), Dtype::f64); }), "");
    const Subject subject(AnyKernel("fast.scores.mixed.f64"), Patches());
    EXPECT_THROW(subject.Evaluate(OnePair(wrong, 0)), Unsupported) << wrong;
  }
  EXPECT_NE(Refusal([&] {
              exact.Evaluate(Q::scores, OnePair(0, 1, {0x1p21, 0}, {0, 0}), Dtype::f64);
            }),
            "");
}

const std::vector<double> kPositions = {0, 1, 3, 4, 7, 10, 11};

TEST(mixed, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"heads=4", "head_dim=16", "window_h=3", "window_w=4"},
           {"heads=3", "head_dim=5", "rotary_dim=4", "pairing=half", "window_h=1", "window_w=12"},
           {"heads=2", "head_dim=40", "rotary_dim=34", "window_h=12", "window_w=1"},
           {"heads=2", "head_dim=4", "scale=one"}}) {
    ExpectContractsKept(ParseScheme("mixed", settings), kPositions);
  }
}

TEST(mixed, FaultyKernelsBreakTheirContracts) {
  const Scheme scheme = ParseScheme("mixed", {"heads=4", "head_dim=8", "window_h=3", "window_w=4"});
  for (const char* fault :
       {"axes_exchanged", "rows_ignored", "rows_reversed", "keys_still", "pairing_swapped"}) {
    ExpectContractBroken(scheme, fault, "scores", kPositions);
    ExpectContractBroken(scheme, fault, "attention", kPositions);
  }
}

TEST(mixed, ScoresKeepTheirContractsOnEveryTarget) {
  const Scheme scheme = ParseScheme("mixed", {"heads=2", "head_dim=40", "rotary_dim=34"});
  for (const std::string& target : fast::Targets()) {
    fast::UseTarget(target);
    for (const char* dtype : {"f64", "f32", "bf16"}) {
      const KernelInfo info = AnyKernel(fmt::format("fast.scores.mixed.{}", dtype));
      const Verdict verdict =
          CheckKernels({Subject(info, scheme)}, {.positions = kPositions})[0].keeps_contract;
      EXPECT_EQ(verdict.outcome, Outcome::pass) << target << " " << Line(verdict);
    }
  }
  fast::UseTarget("");
}

TEST(mixed, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(mixed::AnyParams())); }

TEST(mixed, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*mixed::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
