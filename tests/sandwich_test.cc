#include <gtest/gtest.h>

#include "attention_values.h"
#include "bias_checks.h"
#include "posgauge/fast/sandwich.h"
#include "posgauge/properties/sandwich.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

// One query and one key at a distance. Of 8 heads the first has the bias S itself.
void ExpectBias(std::vector<std::string> settings, double distance, size_t head,
                const std::string& printed) {
  const Scheme scheme = ParseScheme("sandwich", settings);
  const NamedInputs inputs{{{"query_positions", List({distance})}, {"key_positions", List({0})}}};
  const EnclosedEach bias = ExactEquations(scheme).Enclose(Q::bias, inputs);
  EXPECT_EQ(RoundedLike(printed, bias.values.at(head)), DigitsOf(printed)) << Text(scheme);
  const RoundedValues rounded = ExactEquations(scheme).Evaluate(Q::bias, inputs, Dtype::f64);
  EXPECT_EQ(rounded.values.at(head), std::strtod(printed.c_str(), nullptr)) << Text(scheme);
}

// Thirty digits by mpmath, sums of cosines.
TEST(sandwich, WorkedSums) {
  ExpectBias({"first_index=0"}, 1, 0, "62.093683805767624654071808152");
  ExpectBias({"first_index=0"}, 2, 0, "57.3818605528237628477748219521");
  ExpectBias({"first_index=0"}, 10, 0, "42.8200228984970963865916200192");
  ExpectBias({"first_index=0"}, 100, 0, "30.5434547014906648229254278364");
  ExpectBias({"first_index=0"}, 1000, 0, "10.1777281322106460861296092039");
  ExpectBias({"first_index=1"}, 1, 0, "62.5533814948994849408375382099");
  ExpectBias({"first_index=1"}, 10, 0, "44.6590939275735905055157617448");
  ExpectBias({"first_index=1"}, 100, 0, "30.6810858296196461666037472562");
  ExpectBias({"sandwich_width=4"}, 3, 0, "0.00955753714854205900058591173535");
}

TEST(sandwich, HeadsDivideTheSum) {
  ExpectBias({"heads=12"}, 10, 2, "21.4100114492485481932958100096");
  ExpectBias({"heads=12", "centred=true"}, 10, 2, "-10.5899885507514518067041899904");
  // Head h has 1/h of the first.
  ExpectBias({}, 2, 1, "28.690930276411881423887410976");
}

TEST(sandwich, DistanceZeroIsExact) {
  for (const auto& [centred, value] : {std::pair("true", 0.0), std::pair("false", 64.0)}) {
    const RoundedValues bias =
        ExactEquations(ParseScheme("sandwich", {"heads=1", std::string("centred=") + centred}))
            .Evaluate(Q::bias, {{{"query_positions", List({7})}, {"key_positions", List({7})}}},
                      Dtype::f8e5m2);
    EXPECT_EQ(bias.values[0], value / 8);
    EXPECT_EQ(bias.proofs[0], Proof::exact);
  }
}

TEST(sandwich, ParametersOutsideTheirDomainAreRefused) {
  for (const std::string wrong : {"sandwich_width=3", "sandwich_width=0", "sandwich_width=65538",
                                  "first_index=2", "first_index=-1", "base=1", "base=0"}) {
    EXPECT_NE(Refusal([&] { ParseScheme("sandwich", {wrong}); }), "") << wrong;
  }
}

// The first rise of the default: by mpmath the bias is 5.3525 at 10 tokens, 5.2930 at 11 and 5.2977
// at 12.
TEST(sandwich, IsNotMonotone) {
  const Scheme scheme = ParseScheme("sandwich", {"heads=1"});
  const NamedInputs inputs{{{"query_positions", List({12})}, {"key_positions", List({0, 1, 2})}}};
  const std::vector<double> exact =
      ExactEquations(scheme).Evaluate(Q::bias, inputs, Dtype::f64).values;
  const Tensor ours = Subject(AnyKernel("fast.bias.sandwich.f32"), scheme).Evaluate(inputs);
  EXPECT_GT(exact[0], exact[1]);
  EXPECT_LT(exact[1], exact[2]);
  EXPECT_GT(ours.Value(0), ours.Value(1));
  EXPECT_LT(ours.Value(1), ours.Value(2));
}

const std::vector<std::vector<std::string>> kConventions = {
    {"heads=3", "head_dim=5"},
    {"heads=2", "head_dim=16", "sandwich_width=34", "first_index=1", "centred=true"},
    {"heads=2", "head_dim=4", "causal=false", "sandwich_width=2", "base=100"}};

TEST(sandwich, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const auto& settings : kConventions) {
    ExpectContractsKept(ParseScheme("sandwich", settings), 24U);
  }
}

TEST(sandwich, BiasesAreAdequate) {
  for (const auto& settings : kConventions) {
    ExpectAdequateBiases(ParseScheme("sandwich", settings), {"f64", "f32", "bf16", "f16"});
  }
}

TEST(sandwich, BiasesKeepTheirContractsOnEveryTarget) {
  for (const auto& settings : kConventions) {
    ExpectContractsKeptOnEveryTarget(ParseScheme("sandwich", settings));
  }
}

TEST(sandwich, FaultyKernelsBreakTheirContracts) {
  ExpectFaultsBreakContracts(ParseScheme("sandwich", {"heads=2", "head_dim=4"}),
                             {"no_cosine", "sines", "ratio_ignored", "other_index"},
                             {0, 1, 16, 300, 4095, 65536});
}

TEST(sandwich, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(sandwich::AnyParams())); }

TEST(sandwich, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*sandwich::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
