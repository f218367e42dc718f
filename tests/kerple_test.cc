#include <gtest/gtest.h>

#include "attention_values.h"
#include "bias_checks.h"
#include "posgauge/fast/kerple.h"
#include "posgauge/properties/kerple.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

Scheme Kerple(const std::string& kernel) {
  return ParseScheme("kerple", {"heads=1", "head_dim=1", "kernel=" + kernel});
}

// Biases of one query at the end of the distances.
NamedInputs Distances(double r1, double r2, std::vector<double> distances) {
  for (double& distance : distances) distance = 8 - distance;
  return {{{"query_positions", List({8})},
           {"key_positions", List(distances)},
           {"r1", List({r1})},
           {"r2", List({r2})}}};
}

// Thirty digits by mpmath.
TEST(kerple, WorkedBiasesOfBothKernels) {
  ExpectPrinted(Kerple("log"), Q::bias, Distances(1.5, 0.5, {0, 1, 2, 3, 4, 7}),
                {"0", "-0.608197662162246572967019673197", "-1.03972077083991796412584818219",
                 "-1.37443609781123259777529081765", "-1.64791843300216453709286785538",
                 "-2.25611609516441111005988752858"});
  ExpectPrinted(Kerple("power"), Q::bias, Distances(0.25, 1.5, {7}),
                {"-4.63006479436303353337782756887"});
  // Of the decimal 0.01 it would be -0.254912415964114781707060987107: the exponent is a binary64.
  ExpectPrinted(Kerple("power"), Q::bias, Distances(0.25, 0.01, {7}),
                {"-0.254912415964114781810319359239"});
}

TEST(kerple, PowersThatAreNumbersAreExact) {
  const RoundedValues bias = ExactEquations(Kerple("power"))
                                 .Evaluate(Q::bias, Distances(0.5, 1.5, {0, 1, 4}), Dtype::f8e4m3);
  EXPECT_EQ(bias.values, (std::vector<double>{0, -0.5, -4}));
  EXPECT_EQ(bias.counts.exact, 3);
}

// 3 - 0.1 is not a binary64 number: a distance that is rounded first gives another bias. By mpmath,
// from the exact difference.
TEST(kerple, DistancesOfFractionalPositionsAreNotRounded) {
  const auto inputs = [](double r2) {
    return NamedInputs{{{"query_positions", List({3})},
                        {"key_positions", List({0.1})},
                        {"r1", List({1})},
                        {"r2", List({r2})}}};
  };
  ExpectPrinted(Kerple("power"), Q::bias, inputs(1), {"-2.89999999999999999444888487687"});
  ExpectPrinted(Kerple("power"), Q::bias, inputs(1.5), {"-4.93852204611865632399885069991"});
  ExpectPrinted(Kerple("log"), Q::bias, inputs(1), {"-1.36097655313560074200737837172"});
}

TEST(kerple, WeightedScoresDecay) {
  // exp(-w1 D^w2) <q, k> - r1 ln(1 + r2 D) at D = 4, w1 = 1/2, w2 = 1/2, <q, k> = 3; r1 = 1,
  // r2 = 1/2. By mpmath.
  ExpectPrinted(ParseScheme("kerple", {"heads=1", "head_dim=1", "weighted=true"}), Q::scores,
                {{{"query_positions", List({4})},
                  {"key_positions", List({0})},
                  {"q", {{1, 1, 1}, {1}}},
                  {"k", {{1, 1, 1}, {3}}},
                  {"r1", List({1})},
                  {"r2", List({0.5})},
                  {"w1", List({0.5})},
                  {"w2", List({0.5})}}},
                {"0.00502603484621727339132607356186"});
}

TEST(kerple, WeightsOutsideTheirRangeAreRefused) {
  const auto refusal = [](const std::string& kernel, double r1, double r2) {
    return Refusal(
        [&] { ExactEquations(Kerple(kernel)).CheckInputs(Q::bias, Distances(r1, r2, {1})); });
  };
  EXPECT_EQ(refusal("power", 1, 2), "");
  EXPECT_NE(refusal("power", 1, 2.0000000000000004), "");
  EXPECT_EQ(refusal("log", 1, 2.0000000000000004), "");
  for (const double wrong : {0.0, -0.0, -1.0, 0x1p-1074, std::nan(""), HUGE_VAL}) {
    EXPECT_NE(refusal("log", wrong, 1), "") << wrong;
    EXPECT_NE(refusal("power", 1, wrong), "") << wrong;
  }
}

const std::vector<std::vector<std::string>> kConventions = {
    {"heads=3", "head_dim=5"},
    {"heads=2", "head_dim=16", "kernel=power"},
    {"heads=2", "head_dim=4", "causal=false", "weighted=true"},
    {"heads=2", "head_dim=4", "kernel=power", "weighted=true", "scale=one"}};

TEST(kerple, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const auto& settings : kConventions) {
    ExpectContractsKept(ParseScheme("kerple", settings), 24U);
  }
}

TEST(kerple, BiasesAreAdequate) {
  for (const auto& settings : kConventions) {
    ExpectAdequateBiases(ParseScheme("kerple", settings), {"f64", "f32", "bf16", "f16"});
  }
}

TEST(kerple, BiasesKeepTheirContractsOnEveryTarget) {
  for (const auto& settings : kConventions) {
    ExpectContractsKeptOnEveryTarget(ParseScheme("kerple", settings));
  }
}

TEST(kerple, FaultyKernelsBreakTheirContracts) {
  const std::vector<double> positions = {0, 1, 16, 300, 4095, 65536};
  ExpectFaultsBreakContracts(ParseScheme("kerple", {"heads=2", "head_dim=4", "causal=false"}),
                             {"missing_one", "log_base", "rate_ignored", "future_zero"}, positions);
  ExpectFaultsBreakContracts(
      ParseScheme("kerple", {"heads=2", "head_dim=4", "causal=false", "kernel=power"}),
      {"missing_one", "exponent_doubled", "rate_ignored", "future_zero"}, positions);
  ExpectFaultsBreakContracts(ParseScheme("kerple", {"heads=2", "head_dim=4", "weighted=true"}),
                             {"factor_on_bias"}, positions);
}

TEST(kerple, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(kerple::AnyParams())); }

TEST(kerple, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*kerple::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
