#include <algorithm>

#include <gtest/gtest.h>

#include "attention_values.h"
#include "bias_checks.h"
#include "posgauge/fast/t5.h"
#include "posgauge/properties/t5.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

// Published and other settings. `first` has the smallest distance of every bucket above the exact
// ones and the first logarithmic one (which begins where its number says); several buckets may
// begin at once, of which the lower ones are empty. `ties` are the distances where the logarithm is
// a whole number of steps, which an implementation in floating point may drop by one. By
// /usr/bin/python3 with whole numbers: bucket m + k or above if n^E m^k >= max_distance^k m^E.
struct Setting {
  int64_t num_buckets, max_distance;
  bool bidirectional;
  std::vector<int64_t> first, ties;
  int64_t DirectionBuckets() const { return bidirectional ? num_buckets / 2 : num_buckets; }
  int64_t ExactBuckets() const { return DirectionBuckets() / 2; }
  // Of distance n, without the direction.
  int64_t Bucket(int64_t n) const {
    if (n <= ExactBuckets()) return n;
    return ExactBuckets() + std::ranges::count_if(first, [n](int64_t begin) { return begin <= n; });
  }
};

const std::vector<Setting> kSettings = {
    {32, 128, true, {12, 16, 23, 32, 46, 64, 91}, {16, 32, 64}},
    {32, 128, false, {19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113}, {}},
    {64,
     256,
     true,
     {20, 23, 27, 32, 39, 46, 54, 64, 77, 91, 108, 128, 153, 182, 216},
     {32, 64, 128}},
    {32,
     256,
     false,
     {20, 23, 27, 32, 39, 46, 54, 64, 77, 91, 108, 128, 153, 182, 216},
     {32, 64, 128}},
    {320,
     800,
     true,
     {83,  85,  88,  90,  93,  96,  98,  101, 104, 107, 110, 114, 117, 120, 124, 127,
      131, 135, 139, 143, 147, 151, 156, 160, 165, 170, 175, 180, 185, 190, 196, 201,
      207, 213, 220, 226, 233, 239, 246, 253, 261, 268, 276, 284, 293, 301, 310, 319,
      328, 338, 348, 358, 368, 379, 390, 401, 413, 425, 438, 450, 464, 477, 491, 505,
      520, 535, 551, 567, 583, 600, 618, 636, 655, 674, 693, 714, 734, 756, 778},
     {}},
    {32, 256, true, {13, 20, 30, 46, 70, 108, 166}, {}},
    {32, 1024, true, {15, 27, 50, 91, 166, 305, 559}, {}},
    {32, 512, true, {14, 23, 39, 64, 108, 182, 305}, {64}},
    {32, 2048, true, {16, 32, 64, 128, 256, 512, 1024}, {16, 32, 64, 128, 256, 512, 1024}},
    {32, 512, false, {20, 25, 31, 39, 48, 59, 73, 91, 113, 140, 174, 216, 268, 332, 413}, {}},
    {32, 2048, false, {22, 30, 40, 54, 73, 99, 134, 182, 246, 332, 450, 609, 825, 1117, 1513}, {}},
    {64, 512, true, {20, 25, 31, 39, 48, 59, 73, 91, 113, 140, 174, 216, 268, 332, 413}, {}},
    {32, 1024, false, {21, 27, 35, 46, 59, 77, 99, 128, 166, 216, 280, 363, 470, 609, 790}, {128}},
    {64, 1024, true, {21, 27, 35, 46, 59, 77, 99, 128, 166, 216, 280, 363, 470, 609, 790}, {128}},
    {64,
     512,
     false,
     {35,  39,  42,  46,  50,  54,  59,  64,  70,  77,  83,  91,  99,  108, 118, 128,
      140, 153, 166, 182, 198, 216, 235, 256, 280, 305, 332, 363, 395, 431, 470},
     {64, 128, 256}},
    {128,
     512,
     true,
     {35,  39,  42,  46,  50,  54,  59,  64,  70,  77,  83,  91,  99,  108, 118, 128,
      140, 153, 166, 182, 198, 216, 235, 256, 280, 305, 332, 363, 395, 431, 470},
     {64, 128, 256}},
    {256,
     1024,
     true,
     {67,  70,  73,  77,  80,  83,  87,  91,  95,  99,  104, 108, 113, 118, 123, 128,
      134, 140, 146, 153, 159, 166, 174, 182, 190, 198, 207, 216, 225, 235, 246, 256,
      268, 280, 292, 305, 318, 332, 347, 363, 379, 395, 413, 431, 450, 470, 491, 512,
      535, 559, 584, 609, 636, 664, 694, 725, 757, 790, 825, 862, 900, 940, 981},
     {128, 256, 512}},
    {16, 64, true, {8, 16, 32}, {8, 16, 32}},
    {8, 32, true, {8}, {8}},
    {8, 800, true, {40}, {40}},
    {16, 800, false, {15, 26, 45, 80, 143, 253, 450}, {80}},
    {32, 800, true, {15, 26, 45, 80, 143, 253, 450}, {80}},
    {32, 20, false, {17, 17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 19, 20, 20, 20}, {}},
    {256,
     130,
     true,
     {65,  66,  67,  67,  68,  69,  70,  70,  71,  72,  73,  74,  74,  75,  76,  77,
      78,  79,  79,  80,  81,  82,  83,  84,  85,  86,  87,  88,  89,  90,  91,  92,
      93,  94,  95,  96,  97,  98,  99,  100, 101, 102, 104, 105, 106, 107, 108, 109,
      111, 112, 113, 114, 116, 117, 118, 119, 121, 122, 123, 125, 126, 128, 129},
     {}},
};

ExactEquations T5(int64_t num_buckets, int64_t max_distance, bool bidirectional) {
  return ExactEquations(ParseScheme("t5", {"heads=1", fmt::format("num_buckets={}", num_buckets),
                                           fmt::format("max_distance={}", max_distance),
                                           fmt::format("bidirectional={}", bidirectional)}));
}

// Of one query at 0.
std::vector<int64_t> Buckets(const ExactEquations& exact, std::vector<double> keys) {
  return exact.Buckets({{{"query_positions", List({0})}, {"key_positions", List(keys)}}});
}

TEST(t5, BucketsOfEveryDistanceToAMillionSlow) {
  constexpr int64_t kLast = 1 << 20;
  for (const Setting& setting : kSettings) {
    SCOPED_TRACE(
        fmt::format("{} {} {}", setting.num_buckets, setting.max_distance, setting.bidirectional));
    const ExactEquations exact =
        T5(setting.num_buckets, setting.max_distance, setting.bidirectional);
    for (const double sign : {1.0, -1.0}) {
      std::vector<double> keys;
      for (int64_t n = 0; n <= kLast; ++n) keys.push_back(sign * static_cast<double>(n));
      const std::vector<int64_t> buckets = Buckets(exact, keys);
      ASSERT_EQ(std::ssize(buckets), kLast + 1);
      for (int64_t n = 0; n <= kLast; ++n) {
        int64_t expected = setting.Bucket(n);
        if (sign > 0 && n > 0) {
          expected = setting.bidirectional ? setting.DirectionBuckets() + expected : 0;
        }
        ASSERT_EQ(buckets[static_cast<size_t>(n)], expected) << sign << " * " << n;
      }
    }
  }
}

TEST(t5, TiesBeginABucket) {
  size_t ties = 0;
  for (const Setting& setting : kSettings) {
    const ExactEquations exact =
        T5(setting.num_buckets, setting.max_distance, setting.bidirectional);
    for (const int64_t tie : setting.ties) {
      const auto n = static_cast<double>(tie);
      const std::vector<int64_t> buckets = Buckets(exact, {-n, 1 - n});
      EXPECT_EQ(buckets[0], buckets[1] + 1) << tie;
      EXPECT_EQ(buckets[0], setting.Bucket(tie)) << tie;
      ++ties;
    }
  }
  EXPECT_EQ(ties, 35U);
}

// The first distance of every bucket, as printed for T5 encoders and decoders.
TEST(t5, PublishedThresholds) {
  const auto thresholds = [](int64_t buckets, int64_t distance, bool bidirectional) {
    std::vector<double> keys;
    for (int n = 0; n <= 1000; ++n) keys.push_back(-n);
    const std::vector<int64_t> all = Buckets(T5(buckets, distance, bidirectional), keys);
    std::vector<int64_t> first;
    for (size_t n = 0; n < all.size(); ++n) {
      if (n == 0 || all[n] != all[n - 1]) first.push_back(static_cast<int64_t>(n));
    }
    return first;
  };
  EXPECT_EQ(thresholds(32, 128, true),
            (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91}));
  EXPECT_EQ(
      thresholds(32, 128, false),
      (std::vector<int64_t>{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                            16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113}));
}

TEST(t5, WorkedBuckets) {
  EXPECT_EQ(Buckets(T5(32, 128, true), {-20, 20, -200, 200, 1, 0}),
            (std::vector<int64_t>{10, 26, 15, 31, 17, 0}));
  EXPECT_EQ(Buckets(T5(32, 128, false), {-20, -128, 3}), (std::vector<int64_t>{17, 31, 0}));
  EXPECT_EQ(Buckets(T5(32, 128, true), Consecutive(12).values),
            (std::vector<int64_t>{0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24}));
}

TEST(t5, FarthestDistancesAndFewestBuckets) {
  const std::vector<double> far = {-0x1p31, 1 - 0x1p31, 1 - 0x1p53, 0x1p53 - 1};
  EXPECT_EQ(Buckets(T5(32, 128, true), far), (std::vector<int64_t>{15, 15, 15, 31}));
  EXPECT_EQ(Buckets(T5(2, 2, false), {0, -1, -2, 1}), (std::vector<int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(Buckets(T5(4, 2, true), {0, -1, -2, 1}), (std::vector<int64_t>{0, 1, 1, 3}));
  // Longest logarithm: bucket 31 of 32 begins at 16 (2^31 / 16)^(15/16) = 2^29.3125 tokens, between
  // 666717336 and the next.
  EXPECT_EQ(Buckets(T5(32, int64_t{1} << 31, false), {-666717336, -666717337}),
            (std::vector<int64_t>{30, 31}));
}

TEST(t5, ScoresAreNotScaledAndGatherTheTable) {
  const Scheme scheme = ParseScheme("t5", {"heads=2", "head_dim=4"});
  ExactTensor table{{32, 2}, {}};
  for (int n = 0; n < 64; ++n) table.values.push_back(n / 8.0);
  const RoundedValues scores =
      ExactEquations(scheme).Evaluate(Q::scores,
                                      {{{"query_positions", List({20})},
                                        {"key_positions", List({0, 40})},
                                        {"q", {{1, 2, 4}, {1, 2, 3, 4, 1, 1, 1, 1}}},
                                        {"k", {{2, 2, 4}, std::vector<double>(16, 1)}},
                                        {"table", table}}},
                                      Dtype::f32);
  // Buckets 10 and 26: rows (20, 21)/8 and (52, 53)/8.
  EXPECT_EQ(scores.values, (std::vector<double>{10 + 2.5, 10 + 6.5, 4 + 2.625, 4 + 6.625}));
  EXPECT_EQ(scores.counts.exact, 4);
}

TEST(t5, WhatHasNoBucketsIsRefused) {
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"num_buckets=3"},
                                             {"num_buckets=1", "bidirectional=false"},
                                             {"num_buckets=0"},
                                             {"num_buckets=-32"},
                                             {"num_buckets=4097"},
                                             {"max_distance=8"},
                                             {"max_distance=16", "bidirectional=false"},
                                             {"max_distance=0"},
                                             {"max_distance=2147483649"}}) {
    EXPECT_NE(Refusal([&] { ParseScheme("t5", wrong); }), "") << wrong.front();
  }
  EXPECT_EQ(Refusal([] { ParseScheme("t5", {"max_distance=9"}); }), "");
  const ExactEquations exact = T5(32, 128, true);
  for (const double wrong : {0.5, -1.25, 0x1p53, -0x1p60, HUGE_VAL, std::nan("")}) {
    EXPECT_NE(Refusal([&] { Buckets(exact, {wrong}); }), "") << wrong;
  }
}

// The starts that every kernel of ours goes by.
TEST(t5, KernelStartsAreExactInEverySetting) {
  for (const Setting& setting : kSettings) {
    t5::Params params;
    params.num_buckets = setting.num_buckets;
    params.max_distance = setting.max_distance;
    params.bidirectional = setting.bidirectional;
    const std::vector<double> starts = t5::BucketStarts(params);
    ASSERT_EQ(std::ssize(starts), setting.DirectionBuckets());
    for (int64_t bucket = 0; bucket <= setting.ExactBuckets(); ++bucket) {
      EXPECT_EQ(starts[static_cast<size_t>(bucket)], static_cast<double>(bucket));
    }
    for (size_t i = 0; i < setting.first.size(); ++i) {
      EXPECT_EQ(starts[static_cast<size_t>(setting.ExactBuckets()) + 1 + i],
                static_cast<double>(setting.first[i]));
    }
  }
}

// Powers of whole numbers among them, whose starts are whole in many buckets. The reference
// searches in whole numbers.
TEST(t5, KernelStartsAreTheReferencesForManyParameters) {
  for (int64_t buckets : {2, 3, 5, 8, 12, 31, 32, 64, 160, 512}) {
    for (int64_t distance : {9, 27, 81, 100, 128, 243, 256, 257, 343, 625, 1000, 1296, 2401, 4096,
                             65536, 1000000, 59049 * 16, 1 << 30}) {
      t5::Params params;
      params.num_buckets = buckets;
      params.max_distance = distance;
      params.bidirectional = false;
      if (distance <= params.ExactBuckets()) continue;
      const auto exact = ExactEquations(params).ReadyMade("thresholds", Dtype::f64);
      EXPECT_EQ(t5::BucketStarts(params), exact->values) << buckets << " " << distance;
    }
  }
}

TEST(t5, KernelBucketsOfEveryDistanceToAMillionSlow) {
  constexpr int64_t kLast = 1 << 20;
  const KernelInfo info = AnyKernel("fast.buckets.t5.i32");
  for (const Setting& setting : kSettings) {
    const Scheme scheme =
        ParseScheme("t5", {"heads=1", fmt::format("num_buckets={}", setting.num_buckets),
                           fmt::format("max_distance={}", setting.max_distance),
                           fmt::format("bidirectional={}", setting.bidirectional)});
    const Subject subject(info, scheme);
    for (const double sign : {1.0, -1.0}) {
      std::vector<double> keys;
      for (int64_t n = 0; n <= kLast; ++n) keys.push_back(sign * static_cast<double>(n));
      const Tensor buckets =
          subject.Evaluate({{{"query_positions", List({0})}, {"key_positions", List(keys)}}});
      for (int64_t n = 0; n <= kLast; ++n) {
        int64_t expected = setting.Bucket(n);
        if (sign > 0 && n > 0) {
          expected = setting.bidirectional ? setting.DirectionBuckets() + expected : 0;
        }
        ASSERT_EQ(buckets.Value(static_cast<size_t>(n)), static_cast<double>(expected))
            << Text(scheme) << " " << sign << " * " << n;
      }
    }
  }
}

TEST(t5, KernelsRefuseFractionalPositions) {
  const Subject subject(AnyKernel("fast.buckets.t5.i32"), ParseScheme("t5", {"heads=1"}));
  EXPECT_THROW(subject.Evaluate({{{"query_positions", List({0.5})}, {"key_positions", List({0})}}}),
               Unsupported);
}

const std::vector<std::vector<std::string>> kConventions = {
    {"heads=3", "head_dim=5"},
    {"heads=2", "head_dim=16", "causal=true", "bidirectional=false", "scale=inverse_sqrt"},
    {"heads=2", "head_dim=4", "num_buckets=33", "max_distance=1000"},
    {"heads=1", "head_dim=4", "max_distance=2147483648"}};

TEST(t5, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const auto& settings : kConventions) {
    ExpectContractsKept(ParseScheme("t5", settings), 26U);
  }
}

TEST(t5, BiasesAreAdequate) {
  for (const auto& settings : kConventions) {
    ExpectAdequateBiases(ParseScheme("t5", settings), {"f64", "f32", "bf16", "f16"});
  }
}

TEST(t5, BiasesKeepTheirContractsOnEveryTarget) {
  for (const auto& settings : kConventions) {
    ExpectContractsKeptOnEveryTarget(ParseScheme("t5", settings));
  }
}

TEST(t5, FaultyKernelsBreakTheirContracts) {
  ExpectFaultsBreakContracts(
      ParseScheme("t5", {"heads=3", "head_dim=4"}),
      {"tie_lost", "direction_swapped", "off_by_one", "unclamped", "distance_int16",
       "table_transposed", "buckets_blended", "score_scale"},
      {0, 1, 16, 64, 4095, 65536});
}

TEST(t5, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(t5::AnyParams())); }

TEST(t5, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*t5::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
