#include <gtest/gtest.h>

#include "attention_values.h"
#include "bias_checks.h"
#include "posgauge/fast/fire.h"
#include "posgauge/properties/fire.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

// A network that shows x itself: one unit, all weights 1 and no offsets.
NamedInputs Shown(double query, double key, double threshold) {
  return {{{"query_positions", List({query})},
           {"key_positions", List({key})},
           {"c", List({0.1})},
           {"threshold", List({threshold})},
           {"w1", List({1})},
           {"b1", List({0})},
           {"w2", {{1, 1}, {1}}},
           {"b2", List({0})}}};
}

Scheme Fire(const std::string& epsilon, int64_t mlp_width = 1) {
  return ParseScheme("fire",
                     {"heads=1", "epsilon=" + epsilon, fmt::format("mlp_width={}", mlp_width)});
}

// Thirty digits by mpmath, with c and epsilon the binary64 numbers nearest to 0.1 and 1e-6: those
// of the decimals part from them at the seventeenth digit.
TEST(fire, WorkedDistances) {
  const auto expect = [](double query, double key, double threshold, const std::string& paper,
                         const std::string& listing) {
    ExpectPrinted(Fire("0"), Q::bias, Shown(query, key, threshold), {paper});
    ExpectPrinted(Fire("1e-6"), Q::bias, Shown(query, key, threshold), {listing});
  };
  expect(10, 3, 512, "0.134163636725134142951685328548", "0.134163602803312543351482144318");
  expect(1000, 3, 512, "0.99935544107550655359136829083", "0.99935522453615056291787878443");
  expect(600, 0, 512, "1", "0.999999756742777865825903541749");
  expect(3, 1, 2, "0.694917644992562118238384511843", "0.694914996327745901046799884656");
}

TEST(fire, WorkedNetwork) {
  NamedInputs inputs = Shown(10, 3, 512);
  inputs.tensors["w1"] = List({0.5, -1});
  inputs.tensors["b1"] = List({0.25, 0.5});
  inputs.tensors["w2"] = {{1, 2}, {2, -3}};
  inputs.tensors["b2"] = List({0.125});
  ExpectPrinted(Fire("0", 2), Q::bias, inputs, {"-0.338345453099463428193258685809"});
}

TEST(fire, BothEndsOfTheDistanceAreExact) {
  // At distance 0 the network of 0; at the first key beyond the threshold, without epsilon, of 1.
  for (const double query : {512.0, 513.0, 1e6, 5e8 + 0.5}) {
    const RoundedValues first =
        ExactEquations(Fire("0")).Evaluate(Q::bias, Shown(query, 0, 512), Dtype::f8e5m2);
    EXPECT_EQ(first.values[0], 1);
    EXPECT_EQ(first.proofs[0], Proof::exact);
    const RoundedValues itself =
        ExactEquations(Fire("1e-6")).Evaluate(Q::bias, Shown(query, query, 512), Dtype::f8e5m2);
    EXPECT_EQ(itself.values[0], 0);
    EXPECT_EQ(itself.proofs[0], Proof::exact);
  }
}

TEST(fire, KeysAfterTheQueryCountByTheirDistance) {
  const ExactEquations exact(Fire("1e-6"));
  EXPECT_EQ(exact.Evaluate(Q::bias, Shown(10, 17, 512), Dtype::f64).values,
            exact.Evaluate(Q::bias, Shown(10, 3, 512), Dtype::f64).values);
}

TEST(fire, WhatIsNotAboveZeroIsRefused) {
  for (const std::string name : {"c", "threshold"}) {
    for (const double wrong : {0.0, -0.0, -1.0, 0x1p-1030, std::nan(""), HUGE_VAL}) {
      NamedInputs inputs = Shown(10, 3, 512);
      inputs.tensors[name] = List({wrong});
      EXPECT_NE(Refusal([&] { ExactEquations(Fire("0")).CheckInputs(Q::bias, inputs); }), "")
          << name << " " << wrong;
    }
  }
  for (const std::string wrong : {"epsilon=-1e-6", "epsilon=1.5", "mlp_width=0"}) {
    EXPECT_NE(Refusal([&] { ParseScheme("fire", {wrong}); }), "") << wrong;
  }
}

const std::vector<std::vector<std::string>> kConventions = {
    {"heads=3", "head_dim=5"},
    {"heads=2", "head_dim=16", "mlp_width=7", "epsilon=0"},
    {"heads=2", "head_dim=4", "causal=false", "mlp_width=1", "epsilon=0.5"}};

TEST(fire, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const auto& settings : kConventions) {
    ExpectContractsKept(ParseScheme("fire", settings), 24U);
  }
}

TEST(fire, BiasesAreAdequate) {
  for (const auto& settings : kConventions) {
    ExpectAdequateBiases(ParseScheme("fire", settings), {"f32", "bf16", "f16"});
  }
}

TEST(fire, BiasesKeepTheirContractsOnEveryTarget) {
  for (const auto& settings : kConventions) {
    ExpectContractsKeptOnEveryTarget(ParseScheme("fire", settings));
  }
}

TEST(fire, FaultyKernelsBreakTheirContracts) {
  ExpectFaultsBreakContracts(
      ParseScheme("fire", {"heads=2", "head_dim=4", "epsilon=0.5"}),
      {"normalised_by_key", "threshold_ignored", "epsilon_missing", "fire_missing_one"},
      {0, 1, 16, 300, 4095, 65536});
}

TEST(fire, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(fire::AnyParams())); }

TEST(fire, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*fire::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
