#include "posgauge/properties/xpos.h"

#include <gtest/gtest.h>

#include "attention_checks.h"
#include "attention_values.h"
#include "posgauge/fast/xpos.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/reference/interval.h"
#include "posgauge/schemes/rope.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

// One head of one query and one key, unscaled.
NamedInputs OnePair(double query, double key, const std::vector<double>& q,
                    const std::vector<double>& k) {
  const auto width = static_cast<int64_t>(q.size());
  return {{{"query_positions", List({query})},
           {"key_positions", List({key})},
           {"q", {{1, 1, width}, q}},
           {"k", {{1, 1, width}, k}}}};
}

Scheme Xpos(const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = {"heads=1", "head_dim=4", "scale=one"};
  settings.insert(settings.end(), more.begin(), more.end());
  return ParseScheme("xpos", settings);
}

const std::vector<double> kQ = {1, 0.5, 0.8, 0.3}, kK = {0.2, -1, 0.4, 0.6};

// Thirty digits by mpmath, with the binary64 numbers nearest to 0.8, 0.3, ... and gamma = 0.4; of
// the decimals it is -0.0133729931155240872822614752146, which parts at the fourteenth digit.
TEST(xpos, WorkedScoreOfTwoPlacesAtOneOffset) {
  for (const auto& [query, key] : {std::pair(700, 300), std::pair(401, 1)}) {
    ExpectPrinted(Xpos(), Q::scores, OnePair(query, key, kQ, kK),
                  {"-0.0133729931155240917361165136125"});
  }
}

// One pair each: zeta^(100/512) is 0.782954834501327968... and 0.917323159399417041..., times the
// cosines of 100 and of 100/100.
TEST(xpos, WorkedFactorsOfBothPairs) {
  ExpectPrinted(Xpos(), Q::scores, OnePair(100, 0, {1, 0, 0, 0}, {1, 0, 0, 0}),
                {"0.675156729939375343043282699822"});
  ExpectPrinted(Xpos(), Q::scores, OnePair(100, 0, {0, 0, 1, 0}, {0, 0, 1, 0}),
                {"0.495631818249752111676162639780"});
}

// Pairs (0, 2) and (1, 3), the fifth channel standing still; 7.5 - 0.1 from the exact difference.
TEST(xpos, HalfPairsAndAStillChannelAtAFractionalOffset) {
  const NamedInputs inputs = OnePair(7.5, 0.1, {1, 2, 0.5, -1, 0.25}, {1, -1, 2, 0.5, 3});
  ExpectPrinted(Xpos({"head_dim=5", "rotary_dim=4", "pairing=half"}), Q::scores, inputs,
                {"0.457942028643629117918597366892"});
  ExpectPrinted(ParseScheme("xpos", {"heads=1", "head_dim=5", "rotary_dim=4", "pairing=half"}),
                Q::scores, inputs, {"0.204797901160262104622266594794"});
}

// What fades before the query grows after it.
TEST(xpos, KeysAfterTheQueryGrow) {
  ExpectPrinted(Xpos({"causal=false"}), Q::scores, OnePair(1, 4, kQ, kK),
                {"0.945805692816796540677854036364"});
}

TEST(xpos, AtItsOwnPositionAKeyIsThePlainProductExactly) {
  const RoundedValues score = ExactEquations(Xpos()).Evaluate(
      Q::scores, OnePair(131071, 131071, {1, 0.5, 2, 0.25}, {0.25, -1, 0.5, 4}), Dtype::f16);
  EXPECT_EQ(score.values[0], 1.75);
  EXPECT_EQ(score.proofs[0], Proof::exact);
}

// XP2. Of zeta^(offset/2^100) nothing is left to see in binary64.
TEST(xpos, WithoutFadingScoresAreThoseOfRope) {
  const ExactRotation rope(Scheme(
      rope::Params{.rotary = {.head_dim = 4, .rotary_dim = 4, .pairing = Pairing::interleaved}}));
  for (const double query : {0.0, 1.0, 77.0, 4095.0, 131071.0}) {
    const std::vector<double> queries = {query}, keys = {0};
    EXPECT_EQ(ExactEquations(Xpos({"scale_base=1267650600228229401496703205376"}))
                  .Evaluate(Q::scores, OnePair(query, 0, kQ, kK), Dtype::f64)
                  .values,
              rope.Scores(queries, keys, kQ, kK, 1, 1, Dtype::f64).values);
  }
}

// XP5: zeta rises from gamma/(1 + gamma) and stays below 1, so that of equal vectors every pair has
// faded more than the next, and all at distance D + 1 more than at D.
TEST(xpos, FastPairsFadeMost) {
  const xpos::Params params{.attention = {.heads = 1, .head_dim = 64}};
  xpos::Fading fading(params);
  std::vector<double> before(32, 1);
  for (double distance = 1; distance <= 300; ++distance) {
    const std::vector<double> row = fading.At(distance);
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_LT(row[i], before[i]);
      if (i > 0) {
        EXPECT_GT(row[i], row[i - 1]);
      }
    }
    before = row;
  }
}

// Against the nearest double to a power that is enclosed at 77 decimal digits.
TEST(xpos, FactorsOfTheKernelAreWithinTwoUlp) {
  using I = Interval<77>;
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {}, {"scale_base=1.5"}, {"scale_base=30", "gamma=0.01"}, {"gamma=1000"}}) {
    const auto params = std::get<xpos::Params>(Xpos(more));
    xpos::Fading fading(params);
    for (const double offset : {0.0, 1.0, 63.0, 64.0, 65.0, 100.0, 127.5, 511.0, 512.0, 701.0,
                                131071.0, -1.0, -63.0, -64.0, -100.0, -431.0}) {
      const std::vector<double> got = fading.At(offset);
      ASSERT_EQ(got.size(), 2U);
      for (int pair = 0; pair < 2; ++pair) {
        const I gamma(params.gamma);
        const I zeta = (I(2 * pair) / I(4) + gamma) / (I(1) + gamma);
        const I power = Power(zeta, I(offset) / I(params.scale_base));
        const double nearest = mpfr_get_d(I::Ptr(power.lo()), MPFR_RNDN);
        const double ulp = std::nextafter(nearest, HUGE_VAL) - nearest;
        EXPECT_LE(std::fabs(got[static_cast<size_t>(pair)] - nearest), 2 * ulp)
            << Text(Scheme(params)) << " " << offset << " " << pair;
      }
    }
  }
}

TEST(xpos, ParametersOutsideTheirDomainAreRefused) {
  for (const std::string wrong :
       {"scale_base=0", "scale_base=-512", "gamma=0", "gamma=-1", "rotary_dim=3", "rotary_dim=6",
        "rotary_dim=-2", "base=0", "pairing=thirds"}) {
    EXPECT_NE(Refusal([&] { Xpos({wrong}); }), "") << wrong;
  }
  EXPECT_EQ(Refusal([&] { Xpos({"head_dim=5"}); }),
            "xpos.rotary_dim must be even and in 0..5 (head_dim), got 5");
}

const std::vector<double> kPositions = {0, 1, 2, 17, 255, 257, 4095, 131071};

TEST(xpos, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"heads=4", "head_dim=16"},
           {"heads=3", "head_dim=5", "rotary_dim=4", "pairing=half", "scale_base=8"},
           {"heads=2", "head_dim=40", "rotary_dim=34", "causal=false", "gamma=3", "base=100"},
           {"heads=2", "head_dim=4", "scale=one", "scale_base=1e9"}}) {
    ExpectContractsKept(ParseScheme("xpos", settings), kPositions);
  }
}

TEST(xpos, FaultyKernelsBreakTheirContracts) {
  const Scheme faulty = ParseScheme("xpos", {"heads=4", "head_dim=8", "scale_base=8"});
  for (const char* fault :
       {"fading_ignored", "fading_rises", "centres_differ", "pairing_swapped"}) {
    ExpectContractBroken(faulty, fault, "scores", kPositions);
    ExpectContractBroken(faulty, fault, "attention", kPositions);
  }
}

// Keys of a cache keep the centre of the length that they were written at. One centre cancels,
// whatever it is; two do not.
TEST(xpos, OnlyASharedCentreCancels) {
  const double zeta[] = {0.4 / 1.4, 0.9 / 1.4};
  const auto with_centres = [&](double query_centre, double key_centre) {
    std::vector<double> q = kQ, k = kK;
    for (size_t c = 0; c < 4; ++c) {
      q[c] *= std::pow(zeta[c / 2], (700 - query_centre) / 512);
      k[c] *= std::pow(zeta[c / 2], (key_centre - 300) / 512);
    }
    const ExactRotation rope(Scheme(
        rope::Params{.rotary = {.head_dim = 4, .rotary_dim = 4, .pairing = Pairing::interleaved}}));
    const std::vector<double> queries = {700}, keys = {300};
    return rope.Scores(queries, keys, q, k, 1, 1, Dtype::f64).values[0];
  };
  const double exact =
      ExactEquations(Xpos()).Evaluate(Q::scores, OnePair(700, 300, kQ, kK), Dtype::f64).values[0];
  // Powers within 2 ulp and their exponents, products of size 1: 64 units of 2^-53 in all.
  EXPECT_LE(std::fabs(with_centres(350, 350) - exact), 64 * 0x1p-53);
  EXPECT_LE(std::fabs(with_centres(512, 512) - exact), 64 * 0x1p-53);
  EXPECT_GT(std::fabs(with_centres(512, 350) - exact), 1e-3);
}

TEST(xpos, ScoresKeepTheirContractsOnEveryTarget) {
  const Scheme scheme = ParseScheme("xpos", {"heads=2", "head_dim=40", "rotary_dim=34"});
  for (const std::string& target : fast::Targets()) {
    fast::UseTarget(target);
    for (const char* dtype : {"f64", "f32", "bf16"}) {
      const KernelInfo info = AnyKernel(fmt::format("fast.scores.xpos.{}", dtype));
      const Verdict verdict =
          CheckKernels({Subject(info, scheme)}, {.positions = kPositions})[0].keeps_contract;
      EXPECT_EQ(verdict.outcome, Outcome::pass) << target << " " << Line(verdict);
    }
  }
  fast::UseTarget("");
}

TEST(xpos, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(xpos::AnyParams())); }

TEST(xpos, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*xpos::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
