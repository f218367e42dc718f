#include "posgauge/properties/transformer_xl.h"

#include <gtest/gtest.h>

#include "attention_checks.h"
#include "attention_values.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

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
      ExactEquations(TransformerXl()).Evaluate(Q::scores, Worked(), Dtype::f64).values;
  const std::vector<double> clamped = ExactEquations(TransformerXl({"clamp_length=1"}))
                                          .Evaluate(Q::scores, Worked(), Dtype::f64)
                                          .values;
  NamedInputs nearer = Worked();
  nearer.tensors["key_positions"] = List({1, 1, 2});
  const std::vector<double> near =
      ExactEquations(TransformerXl()).Evaluate(Q::scores, nearer, Dtype::f64).values;
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

// 2^53 + 1 and 2^53 - 2^-80 round to 2^53 but are offsets of their own. The same channel; by
// mpmath, from the exact differences.
TEST(transformer_xl, OffsetsThatRoundAlikeAreNotShared) {
  ExpectPrinted(ParseScheme("transformer_xl", {"heads=1", "head_dim=1", "model_width=2"}),
                Q::scores,
                {{{"query_positions", List({0x1p53})},
                  {"key_positions", List({-1, 0, 0x1p-1, 0x1p-80})},
                  {"q", {{1, 1, 1}, {1}}},
                  {"k", {{4, 1, 1}, {0, 0, 0, 0}}},
                  {"content_bias", {{1, 1}, {0}}},
                  {"position_bias", {{1, 1}, {0}}},
                  {"position_weight", {{1, 1, 2}, {1, 0}}}}},
                {"-0.903403988013353771620365989709", "-0.848925964814654999561272069692",
                 "-0.491620576156387874611241325418", "-0.848925964814654999561271632517"});
}

TEST(transformer_xl, ParametersOutsideTheirDomainAreRefused) {
  for (const std::string wrong : {"model_width=3", "model_width=0", "base=1", "clamp_length=0"}) {
    EXPECT_NE(Refusal([&] { TransformerXl({wrong}); }), "") << wrong;
  }
  NamedInputs inputs = Worked();
  inputs.tensors["position_weight"] = {{1, 2, 2}, {1, 0, 0, 1}};
  EXPECT_NE(Refusal([&] { ExactEquations(TransformerXl()).CheckInputs(Q::scores, inputs); }), "");
}

const std::vector<double> kPositions = {0, 1, 2, 17, 255, 257, 4095, 131071};

TEST(transformer_xl, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"heads=4", "head_dim=4", "model_width=8", "clamp_length=5"},
           {"heads=3", "head_dim=5", "model_width=6", "causal=false", "base=100"},
           {"heads=2", "head_dim=4", "model_width=16", "scale=one"}}) {
    ExpectContractsKept(ParseScheme("transformer_xl", settings), kPositions);
  }
}

TEST(transformer_xl, FaultyKernelsBreakTheirContracts) {
  const Scheme faulty =
      ParseScheme("transformer_xl", {"heads=4", "head_dim=4", "model_width=8", "clamp_length=5"});
  ExpectContractBroken(faulty, "biases_swapped", "scores", kPositions);
  ExpectContractBroken(faulty, "biases_swapped", "attention", kPositions);
  ExpectContractBroken(faulty, "cosines_first", "scores", kPositions);
  ExpectContractBroken(faulty, "cosines_first", "attention", kPositions);
  ExpectContractBroken(faulty, "clamp_ignored", "scores", kPositions);
  ExpectContractBroken(faulty, "clamp_ignored", "attention", kPositions);
  ExpectContractBroken(faulty, "late_queries", "scores", kPositions);
  ExpectContractBroken(faulty, "late_queries", "attention", kPositions);
  ExpectContractBroken(faulty, "scale_on_content", "scores", kPositions);
  ExpectContractBroken(faulty, "scale_on_content", "attention", kPositions);
}

TEST(transformer_xl, LawsHoldForAnyParameters) {
  EXPECT_TRUE(LawsHoldForAny(transformer_xl::AnyParams()));
}

TEST(transformer_xl, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*transformer_xl::AnyParams()).Validate(); }));
}

// X[r][c] = <q_r + v, W R_o> with offset o = keys - 1 - c: pad a column on the left, read the rows
// as if they were one shorter, drop the first. Dai et al. 2019, appendix B. The rows are the scores
// of single keys of zeros.
TEST(transformer_xl, TheRelativeShiftIsTheGather) {
  constexpr size_t kQueries = 2, kKeys = 5;
  const Scheme scheme = TransformerXl({"scale=one"});
  NamedInputs inputs = Worked();
  inputs.tensors["content_bias"].values = {0.5, -1};
  inputs.tensors["position_bias"].values = {0.25, 1.5};
  inputs.tensors["query_positions"] = Consecutive(kQueries, kKeys - kQueries);
  inputs.tensors["key_positions"] = Consecutive(kKeys);
  inputs.tensors["k"] = {{kKeys, 1, 2}, std::vector<double>(2 * kKeys, 0)};
  for (const std::string kernel :
       {"fast.scores.transformer_xl.f64", "fast.scores.transformer_xl.f32"}) {
    const Subject subject(AnyKernel(kernel), scheme);
    std::vector<double> flat;
    for (size_t r = 0; r < kQueries; ++r) {
      flat.push_back(0);
      for (size_t c = 0; c < kKeys; ++c) {
        NamedInputs one = inputs;
        one.tensors["query_positions"] = List({static_cast<double>(kKeys - 1 - c)});
        one.tensors["key_positions"] = List({0});
        one.tensors["q"] = {{1, 1, 2}, {inputs["q"].values[2 * r], inputs["q"].values[2 * r + 1]}};
        one.tensors["k"] = {{1, 1, 2}, {0, 0}};
        flat.push_back(subject.Evaluate(one).Values()[0]);
      }
    }
    const std::vector<double> scores = subject.Evaluate(inputs).Values();
    for (size_t r = 0; r < kQueries; ++r) {
      for (size_t j = 0; j <= r + kKeys - kQueries; ++j) {
        EXPECT_EQ(scores[r * kKeys + j], flat[kQueries + r * kKeys + j]) << kernel;
      }
    }
  }
}

// The paper's four terms, each a score of its own, add up to the factored one.
TEST(transformer_xl, FourTermsAddUp) {
  const Scheme scheme = TransformerXl({"causal=false"});
  const ExactEquations exact(scheme);
  const auto scores = [&](const std::vector<std::string>& zeros) {
    NamedInputs inputs = Worked();
    for (const std::string& name : zeros) {
      std::ranges::fill(inputs.tensors[name].values, 0);
    }
    return exact.Enclose(Q::scores, inputs);
  };
  const EnclosedEach whole = scores({});
  const std::vector<EnclosedEach> terms = {scores({"content_bias", "position_weight"}),
                                           scores({"content_bias", "position_bias", "k"}),
                                           scores({"q", "position_weight"}), scores({"q", "k"})};
  for (size_t i = 0; i < whole.values.size(); ++i) {
    double difference = whole.values[i].high, low = whole.values[i].low, radius = whole.radii[i];
    double size = std::fabs(difference);
    for (const EnclosedEach& term : terms) {
      low -= term.values[i].low;
      radius += term.radii[i];
      size += std::fabs(term.values[i].high);
    }
    // Sums of binary64 numbers in long double, whose 64 bits lose at most 2^-62 of their sizes.
    long double sum = difference;
    for (const EnclosedEach& term : terms) sum -= term.values[i].high;
    EXPECT_LE(std::fabs(static_cast<double>(sum + low)), radius + 0x1p-61 * size) << i;
  }
}

}  // namespace
}  // namespace posgauge
