// Attention where enclosures alone would not decide, or leave binary64: one key, equal scores,
// equal values, ties, numbers at both ends of the range.
#include <limits>

#include <gtest/gtest.h>

#include "attention_values.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

constexpr double kHuge = 0x1.fffffffffffffp+1023, kTiny = 0x1p-1074;

// Every scheme with one head of one channel, whatever the bias.
const std::vector<std::vector<std::string>> kEverySetting = {
    {"none"},
    {"alibi"},
    {"alibi", "form=key"},
    {"t5"},
    {"kerple"},
    {"kerple", "kernel=power", "weighted=true"},
    {"sandwich"},
    {"fire"},
    {"shaw"},
    {"shaw", "values=false", "outside=zero"},
    {"transformer_xl", "model_width=4"},
    {"cope", "num_positions=4"},
    {"deberta", "causal=true", "position_buckets=4", "max_position=8"},
    {"swin"},
    {"xpos", "rotary_dim=0"},
    {"rerope", "rotary_dim=0", "trained_length=4"},
    {"dual_chunk", "rotary_dim=0"},
    {"none", "temperature_floor_scale=2", "temperature_scale=0.5"}};

Scheme SchemeOf(std::vector<std::string> words) {
  const std::string name = words.front();
  words.erase(words.begin());
  words.insert(words.begin(), {"heads=1", "head_dim=1"});
  return ParseScheme(name, words);
}

// Weights all zero, or one where they must be above it.
void AddWeights(const ExactEquations& exact, Q quantity, NamedInputs& inputs) {
  for (const Weight& weight : exact.InputsOf(quantity)) {
    if (inputs.tensors.contains(weight.name)) continue;
    int64_t count = 1;
    for (int64_t extent : weight.shape) count *= extent;
    const double value = weight.lowest > 0 ? 1 : 0;
    inputs.tensors.emplace(
        weight.name, ExactTensor{weight.shape, std::vector(static_cast<size_t>(count), value)});
  }
}

RoundedValues Attend(const std::vector<std::string>& words, const std::vector<double>& keys,
                     double query, double q, const std::vector<double>& k,
                     const std::vector<double>& v, Dtype dtype) {
  const auto rows = static_cast<int64_t>(keys.size());
  const ExactEquations exact(SchemeOf(words));
  NamedInputs inputs{{{"query_positions", List({query})},
                      {"key_positions", List(keys)},
                      {"q", {{1, 1, 1}, {q}}},
                      {"k", {{rows, 1, 1}, k}},
                      {"v", {{rows, 1, 1}, v}}}};
  AddWeights(exact, Q::attention, inputs);
  return exact.Evaluate(Q::attention, inputs, dtype);
}

TEST(attention_edges, TheOnlyVisibleKeyGivesItsValue) {
  for (const auto& words : kEverySetting) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(words, " ")));
    for (const double q : {0.0, 1.0, -3.5, kTiny, kHuge, -kHuge}) {
      // Halfway between two numbers of f16; the key at 9 is masked unless the scheme is not causal.
      const bool causal = words.front() != "t5" && words.front() != "swin";
      const std::vector<double> keys = causal ? std::vector<double>{2, 9} : std::vector<double>{2};
      const std::vector<double> k(keys.size(), kHuge), v(keys.size(), 1 + 0x1p-11);
      const RoundedValues tie = Attend(words, keys, 5, q, k, v, Dtype::f16);
      EXPECT_EQ(tie.values[0], 1) << q;
      EXPECT_EQ(tie.proofs[0], Proof::proven) << q;
      const RoundedValues wide = Attend(words, keys, 5, q, k, v, Dtype::f64);
      EXPECT_EQ(wide.values[0], 1 + 0x1p-11) << q;
      EXPECT_EQ(wide.proofs[0], Proof::exact) << q;
    }
  }
}

TEST(attention_edges, EqualScoresWeighByOneOverTheirNumber) {
  // q = 0, no bias: a third of 3 + 2^-9 + 0 + 0 is no binary number, of 3 (1 + 2^-11) a tie in f16.
  for (const std::string scheme : {"none", "shaw", "cope", "transformer_xl"}) {
    const auto mean = [&](const std::vector<double>& v, Dtype dtype) {
      return Attend({scheme}, {0, 1, 2}, 2, 0, {kHuge, kTiny, -1}, v, dtype);
    };
    const RoundedValues tie = mean({3 + 0x3p-11, 0, 0}, Dtype::f16);
    EXPECT_EQ(tie.values[0], 1);
    EXPECT_EQ(tie.proofs[0], Proof::proven);
    const RoundedValues exact = mean({0.5, 1, 0}, Dtype::f8e5m2);
    EXPECT_EQ(exact.values[0], 0.5);
    EXPECT_EQ(exact.proofs[0], Proof::exact);
    const RoundedValues third = mean({1, 0, 0}, Dtype::f64);
    EXPECT_EQ(third.values[0], 0x1.5555555555555p-2);
    EXPECT_EQ(third.proofs[0], Proof::proven);
  }
}

TEST(attention_edges, EqualValuesAreTheOutputWhateverTheWeights) {
  for (const auto& words : kEverySetting) {
    for (const double v : {1.5, 1 + 0x1p-11, 0.0, kHuge, -kTiny}) {
      const RoundedValues out =
          Attend(words, {0, 1, 2}, 2, 1.25, {1, -2, 0.3}, {v, v, v}, Dtype::f64);
      EXPECT_EQ(out.values[0], v) << words.front();
      EXPECT_EQ(out.proofs[0], Proof::exact) << words.front();
    }
  }
}

// Scores of 1e616 and less: the difference is as large, and the first key takes all.
TEST(attention_edges, ScoresBeyondBinary64StillHaveAWinner) {
  for (const auto& words : kEverySetting) {
    SCOPED_TRACE(words.front());
    const RoundedValues out =
        Attend(words, {0, 1, 2}, 2, kHuge, {kHuge, 1, -kHuge}, {0.75, kHuge, -3}, Dtype::f64);
    EXPECT_EQ(out.values[0], 0.75);
    EXPECT_EQ(out.proofs[0], Proof::proven);
  }
}

TEST(attention_edges, ZeroIsPositiveAndUnderflowKeepsItsSign) {
  const RoundedValues zero = Attend({"none"}, {0}, 0, 1, {1}, {-0.0}, Dtype::f32);
  EXPECT_EQ(zero.values[0], 0);
  EXPECT_FALSE(std::signbit(zero.values[0]));
  EXPECT_EQ(zero.proofs[0], Proof::exact);
  const RoundedValues under = Attend({"none"}, {0}, 0, 1, {1}, {-kTiny}, Dtype::f32);
  EXPECT_EQ(under.values[0], 0);
  EXPECT_TRUE(std::signbit(under.values[0]));
  EXPECT_EQ(under.proofs[0], Proof::proven);
}

RoundedValues Scores(const Scheme& scheme, std::vector<double> q, std::vector<double> k,
                     Dtype dtype, double query = 1, double key = 0) {
  const auto channels = static_cast<int64_t>(q.size());
  const ExactEquations exact(scheme);
  NamedInputs inputs{{{"query_positions", List({query})},
                      {"key_positions", List({key})},
                      {"q", {{1, 1, channels}, std::move(q)}},
                      {"k", {{1, 1, channels}, std::move(k)}}}};
  AddWeights(exact, Q::scores, inputs);
  return exact.Evaluate(Q::scores, inputs, dtype);
}

TEST(attention_edges, ScoresOfASquareWidthAreExactWhereTheQuotientIs) {
  const Scheme nine = ParseScheme("none", {"heads=1", "head_dim=9"});
  std::vector<double> q(9);
  q[0] = 1;
  std::vector<double> k = q;
  k[0] = 3;
  EXPECT_EQ(Scores(nine, q, k, Dtype::f8e4m3).proofs[0], Proof::exact);
  k[0] = 3 + 0x3p-4;  // a third is 1 + 2^-4, a tie of E4M3
  EXPECT_EQ(Scores(nine, q, k, Dtype::f8e4m3).values[0], 1);
  EXPECT_EQ(Scores(nine, q, k, Dtype::f8e4m3).proofs[0], Proof::proven);
}

TEST(attention_edges, ScoresAtTheEndsOfTheRange) {
  const Scheme scheme = SchemeOf({"none"});
  for (const Dtype dtype : kFloatDtypes) {
    const RoundedValues over = Scores(scheme, {kHuge}, {-kHuge}, dtype);
    EXPECT_EQ(over.proofs[0], Proof::proven);
    EXPECT_TRUE(dtype == Dtype::f8e4m3 ? std::isnan(over.values[0]) : over.values[0] == -HUGE_VAL);
    const RoundedValues under = Scores(scheme, {-kTiny}, {kTiny}, dtype);
    EXPECT_EQ(under.proofs[0], Proof::proven);
    EXPECT_EQ(under.values[0], 0);
    EXPECT_TRUE(std::signbit(under.values[0]));
    const RoundedValues zero = Scores(scheme, {-0.0}, {kHuge}, dtype);
    EXPECT_EQ(zero.proofs[0], Proof::exact);
    EXPECT_FALSE(std::signbit(zero.values[0]));
  }
}

TEST(attention_edges, AMaskedScoreIsMinusInfinityOrWhatTheFormatHasForIt) {
  for (const Dtype dtype : kFloatDtypes) {
    const RoundedValues masked = Scores(SchemeOf({"none"}), {1}, {1}, dtype, 0, 1);
    const bool nan = dtype == Dtype::f8e4m3;
    EXPECT_TRUE(nan ? std::isnan(masked.values[0]) : masked.values[0] == -HUGE_VAL);
    EXPECT_EQ(masked.proofs[0], nan ? Proof::proven : Proof::exact);
  }
}

// What is rational only by a relation between irrational numbers is said to be undecided, whatever
// the rounding: sqrt(2) / 2 - 2^(-1/2), and gates of opposite logits, which add up to 1.
TEST(attention_edges, RelationsBetweenIrrationalNumbersAreUndecided) {
  const Scheme alibi = ParseScheme("alibi", {"heads=1", "head_dim=2", "max_bias=0.5"});
  EXPECT_EQ(Scores(alibi, {1, 0}, {1, 0}, Dtype::f32).proofs[0], Proof::undecided);
  EXPECT_EQ(Scores(alibi, {1, 0}, {1.5, 0}, Dtype::f32).proofs[0], Proof::proven);

  const ExactEquations cope(SchemeOf({"cope", "num_positions=3"}));
  const NamedInputs inputs{{{"query_positions", List({1})},
                            {"key_positions", Consecutive(2)},
                            {"q", {{1, 1, 1}, {1}}},
                            {"k", {{2, 1, 1}, {2, -2}}},
                            {"embedding", {{3, 1}, {0, 0x1p-11, 5}}}}};
  const RoundedValues tie =
      cope.Evaluate(Q::scores, inputs, Dtype::f16);  // 2 + 2^-11 of quantum 2^-9
  EXPECT_EQ(tie.proofs[0], Proof::proven);
  NamedInputs halfway = inputs;
  halfway.tensors["embedding"].values[1] = 0x1p-10;
  EXPECT_EQ(cope.Evaluate(Q::scores, halfway, Dtype::f16).proofs[0], Proof::undecided);
}

TEST(attention_edges, EnclosuresBeyondBinary64HaveNoBound) {
  NamedInputs inputs{{{"query_positions", List({0})},
                      {"key_positions", List({0})},
                      {"q", {{1, 1, 1}, {kHuge}}},
                      {"k", {{1, 1, 1}, {kHuge}}}}};
  const EnclosedEach enclosed = ExactEquations(SchemeOf({"none"})).Enclose(Q::scores, inputs);
  EXPECT_EQ(enclosed.radii[0], HUGE_VAL);
  EXPECT_TRUE(std::isfinite(enclosed.values[0].high));
}

TEST(attention_edges, NoQueriesAndNoKeysAreEmpty) {
  for (const auto& words : kEverySetting) {
    const ExactEquations exact(SchemeOf(words));
    NamedInputs inputs{{{"query_positions", List({})},
                        {"key_positions", List({})},
                        {"q", {{0, 1, 1}, {}}},
                        {"k", {{0, 1, 1}, {}}}}};
    AddWeights(exact, Q::scores, inputs);
    EXPECT_EQ(exact.Evaluate(Q::scores, inputs, Dtype::f32).values.size(), 0U) << words.front();
    inputs.tensors["v"] = {{0, 1, 1}, {}};
    EXPECT_EQ(exact.Evaluate(Q::attention, inputs, Dtype::f32).values.size(), 0U);
  }
}

TEST(attention_edges, ManyBucketsOfTheLongestDistanceEnd) {
  const ExactEquations exact(ParseScheme(
      "t5", {"num_buckets=4096", "max_distance=2147483648", "bidirectional=false", "heads=1"}));
  EXPECT_EQ(exact.Buckets({{{"query_positions", List({0x1p31})}, {"key_positions", List({0})}}}),
            (std::vector<int64_t>{4095}));
}

}  // namespace
}  // namespace posgauge
