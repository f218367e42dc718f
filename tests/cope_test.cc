#include "posgauge/properties/cope.h"

#include <gtest/gtest.h>

#include "attention_checks.h"
#include "attention_values.h"
#include "posgauge/fast/simd.h"
#include "posgauge/verify/equation_bound.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

Scheme Cope(int64_t num_positions, const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = {"heads=1", "head_dim=1",
                                       fmt::format("num_positions={}", num_positions)};
  settings.insert(settings.end(), more.begin(), more.end());
  return ParseScheme("cope", settings);
}

// Gate logits (1/2, -1, 2) of query 2, and position logits z.
NamedInputs Worked(const std::vector<double>& z, const std::vector<double>& g = {0.5, -1, 2}) {
  const auto keys = static_cast<int64_t>(g.size());
  return {{{"query_positions", List({static_cast<double>(keys - 1)})},
           {"key_positions", Consecutive(keys)},
           {"q", {{1, 1, 1}, {1}}},
           {"k", {{keys, 1, 1}, g}},
           {"embedding", {{static_cast<int64_t>(z.size()), 1}, z}}}};
}

// Thirty digits by mpmath: g + c, with z the binary64 numbers nearest to 0, 0.3, -0.7 and 1.1.
// Those of the decimals part from them at the seventeenth digit.
TEST(cope, WorkedScores) {
  ExpectPrinted(Cope(4), Q::scores, Worked({0, 0.3, -0.7, 1.1}),
                {"0.0278021694502679023158898406178", "-0.84973849934787756759864366329",
                 "2.26423912339336472343910678245"});
  ExpectPrinted(Cope(2), Q::scores, Worked({0, 0.3}),
                {"0.799999999999999988897769753748434595763683319091796875",
                 "-0.700000000000000011102230246251565404236316680908203125",
                 "2.26423912339336472343910678245"});
}

// A table that is its own index shows the counted positions.
// The positions are 1.77219783054973212944747046523, 1.14973849934787756480856989948 and
// 0.880797077977882444059729141302, to which the logits are added.
TEST(cope, WorkedPositions) {
  ExpectPrinted(Cope(8), Q::scores, Worked({0, 1, 2, 3, 4, 5, 6, 7}),
                {"2.27219783054973212944747046523", "0.149738499347877564808569899481",
                 "2.8807970779778824440597291413"});
}

// Values that are 1 at one key and 0 elsewhere show its weight.
TEST(cope, WorkedWeights) {
  const std::vector<std::string> weights = {"0.0928011698736142332198206104041",
                                            "0.0385871213613570725643623520862",
                                            "0.86861170876502869421581703751"};
  for (size_t key = 0; key < 3; ++key) {
    NamedInputs inputs = Worked({0, 0.3, -0.7, 1.1});
    std::vector<double> v(3);
    v[key] = 1;
    inputs.tensors["v"] = {{3, 1, 1}, v};
    ExpectPrinted(Cope(4), Q::attention, inputs, {weights[key]});
  }
}

TEST(cope, GatesOfOneHalfCountExactly) {
  NamedInputs inputs = Worked({0, 1, 2, 3}, {5, 6, 7, 8});
  inputs.tensors["q"].values = {0};
  const RoundedValues scores = ExactEquations(Cope(4)).Evaluate(Q::scores, inputs, Dtype::f8e4m3);
  // z is 0 with q: the logits vanish.
  EXPECT_EQ(scores.values, (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(scores.counts.exact, 4);
  // Two channels, of which the keys see one and the table the other.
  inputs.tensors["q"] = {{1, 1, 2}, {0, 1}};
  inputs.tensors["k"] = {{4, 1, 2}, {5, 0, 6, 0, 7, 0, 8, 0}};
  inputs.tensors["embedding"] = {{4, 2}, {0, 0, 0, 1, 0, 4, 0, 9}};
  const RoundedValues counted =
      ExactEquations(Cope(4, {"head_dim=2"})).Evaluate(Q::scores, inputs, Dtype::f8e4m3);
  EXPECT_EQ(counted.values, (std::vector<double>{4, 2.5, 1, 0.5}));
  EXPECT_EQ(counted.counts.exact, 4);
}

TEST(cope, CountsEndAtTheLastRow) {
  const RoundedValues scores =
      ExactEquations(Cope(2)).Evaluate(Q::scores, Worked({0, 8}, {4, 4, 4}), Dtype::f32);
  EXPECT_EQ(scores.values[0], 12);
  EXPECT_EQ(scores.values[1], 12);
  EXPECT_LT(scores.values[2], 12);
  EXPECT_EQ(scores.counts.exact, 2);
}

TEST(cope, PlacementScalesTheLogitOrNot) {
  NamedInputs inputs = Worked({0, 0}, {0});
  inputs.tensors["q"] = {{1, 1, 4}, {1, 1, 1, 1}};
  inputs.tensors["k"] = {{1, 1, 4}, {2, -2, 2, -2}};
  inputs.tensors["embedding"] = {{2, 4}, {1, 1, 1, 1, 3, 3, 3, 3}};  // logits 4 and 12, at 1/2: 8
  const auto score = [&](const std::string& placement) {
    return ExactEquations(Cope(2, {"head_dim=4", "placement=" + placement}))
        .Evaluate(Q::scores, inputs, Dtype::f32)
        .values[0];
  };
  EXPECT_EQ(score("after_scale"), 8);
  EXPECT_EQ(score("before_scale"), 4);
}

TEST(cope, KeysThatDoNotAscendAreRefused) {
  for (const std::vector<double>& wrong :
       {std::vector<double>{1, 0, 2}, {0, 0, 2}, {0, 2, 1}, {-0.0, 0, 1}}) {
    NamedInputs inputs = Worked({0, 1});
    inputs.tensors["key_positions"].values = wrong;
    EXPECT_NE(Refusal([&] { ExactEquations(Cope(2)).CheckInputs(Q::scores, inputs); }), "");
  }
  for (const int64_t wrong : {1, 0, -1, (1 << 20) + 1}) {
    EXPECT_NE(Refusal([&] { Cope(wrong); }), "") << wrong;
  }
}

const std::vector<double> kPositions = {0, 1, 2, 17, 255, 257, 4095, 131071};

TEST(cope, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"heads=4", "head_dim=8", "num_positions=5", "placement=before_scale"},
           {"heads=4", "head_dim=8"},
           {"heads=3", "head_dim=5", "num_positions=2", "causal=false"},
           {"heads=2", "head_dim=16", "num_positions=9", "scale=one"}}) {
    ExpectContractsKept(ParseScheme("cope", settings), kPositions);
  }
}

TEST(cope, FaultyKernelsBreakTheirContracts) {
  const Scheme faulty =
      ParseScheme("cope", {"heads=4", "head_dim=8", "num_positions=5", "placement=before_scale"});
  ExpectContractBroken(faulty, "count_exclusive", "scores", kPositions);
  ExpectContractBroken(faulty, "count_from_start", "scores", kPositions);
  ExpectContractBroken(faulty, "count_unmasked", "scores", kPositions);
  ExpectContractBroken(faulty, "interpolation_swapped", "scores", kPositions);
  ExpectContractBroken(faulty, "interpolation_unbalanced", "scores", kPositions);
  ExpectContractBroken(faulty, "placement_swapped", "scores", kPositions);
  ExpectContractBroken(faulty, "no_mask", "scores", kPositions);
  ExpectContractBroken(faulty, "count_exclusive", "attention", kPositions);
  ExpectContractBroken(faulty, "count_from_start", "attention", kPositions);
  ExpectContractBroken(faulty, "count_unmasked", "attention", kPositions);
  ExpectContractBroken(faulty, "interpolation_swapped", "attention", kPositions);
  ExpectContractBroken(faulty, "interpolation_unbalanced", "attention", kPositions);
  ExpectContractBroken(faulty, "placement_swapped", "attention", kPositions);
}

TEST(cope, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(cope::AnyParams())); }

TEST(cope, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*cope::AnyParams()).Validate(); }));
}

// 3000 gates of one half: binary16 would stop counting at 2048, in steps of one from there on.
TEST(cope, LongSumsOfGatesStayExact) {
  constexpr int64_t kKeys = 3000;
  const Scheme scheme = Cope(4096, {"head_dim=2"});
  NamedInputs inputs{{{"query_positions", List({kKeys - 1})},
                      {"key_positions", Consecutive(kKeys)},
                      {"q", {{1, 1, 2}, {0, 1}}},
                      {"k", {{kKeys, 1, 2}, std::vector<double>(2 * kKeys, 0)}},
                      {"embedding", {{4096, 2}, {}}}}};
  for (int64_t n = 0; n < 4096; ++n) {
    inputs.tensors["embedding"].values.insert(inputs.tensors["embedding"].values.end(),
                                              {0, n < 1500 ? 0.0 : 1.0});
  }
  for (const std::string dtype : {"f64", "f32", "bf16", "f16"}) {
    const std::vector<double> scores =
        Subject(AnyKernel("fast.scores.cope." + dtype), scheme).Evaluate(inputs).Values();
    // Position of key j is (3000 - j)/2: 1500 at the first key, 1499 1/2 at the second.
    EXPECT_EQ(scores[0], 1) << dtype;
    EXPECT_EQ(scores[1], 0.5) << dtype;
    EXPECT_EQ(scores[2], 0) << dtype;
  }
}

// 128 gates of 2.3e-8 on top of one of 0.98: a sum in binary32 that begins with the large one loses
// every one of the others, which one from the last key on keeps. Kernels scan in any order.
TEST(cope, TheBoundHoldsForScansInAnyOrder) {
  std::vector<double> logits(129, -17.625);
  logits[0] = 4;
  const auto gate = [](double logit) { return 1 / (1 + std::exp(-logit)); };
  float scanned = 0;
  double position = 0;
  for (const double logit : logits) {
    scanned += static_cast<float>(gate(logit));
    position += gate(logit);
  }
  ASSERT_EQ(scanned, static_cast<float>(gate(4)));
  const Contract contract = Contract::Parse(
      "position=exact trig=1ulp:f32 rotate=f32 accumulate=f32 store=f32:rne flush=no", Dtype::f32);
  const EquationLimit limit = EquationBound(contract, Cope(4))
                                  .Limits(Q::scores, Worked({0, 1, 2, 3}, logits), {1, 1, 129})[0];
  const double score = static_cast<double>(4.0f + scanned);
  EXPECT_GT(std::fabs(score - (4 + position)), 0x1p-19);
  EXPECT_LE(std::fabs(score - (4 + position)), limit.stored);
  EXPECT_LT(limit.stored, 0x1p-16);
}

// A gate that is not a number makes scores that are not, of the keys that count it.
TEST(cope, NanCountsOn) {
  for (const std::string dtype : {"f64", "f32", "bf16", "f16"}) {
    NamedInputs inputs = Worked({0, 1, 2, 3}, {0, std::nan(""), 0, 0});
    const std::vector<double> scores =
        Subject(AnyKernel("fast.scores.cope." + dtype), Cope(4)).Evaluate(inputs).Values();
    EXPECT_TRUE(std::isnan(scores[0]) && std::isnan(scores[1])) << dtype;
    EXPECT_EQ(scores[2], 1) << dtype;
    EXPECT_EQ(scores[3], 0.5) << dtype;
  }
}

TEST(cope, EveryTargetKeepsItsContract) {
  const Scheme scheme = Cope(6, {"head_dim=13", "placement=before_scale"});
  for (const std::string& target : fast::Targets()) {
    fast::UseTarget(target);
    ExpectContractsKept(scheme, {0, 1, 17, 4095});
  }
  fast::UseTarget("");
}

}  // namespace
}  // namespace posgauge
