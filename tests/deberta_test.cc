#include "posgauge/properties/deberta.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <boost/multiprecision/gmp.hpp>

#include "attention_values.h"
#include "bias_checks.h"
#include "posgauge/fast/deberta.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;
using Integer = boost::multiprecision::mpz_int;

// Published and other settings, with the smallest distances of the logarithmic rows added up: by
// /usr/bin/python3 with mpmath's logarithms at 100 digits, ties by rational powers.
struct Setting {
  int64_t position_buckets, max_position, sum;
  std::vector<int64_t> first = {};  // of the logarithmic rows, where they are few
};
const std::vector<Setting> kSettings = {
    {32, 128, 758, {17, 19, 22, 25, 28, 32, 37, 43, 49, 56, 64, 74, 84, 97, 111}},
    {48, 256, 2150, {25, 27, 30,  33,  37,  41,  45,  50,  55,  61,  68, 75,
                     83, 92, 102, 113, 125, 138, 153, 170, 188, 208, 231}},
    {64, 256, 3237, {33, 35,  37,  40,  42,  45,  48,  52,  55,  59,  63,  67,  72,  77,  82, 88,
                     94, 100, 107, 115, 123, 131, 140, 150, 160, 171, 183, 196, 209, 224, 239}},
    {8, 32, 29, {5, 8, 16}},
    {128, 512, 13366},
    {256, 512, 35007},
    {256, 1024, 54300},
    {512, 1024, 140920}};

Scheme SchemeOf(const Setting& setting, const std::string& far) {
  return ParseScheme("deberta", {"heads=1", "head_dim=1", "far=" + far,
                                 fmt::format("position_buckets={}", setting.position_buckets),
                                 fmt::format("max_position={}", setting.max_position)});
}

// Rows beside that of distance 0, [max_position], by walking up: in whole numbers, a row is left
// where n^E passes last^c mid^(E - c).
std::vector<int64_t> Beside(const Setting& setting) {
  const auto power = [](int64_t base, int64_t exponent) {
    return Integer(boost::multiprecision::pow(Integer(base), static_cast<unsigned>(exponent)));
  };
  const int64_t mid = setting.position_buckets / 2, last = setting.max_position - 1;
  const int64_t steps = mid - 1;
  std::vector<int64_t> beside;
  int64_t c = 0;
  for (int64_t n = 0; n <= last; ++n) {
    while (n > mid && power(n, steps) > power(last, c) * power(mid, steps - c)) ++c;
    beside.push_back(n <= mid ? n : mid + c);
  }
  return beside;
}

// Of one query at 0.
std::vector<int64_t> Rows(const Scheme& scheme, std::vector<double> keys) {
  return ExactEquations(scheme).Buckets(
      {{{"query_positions", List({0})}, {"key_positions", List(std::move(keys))}}});
}

int64_t Expected(const Setting& setting, const std::vector<int64_t>& beside, int64_t relative,
                 bool clamps) {
  const int64_t span = setting.position_buckets, last = setting.max_position - 1;
  const int64_t distance = std::abs(relative);
  const int64_t of = distance <= last ? beside[static_cast<size_t>(distance)]
                     : clamps         ? beside.back()
                                      : span;
  return std::clamp(relative < 0 ? span - of : span + of, int64_t{0}, 2 * span - 1);
}

TEST(deberta, RowsBeginWhereLogarithmsSay) {
  for (const Setting& setting : kSettings) {
    const std::vector<int64_t> beside = Beside(setting);
    std::vector<int64_t> first;
    for (size_t n = 1; n < beside.size(); ++n) {
      if (beside[n] > setting.position_buckets / 2 && beside[n] != beside[n - 1]) {
        first.push_back(static_cast<int64_t>(n));
      }
    }
    EXPECT_EQ(std::accumulate(first.begin(), first.end(), int64_t{0}), setting.sum);
    if (!setting.first.empty()) {
      EXPECT_EQ(first, setting.first);
    }
    EXPECT_EQ(beside.back(), setting.position_buckets - 1);  // the tie
  }
}

TEST(deberta, RowsOfEveryDistanceToAMillionSlow) {
  constexpr int64_t kLast = 1 << 20;
  const KernelInfo info = AnyKernel("fast.buckets.deberta.i32");
  for (const Setting& setting : kSettings) {
    const std::vector<int64_t> beside = Beside(setting);
    for (const bool clamps : {true, false}) {
      const Scheme scheme = SchemeOf(setting, clamps ? "clamp" : "bucket");
      for (const int64_t sign : {1, -1}) {
        std::vector<double> keys;
        for (int64_t n = 0; n <= kLast; ++n) keys.push_back(static_cast<double>(sign * n));
        const std::vector<int64_t> rows = Rows(scheme, keys);
        const Tensor fast =
            Subject(info, scheme)
                .Evaluate({{{"query_positions", List({0})}, {"key_positions", List(keys)}}});
        ASSERT_EQ(std::ssize(rows), kLast + 1);
        for (int64_t n = 0; n <= kLast; ++n) {
          const int64_t expected = Expected(setting, beside, -sign * n, clamps);
          ASSERT_EQ(rows[static_cast<size_t>(n)], expected) << Text(scheme) << " " << sign * n;
          ASSERT_EQ(fast.Value(static_cast<size_t>(n)), static_cast<double>(expected))
              << Text(scheme) << " " << sign * n;
        }
      }
    }
  }
}

TEST(deberta, WorkedRows) {
  std::vector<double> keys;
  for (const double n : {127, 128, 129, 130, 132, 200, 256, 300, 400, 500, 510, 511}) {
    keys.push_back(-n);
  }
  const Scheme scheme = ParseScheme("deberta", {"heads=1"});
  std::vector<int64_t> beside = Rows(scheme, keys);
  for (int64_t& row : beside) row -= 256;
  EXPECT_EQ(beside,
            (std::vector<int64_t>{127, 128, 129, 130, 131, 169, 192, 207, 233, 254, 255, 255}));
}

// microsoft/DeBERTa clamps distances first, transformers does not; before the query both have the
// last row.
TEST(deberta, FarKeysAfterTheQueryHaveRowOneOrZero) {
  const std::vector<double> keys = {510, 511, 512, 1e6, 0x1p53 - 1, -511, -512, -1e6, 1 - 0x1p53};
  EXPECT_EQ(Rows(ParseScheme("deberta", {"heads=1"}), keys),
            (std::vector<int64_t>{1, 1, 1, 1, 1, 511, 511, 511, 511}));
  EXPECT_EQ(Rows(ParseScheme("deberta", {"heads=1", "far=bucket"}), keys),
            (std::vector<int64_t>{1, 1, 0, 0, 0, 511, 511, 511, 511}));
}

TEST(deberta, WithoutBucketsEveryDistanceHasARow) {
  const Scheme scheme = ParseScheme("deberta", {"heads=1", "position_buckets=0", "max_position=3"});
  EXPECT_EQ(Rows(scheme, {-4, -3, -2, -1, 0, 1, 2, 3, 4}),
            (std::vector<int64_t>{5, 5, 5, 4, 3, 2, 1, 0, 0}));
}

// The starts that every kernel of ours goes by, for many parameters; the reference searches in
// whole numbers.
TEST(deberta, KernelStartsAreTheReferences) {
  for (int64_t buckets : {0, 4, 6, 10, 32, 100, 256}) {
    for (int64_t farthest : {4, 9, 28, 65, 82, 129, 244, 257, 513, 626, 4097, 65537, 59050}) {
      for (const auto far : {deberta::Far::clamp, deberta::Far::bucket}) {
        deberta::Params params;
        params.position_buckets = buckets;
        params.max_position = farthest;
        params.far = far;
        if (farthest <= buckets / 2 + 1) continue;
        const auto exact = ExactEquations(params).ReadyMade("thresholds", Dtype::f64);
        EXPECT_EQ(deberta::RowStarts(params), exact->values) << buckets << " " << farthest;
      }
    }
  }
  // Longest logarithm.
  const deberta::Params longest{.position_buckets = 64, .max_position = int64_t{1} << 31};
  EXPECT_EQ(deberta::RowStarts(longest),
            ExactEquations(longest).ReadyMade("thresholds", Dtype::f64)->values);
}

// d_h = 2: (1 + 1 + 2)/sqrt 6 by mpmath; each term alone; and the scale of two terms.
TEST(deberta, WorkedScores) {
  const NamedInputs inputs{{{"query_positions", List({0})},
                            {"key_positions", List({0})},
                            {"q", {{1, 1, 2}, {1, 2}}},
                            {"k", {{1, 1, 2}, {3, -1}}},
                            {"position_keys", {{1, 2, 2}, {9, 9, 0.5, 0.25}}},
                            {"position_queries", {{1, 2, 2}, {9, 9, 1, 1}}}}};
  const std::vector<std::string> settings = {"heads=1", "head_dim=2", "position_buckets=0",
                                             "max_position=1"};
  const auto with = [&](std::string more) {
    std::vector<std::string> all = settings;
    all.push_back(std::move(more));
    return ParseScheme("deberta", all);
  };
  const auto without = [&](const char* name) {
    NamedInputs fewer = inputs;
    fewer.tensors.erase(name);
    return fewer;
  };
  ExpectPrinted(ParseScheme("deberta", settings), Q::scores, inputs,
                {"1.6329931618554520654648560498"});
  ExpectPrinted(with("p2c=false"), Q::scores, without("position_queries"), {"1"});
  ExpectPrinted(with("c2p=false"), Q::scores, without("position_keys"), {"1.5"});
  ExpectPrinted(with("scale=one"), Q::scores, inputs, {"4"});
}

// The paper's keys meet the opposite position.
TEST(deberta, TheReversedIndexIsTheOppositeRow) {
  const NamedInputs inputs{{{"query_positions", List({1})},
                            {"key_positions", Consecutive(3)},
                            {"q", {{1, 1, 1}, {0}}},
                            {"k", {{3, 1, 1}, {1, 1, 1}}},
                            {"position_queries", {{1, 4, 1}, {1, 2, 4, 8}}}}};
  const std::vector<std::string> settings = {"heads=1",        "head_dim=1", "position_buckets=0",
                                             "max_position=2", "c2p=false",  "scale=one"};
  std::vector<std::string> reversed = settings;
  reversed.emplace_back("p2c_index=reversed");
  const auto scores = [&](const std::vector<std::string>& of) {
    return ExactEquations(ParseScheme("deberta", of))
        .Evaluate(Q::scores, inputs, Dtype::f64)
        .values;
  };
  EXPECT_EQ(scores(settings), (std::vector<double>{8, 4, 2}));
  EXPECT_EQ(scores(reversed), (std::vector<double>{2, 4, 8}));
}

TEST(deberta, WhatHasNoRowsIsRefused) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"position_buckets=2"},
                                             {"position_buckets=7"},
                                             {"position_buckets=-4"},
                                             {"position_buckets=4098"},
                                             {"max_position=129"},
                                             {"max_position=2147483649"},
                                             {"position_buckets=0", "max_position=0"},
                                             {"position_buckets=0", "max_position=1048577"},
                                             {"p2c_index=both"}}) {
    EXPECT_NE(Refusal([&] { ParseScheme("deberta", wrong); }), "") << wrong.front();
  }
  EXPECT_EQ(Refusal([] { ParseScheme("deberta", {"max_position=130"}); }), "");
  EXPECT_NE(Refusal([] { Rows(ParseScheme("deberta", {"heads=1"}), {0.5}); }), "");
}

const std::vector<double> kPositions = {0, 1, 2, 17, 255, 257, 4095, 131071};

const std::vector<std::vector<std::string>> kConventions = {
    {"heads=4", "head_dim=8", "position_buckets=16", "max_position=64"},
    {"heads=2", "head_dim=5", "position_buckets=0", "max_position=6", "p2c_index=reversed"},
    {"heads=3", "head_dim=4", "position_buckets=8", "max_position=4096", "far=bucket", "p2c=false"},
    {"heads=2", "head_dim=13", "position_buckets=4", "max_position=9", "c2p=false", "causal=true",
     "scale=one"}};

TEST(deberta, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const auto& settings : kConventions) {
    // Rows of both libraries; scores and attention in four dtypes.
    ExpectContractsKept(ParseScheme("deberta", settings), 18U, kPositions);
  }
}

TEST(deberta, EveryTargetKeepsItsContract) {
  for (const std::string& target : fast::Targets()) {
    fast::UseTarget(target);
    ExpectContractsKept(ParseScheme("deberta", kConventions[1]), 18U, {0, 1, 17, 4095});
  }
  fast::UseTarget("");
}

TEST(deberta, FaultyKernelsBreakTheirContracts) {
  ExpectFaultsBreakContracts(
      ParseScheme("deberta", {"heads=4", "head_dim=8", "position_buckets=16", "max_position=64",
                              "p2c_index=reversed"}),
      {"rows_swapped", "tie_raised", "far_unclamped", "after_short", "terms_uncounted",
       "p2c_index_ignored", "table_normalised", "score_scale"},
      kPositions);
}

TEST(deberta, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(deberta::AnyParams())); }

TEST(deberta, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*deberta::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
