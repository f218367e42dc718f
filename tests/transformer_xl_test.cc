#include <gtest/gtest.h>

#include "attention_values.h"

namespace posgauge {
namespace {

using Q = AttentionQuantity;

Scheme TransformerXl(const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = {"heads=1", "head_dim=2", "model_width=4"};
  settings.insert(settings.end(), more.begin(), more.end());
  return ParseScheme("transformer_xl", settings);
}

// Two queries after a memory of one token. The sinusoid's second frequency is 10000^(-1/2) = 1/100.
NamedInputs Worked() {
  return {{{"query_positions", List({1, 2})},
           {"key_positions", Consecutive(3)},
           {"q", {{2, 1, 2}, {1, 0.5, -0.5, 1}}},
           {"k", {{3, 1, 2}, {1, 0, 0.25, 1, -1, 0.5}}},
           {"content_bias", {{1, 2}, {0.1, -0.2}}},
           {"position_bias", {{1, 2}, {0.3, 0.4}}},
           {"position_weight", {{1, 2, 4}, {1, 0, 0, 1, 0, 1, 1, 0}}}}};
}

// Thirty digits by mpmath, with the biases the binary64 numbers nearest to 0.1, -0.2, 0.3 and 0.4:
// those of the decimals part from them at the sixteenth digit.
TEST(transformer_xl, WorkedScoresOfAllFourTerms) {
  ExpectPrinted(TransformerXl(), Q::scores, Worked(),
                {"2.82073324157642638597579402577", "1.96222131779266938119365089152", "-inf",
                 "-0.944996540869837464726825813684", "0.77932981776026304554790641815",
                 "1.41421356237309504880168872421"});
}

TEST(transformer_xl, OffsetsBeyondTheClampCountAsIt) {
  // Offset 2 of the second query's first key counts as 1; the others are as they were.
  const std::vector<double> plain =
      ExactAttention(TransformerXl()).Evaluate(Q::scores, Worked(), Dtype::f64).values;
  const std::vector<double> clamped = ExactAttention(TransformerXl({"clamp_length=1"}))
                                          .Evaluate(Q::scores, Worked(), Dtype::f64)
                                          .values;
  NamedInputs nearer = Worked();
  nearer.tensors["key_positions"] = List({1, 1, 2});
  const std::vector<double> near =
      ExactAttention(TransformerXl()).Evaluate(Q::scores, nearer, Dtype::f64).values;
  for (const size_t i : {0, 1, 4, 5}) EXPECT_EQ(clamped[i], plain[i]) << i;
  EXPECT_EQ(clamped[3], near[3]);
  EXPECT_NE(clamped[3], plain[3]);
}

// 3 - 0.1 is not a binary64 number. One channel that holds sin(offset) alone; by mpmath, from the
// exact difference.
TEST(transformer_xl, FractionalOffsetsAreNotRounded) {
  ExpectPrinted(ParseScheme("transformer_xl", {"heads=1", "head_dim=1", "model_width=2"}),
                Q::scores,
                {{{"query_positions", List({3})},
                  {"key_positions", List({0.1})},
                  {"q", {{1, 1, 1}, {1}}},
                  {"k", {{1, 1, 1}, {0}}},
                  {"content_bias", {{1, 1}, {0}}},
                  {"position_bias", {{1, 1}, {0}}},
                  {"position_weight", {{1, 1, 2}, {1, 0}}}}},
                {"0.239249329213982333574157473224"});
}

TEST(transformer_xl, ParametersOutsideTheirDomainAreRefused) {
  for (const std::string wrong : {"model_width=3", "model_width=0", "base=1", "clamp_length=0"}) {
    EXPECT_NE(Refusal([&] { TransformerXl({wrong}); }), "") << wrong;
  }
  NamedInputs inputs = Worked();
  inputs.tensors["position_weight"] = {{1, 2, 2}, {1, 0, 0, 1}};
  EXPECT_NE(Refusal([&] { ExactAttention(TransformerXl()).CheckInputs(Q::scores, inputs); }), "");
}

}  // namespace
}  // namespace posgauge
