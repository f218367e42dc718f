#include "posgauge/properties/shaw.h"

#include <gtest/gtest.h>

#include "attention_checks.h"
#include "attention_values.h"
#include "posgauge/fast/simd.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

const std::vector<std::string> kOneHead = {"heads=1", "head_dim=2", "clip=1", "causal=false"};

NamedInputs Worked(Q quantity) {
  NamedInputs inputs{{{"query_positions", Consecutive(3)},
                      {"key_positions", Consecutive(3)},
                      {"q", {{3, 1, 2}, {1, 0, 0, 1, 1, 1}}},
                      {"k", {{3, 1, 2}, {1, 2, 0, 1, -1, 1}}},
                      {"key_table", {{1, 3, 2}, {0.5, 0, 0, 0.25, -1, 0.5}}},
                      {"value_table", {{1, 3, 2}, {1, 1, 0, 0, 0.5, -0.5}}}}};
  if (quantity == Q::attention) inputs.tensors["v"] = {{3, 1, 2}, {1, 0, 0, 2, 3, 1}};
  return inputs;
}

// Thirty digits by mpmath.
TEST(shaw, WorkedScoresAndOutputs) {
  const Scheme scheme = ParseScheme("shaw", kOneHead);
  ExpectPrinted(scheme, Q::scores, Worked(Q::scores),
                {"0.707106781186547524400844362105", "-0.707106781186547524400844362105",
                 "-1.41421356237309504880168872421", "1.41421356237309504880168872421",
                 "0.883883476483184405501055452631", "1.06066017177982128660126654316",
                 "2.47487373415291633540295526737", "1.06066017177982128660126654316",
                 "0.176776695296636881100211090526"});
  ExpectPrinted(scheme, Q::attention, Worked(Q::attention),
                {"1.13068676957496380242197179138", "0.311529601479160105026563477926",
                 "1.94606709440587532090865937253", "1.10360453262574847011604330221",
                 "1.89381477192839635000834313876", "1.36189756987896557802769948561"});
}

std::vector<double> Values(std::vector<std::string> more, Q quantity, const NamedInputs& inputs) {
  std::vector<std::string> settings = kOneHead;
  settings.insert(settings.end(), more.begin(), more.end());
  return ExactEquations(ParseScheme("shaw", settings))
      .Evaluate(quantity, inputs, Dtype::f64)
      .values;
}

TEST(shaw, TheOtherIndexIsTheReversedTable) {
  NamedInputs reversed = Worked(Q::attention);
  for (const std::string name : {"key_table", "value_table"}) {
    const std::vector<double> v = reversed[name].values;
    reversed.tensors[name].values = {v[4], v[5], v[2], v[3], v[0], v[1]};
  }
  EXPECT_EQ(Values({"index=query_minus_key"}, Q::attention, reversed),
            Values({}, Q::attention, Worked(Q::attention)));
}

TEST(shaw, BeyondTheTableIsItsLastRowOrNothing) {
  // Row 0 of the scores, whose last key is two tokens on: 1/sqrt(2) (k + a) of k = (-1, 1).
  EXPECT_EQ(Values({}, Q::scores, Worked(Q::scores))[2], -0x1.6a09e667f3bcdp+0);
  EXPECT_EQ(Values({"outside=zero"}, Q::scores, Worked(Q::scores))[2], -0x1.6a09e667f3bcdp-1);
}

// Adding c to every row of the table of keys moves row i of the scores by <q_i, c>/sqrt(head_dim);
// adding it to that of values moves the output by c.
TEST(shaw, AConstantRowShiftsScoresByItsScaledProduct) {
  std::vector<double> q = {1, 2, -1, 3}, k = {2, 1, 1, 0, 1, 1, 4, -2};
  ExactTensor table{{1, 3, 4}, {1, 0, 2, 0, 0, 1, 0, 1, 3, 0, 0, 2}};
  const auto scores = [&] {
    return ExactEquations(ParseScheme("shaw", {"heads=1", "head_dim=4", "clip=1", "values=false"}))
        .Evaluate(Q::scores,
                  {{{"query_positions", List({1})},
                    {"key_positions", List({0, 1})},
                    {"q", {{1, 1, 4}, q}},
                    {"k", {{2, 1, 4}, k}},
                    {"key_table", table}}},
                  Dtype::f64)
        .values;
  };
  const std::vector<double> before = scores();
  const std::vector<double> c = {1, -1, 2, 0.5};  // <q, c> = -1.5
  for (size_t i = 0; i < table.values.size(); ++i) table.values[i] += c[i % 4];
  const std::vector<double> after = scores();
  for (size_t j = 0; j < 2; ++j) EXPECT_EQ(after[j], before[j] - 1.5 / 2);
}

TEST(shaw, WhatHasNoRowIsRefused) {
  for (const std::string wrong : {"clip=0", "clip=-1", "clip=1048577"}) {
    EXPECT_NE(Refusal([&] { ParseScheme("shaw", {wrong}); }), "") << wrong;
  }
  NamedInputs inputs = Worked(Q::scores);
  inputs.tensors["key_positions"].values[1] = 0.5;
  const ExactEquations exact(ParseScheme("shaw", kOneHead));
  EXPECT_NE(Refusal([&] { exact.CheckInputs(Q::scores, inputs); }), "");
  inputs = Worked(Q::scores);
  inputs.tensors["key_table"] = {{1, 2, 2}, {1, 2, 3, 4}};
  EXPECT_NE(Refusal([&] { exact.CheckInputs(Q::scores, inputs); }), "");
}

const std::vector<double> kPositions = {0, 1, 2, 17, 255, 257, 4095, 131071};

TEST(shaw, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"heads=4", "head_dim=8", "clip=3", "index=query_minus_key"},
           {"heads=4", "head_dim=8"},
           {"heads=2", "head_dim=5", "clip=1", "per_head=true", "outside=zero", "causal=false"},
           {"heads=4", "head_dim=4", "clip=40", "values=false", "scale=one"}}) {
    ExpectContractsKept(ParseScheme("shaw", settings), kPositions);
  }
}

TEST(shaw, FaultyKernelsBreakTheirContracts) {
  const Scheme faulty =
      ParseScheme("shaw", {"heads=4", "head_dim=8", "clip=3", "index=query_minus_key"});
  ExpectContractBroken(faulty, "index_ignored", "scores", kPositions);
  ExpectContractBroken(faulty, "index_ignored", "attention", kPositions);
  ExpectContractBroken(faulty, "clip_short", "scores", kPositions);
  ExpectContractBroken(faulty, "clip_short", "attention", kPositions);
  ExpectContractBroken(faulty, "index_wraps", "scores", kPositions);
  ExpectContractBroken(faulty, "values_missing", "attention", kPositions);
  ExpectContractBroken(faulty, "scale_on_content", "scores", kPositions);
  ExpectContractBroken(faulty, "scale_on_content", "attention", kPositions);
  ExpectContractBroken(faulty, "no_mask", "attention", kPositions);
}

TEST(shaw, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(shaw::AnyParams())); }

TEST(shaw, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*shaw::AnyParams()).Validate(); }));
}

// Huang et al. 2019, sec. 3.4.1: of X[i][m] = <q_i, E_m>, E_m the row of distance m - (L - 1), pad
// a column of zeros on the left, read the rows as if they were one shorter, drop the first.
std::vector<std::vector<double>> Skewed(const std::vector<std::vector<double>>& x) {
  const size_t length = x.size();
  std::vector<double> flat;
  for (const std::vector<double>& row : x) {
    flat.push_back(0);
    flat.insert(flat.end(), row.begin(), row.end());
  }
  std::vector<std::vector<double>> skewed(length);
  for (size_t i = 0; i < length; ++i) {
    for (size_t j = 0; j < length; ++j) skewed[i].push_back(flat[(i + 1) * length + j]);
  }
  return skewed;
}

// Whole numbers throughout: nothing rounds.
TEST(shaw, SkewingIsTheGather) {
  constexpr int64_t kLength = 5;
  const Scheme scheme =
      ParseScheme("shaw", {"heads=1", "head_dim=2", fmt::format("clip={}", kLength - 1),
                           "values=false", "outside=zero", "scale=one"});
  NamedInputs inputs{{{"query_positions", Consecutive(kLength)},
                      {"key_positions", Consecutive(kLength)},
                      {"q", {{kLength, 1, 2}, {1, 2, -3, 1, 0, 4, 2, 2, -1, 5}}},
                      {"k", {{kLength, 1, 2}, std::vector<double>(2 * kLength, 0)}},
                      {"key_table", {{1, 2 * kLength - 1, 2}, {}}}}};
  for (int i = 0; i < 4 * kLength - 2; ++i) {
    inputs.tensors["key_table"].values.push_back(i * 5 % 7 - 3);
  }
  std::vector<std::vector<double>> products(kLength);
  for (int64_t i = 0; i < kLength; ++i) {
    for (int64_t m = 0; m < kLength; ++m) {
      products[static_cast<size_t>(i)].push_back(
          inputs["q"].At(i, 0, 0) * inputs["key_table"].At(0, m, 0) +
          inputs["q"].At(i, 0, 1) * inputs["key_table"].At(0, m, 1));
    }
  }
  const std::vector<std::vector<double>> skewed = Skewed(products);
  for (const std::string kernel : {"fast.scores.shaw.f64", "fast.scores.shaw.bf16"}) {
    const std::vector<double> scores = Subject(AnyKernel(kernel), scheme).Evaluate(inputs).Values();
    for (size_t i = 0; i < kLength; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        EXPECT_EQ(scores[i * kLength + j], skewed[i][j]) << i << " " << j;
      }
    }
  }
}

// Rows of distances ahead are never seen under a mask.
TEST(shaw, RowsOfKeysAheadAreNotRead) {
  const Scheme scheme = ParseScheme("shaw", {"heads=1", "head_dim=2", "clip=1"});
  const NamedInputs inputs = Worked(Q::attention);
  for (const std::string dtype : {"f64", "f32", "bf16", "f16"}) {
    const Subject subject(AnyKernel("fast.attention.shaw." + dtype), scheme);
    const std::vector<double> before = subject.Evaluate(inputs).Values();
    NamedInputs poisoned = inputs;
    for (const std::string name : {"key_table", "value_table"}) {
      for (size_t i : {4, 5}) poisoned.tensors[name].values[i] = std::nan("");
    }
    EXPECT_EQ(subject.Evaluate(poisoned).Values(), before) << dtype;
  }
}

TEST(shaw, EveryTargetKeepsItsContract) {
  for (const std::string& target : fast::Targets()) {
    fast::UseTarget(target);
    ExpectContractsKept(ParseScheme("shaw", {"heads=2", "head_dim=13", "clip=3"}),
                        {0, 1, 17, 4095});
  }
  fast::UseTarget("");
}

}  // namespace
}  // namespace posgauge
