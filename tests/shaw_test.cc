#include <gtest/gtest.h>

#include "attention_values.h"

namespace posgauge {
namespace {

using Q = AttentionQuantity;

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
  return ExactAttention(ParseScheme("shaw", settings))
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
    return ExactAttention(ParseScheme("shaw", {"heads=1", "head_dim=4", "clip=1", "values=false"}))
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
  const ExactAttention exact(ParseScheme("shaw", kOneHead));
  EXPECT_NE(Refusal([&] { exact.CheckInputs(Q::scores, inputs); }), "");
  inputs = Worked(Q::scores);
  inputs.tensors["key_table"] = {{1, 2, 2}, {1, 2, 3, 4}};
  EXPECT_NE(Refusal([&] { exact.CheckInputs(Q::scores, inputs); }), "");
}

}  // namespace
}  // namespace posgauge
