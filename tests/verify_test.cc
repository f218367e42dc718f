// The engine of a check: statistics, plans, judgements, kernels' descriptors, ids, files, reports.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <gtest/gtest.h>

#include "posgauge/verify/case_file.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/judge.h"
#include "posgauge/verify/library.h"
#include "posgauge/verify/plan.h"
#include "posgauge/verify/random.h"
#include "posgauge/verify/report.h"
#include "posgauge/verify/repro.h"
#include "posgauge/verify/safetensors.h"

namespace posgauge {
namespace {

std::string SchemeNames() {
  std::vector<std::string> names;
  for (const SchemeInfo& info : AllSchemes()) names.push_back(info.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What `act` is refused with, or "accepted".
template <class Act>
std::string Refusal(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// ---------------------------------------------------------------------------- statistics

std::vector<double> Uses(size_t count) {
  Random random(5, "uses");
  std::vector<double> uses;
  for (size_t i = 0; i < count; ++i) {
    uses.push_back(std::exp2(100 * (random.Uniform() - 0.5)));
    if (random.Below(16) == 0) uses.back() = std::vector<double>{0, 1, kInfinity, NAN}[i % 4];
  }
  return uses;
}

void ExpectSame(const Statistics& a, const Statistics& b) {
  EXPECT_EQ(a.count(), b.count());
  EXPECT_EQ(a.over(), b.over());
  EXPECT_EQ(a.max(), b.max());
  EXPECT_EQ(a.worst_place(), b.worst_place());
  for (int percent = 0; percent <= 100; ++percent) {
    EXPECT_EQ(a.Quantile(percent / 100.0), b.Quantile(percent / 100.0)) << percent;
  }
}

TEST(statistics, MergingShardsInAnyOrderIsOneRun) {
  const std::vector<double> uses = Uses(4000);
  Statistics whole;
  for (size_t i = 0; i < uses.size(); ++i) whole.Add(uses[i], i);
  Random random(6, "shards");
  for (int round = 0; round < 20; ++round) {
    std::vector<Statistics> shards(1 + random.Below(9));
    for (size_t i = 0; i < uses.size(); ++i) shards[random.Below(shards.size())].Add(uses[i], i);
    Statistics merged;
    while (!shards.empty()) {
      const auto at = shards.begin() + static_cast<std::ptrdiff_t>(random.Below(shards.size()));
      merged.Merge(*at);
      shards.erase(at);
    }
    ExpectSame(merged, whole);
  }
}

TEST(statistics, QuantilesAreWithinAnEighthOfAnOctave) {
  std::vector<double> uses;
  Random random(7, "quantiles");
  Statistics statistics;
  for (uint64_t i = 0; i < 999; ++i) {
    uses.push_back(std::exp2(60 * random.Uniform() - 35));
    statistics.Add(uses.back(), i);
  }
  std::ranges::sort(uses);
  for (const double fraction : {0.0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = std::max<size_t>(1, static_cast<size_t>(std::ceil(fraction * 999)));
    const double exact = uses[rank - 1], told = statistics.Quantile(fraction);
    EXPECT_GE(told, exact * (1 - 0x1p-40)) << fraction;
    EXPECT_LE(told, exact * std::exp2(0.125) * (1 + 0x1p-40)) << fraction;
    EXPECT_LE(told, statistics.max()) << fraction;
  }
}

TEST(statistics, NotANumberIsInfinite) {
  Statistics statistics;
  EXPECT_EQ(statistics.Quantile(0.5), 0);
  statistics.Add(0.5, 3);
  EXPECT_EQ(statistics.over(), 0u);
  EXPECT_EQ(statistics.Quantile(1), 0.5);
  statistics.Add(NAN, 9);
  statistics.Add(kInfinity, 8);
  EXPECT_EQ(statistics.over(), 2u);
  EXPECT_EQ(statistics.max(), kInfinity);
  EXPECT_EQ(statistics.worst_place(), 8u);
  EXPECT_EQ(statistics.Quantile(1), kInfinity);
  EXPECT_EQ(statistics.Quantile(0.3), 0.5);
}

TEST(statistics, ExactlyOneIsNotOver) {
  Statistics statistics;
  statistics.Add(1, 0);
  EXPECT_EQ(statistics.over(), 0u);
  statistics.Add(1 + 0x1p-52, 1);
  EXPECT_EQ(statistics.over(), 1u);
}

// ---------------------------------------------------------------------------- plans

TEST(plan, HoldsEveryPositionWorthChecking) {
  const std::vector<int64_t> lengths = {8192, 100000};
  for (const int64_t largest : {int64_t{131071}, int64_t{1} << 31, int64_t{1} << 53}) {
    const std::vector<double> positions = PlanPositions(2048, largest, lengths, 1);
    EXPECT_EQ(positions.size(), 2048u);
    EXPECT_TRUE(std::ranges::is_sorted(positions));
    EXPECT_EQ(std::ranges::adjacent_find(positions), positions.end());
    const auto has = [&](int64_t position) {
      return std::ranges::binary_search(positions, static_cast<double>(position));
    };
    for (int64_t near = 0; near <= 16; ++near) EXPECT_TRUE(has(near) && has(largest - near));
    for (int bit = 0; bit < 53; ++bit) {
      for (int64_t near = -1; near <= 1; ++near) {
        const int64_t position = (int64_t{1} << bit) + near;
        EXPECT_TRUE(position > largest || has(position)) << position;
      }
    }
    for (int64_t length : lengths) {
      for (int64_t near = -2; near <= 1; ++near) EXPECT_TRUE(has(length + near));
    }
    // Every octave has its share: no gap wider than an eighth of an octave.
    for (size_t i = 1; i < positions.size(); ++i) {
      if (positions[i - 1] < 16) continue;
      EXPECT_LT(positions[i] / positions[i - 1], std::exp2(0.125)) << positions[i];
    }
  }
}

// Half of what is not special is even over the range and follows the seed.
TEST(plan, TheSeedDrawsPositionsOverTheWholeRange) {
  const int64_t largest = 131071;
  const std::vector<double> first = PlanPositions(2048, largest, {}, 1);
  EXPECT_EQ(PlanPositions(2048, largest, {}, 1), first);
  const std::vector<double> second = PlanPositions(2048, largest, {}, 2);
  std::vector<double> both;
  std::ranges::set_intersection(first, second, std::back_inserter(both));
  // Of about 960 draws each among 131072 a handful coincide.
  EXPECT_GT(both.size(), 1000u);
  EXPECT_LT(both.size(), 1200u);
  const auto far = std::ranges::count_if(first, [](double p) { return p > 65536; });
  // Half of the draws, within four standard deviations; log-spaced ones add 60.
  EXPECT_GT(far, 480 - 4 * 16);
  EXPECT_LT(far, 480 + 60 + 40 + 4 * 16);
}

TEST(plan, IsEverythingWhenThatIsFew) {
  const std::vector<double> all = PlanPositions(100, 99, {}, 1);
  ASSERT_EQ(all.size(), 100u);
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<double>(i));
  EXPECT_EQ(PlanPositions(1, 0, {}, 1), std::vector<double>{0});
  // As many as there are but one.
  EXPECT_EQ(PlanPositions(1000, 1000, {}, 1).size(), 1000u);
  // The special ones stay even when fewer are asked for.
  EXPECT_GT(PlanPositions(1, 1 << 20, {}, 1).size(), 60u);
}

TEST(plan, RefusesWhatItCannotPlan) {
  EXPECT_EQ(Refusal([] { PlanPositions(0, 10, {}, 1); }),
            "the number of positions must be at least 1, got 0");
  EXPECT_EQ(Refusal([] { PlanPositions(1, -1, {}, 1); }),
            "the largest position must be in 0..2^53 tokens, got -1");
  EXPECT_EQ(Refusal([] { PlanPositions(1, (int64_t{1} << 53) + 1, {}, 1); }),
            "the largest position must be in 0..2^53 tokens, got 9007199254740993");
  EXPECT_THROW(PlanPositions(kMostPositions + 1, int64_t{1} << 40, {}, 1), ParameterError);
  EXPECT_THROW(PlanPositions(int64_t{1} << 62, int64_t{1} << 50, {}, 1), ParameterError);
}

TEST(plan, InputsAreOfTheirDtypeAndBelongToTheirPosition) {
  const Scheme scheme = ParseScheme("rope", {"head_dim=32", "rotary_dim=16"});
  const ExactRotation exact(scheme);
  const std::vector<double> positions = {0, 7, 131071};
  const std::vector<double> alone = {7};
  for (const Dtype dtype : kFloatDtypes) {
    const auto plan = [&](const std::vector<double>& at, uint64_t seed) {
      return PlanInput(RotaryOf(scheme), at, 4, dtype, TruthOf(exact, at), seed);
    };
    const Tensor x = plan(positions, 1);
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_EQ(x.shape(), (std::vector<int64_t>{3, 4, 32}));
    for (size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(std::isfinite(x.Value(i)));
    // The rows of position 7 are the same alone.
    const Tensor one = plan(alone, 1);
    for (size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one.Bits(i), x.Bits(4 * 32 + i));
    EXPECT_NE(plan(positions, 2), x);
    // Head 1 is directed at cancellation: (cos, -sin) or (sin, cos) of its own angle, scaled.
    const TruthTable truth = TruthOf(exact, alone);
    for (int64_t pair = 0; pair < 8; ++pair) {
      const auto [first, second] = RotaryOf(scheme).Channels(pair);
      const double u = one.Value(32 + static_cast<size_t>(first));
      const double v = one.Value(32 + static_cast<size_t>(second));
      const double c = truth.cos[static_cast<size_t>(pair)].high;
      const double s = truth.sin[static_cast<size_t>(pair)].high;
      const double least = std::min(std::fabs(u * c - v * s), std::fabs(u * s + v * c));
      EXPECT_LE(least, 4 * std::ldexp(1.0, -FormatOf(dtype).digits) * std::hypot(u, v)) << pair;
    }
    // Head 2 is sparse and has zeros of both signs.
    uint64_t plus = 0, minus = 0, other = 0;
    for (size_t token = 0; token < 3; ++token) {
      for (size_t channel = 0; channel < 32; ++channel) {
        const double value = x.Value((token * 4 + 2) * 32 + channel);
        (value != 0 ? other : std::signbit(value) ? minus : plus) += 1;
      }
    }
    EXPECT_TRUE(plus > 10 && minus > 10 && other > 2 && other < 48);
  }
}

// ---------------------------------------------------------------------------- judgements

struct Bench {
  Scheme scheme = ParseScheme("rope", {"head_dim=6", "rotary_dim=4"});
  ExactRotation exact{scheme};
  std::vector<double> positions = {4, 1, -2, 0};
  TruthTable truth = TruthOf(exact, positions);
  RotaryBound bound{Contract::Default(Dtype::f32), scheme, exact.Frequencies(Dtype::f64).values, 1};
  Tensor x = PlanInput(RotaryOf(scheme), positions, 1, Dtype::f32, truth, 1);

  Tensor Right() const {
    const std::vector<double> values = exact.Rotate(positions, x.Values(), 1, Dtype::f32).values;
    return Tensor::FromValues(Dtype::f32, x.shape(), values);
  }
  Finding Judge(const Tensor& out) const {
    return HoldToBound(Rotated{RotaryOf(scheme), positions, x, out}, truth, bound);
  }
};

TEST(judge, CorrectlyRoundedIsWithoutExcess) {
  const Bench bench;
  const Finding finding = bench.Judge(bench.Right());
  EXPECT_EQ(finding.use.count(), 24u);
  EXPECT_EQ(finding.use.max(), 0);
  EXPECT_EQ(finding.holds_to, 4);
  EXPECT_FALSE(finding.first_failure);
  EXPECT_EQ(finding.blind, 0u);
  const std::vector<std::pair<double, double>> profile = {{0, 0}, {1, 0}, {2, 0}, {4, 0}};
  EXPECT_EQ(finding.profile, profile);
}

TEST(judge, FirstFailureIsTheSmallestPosition) {
  const Bench bench;
  Tensor out = bench.Right();
  out.Set(0, out.Value(0) + 1);          // position 4, channel 0
  out.Set(12 + 1, out.Value(13) + 100);  // position -2, channel 1
  const Finding finding = bench.Judge(out);
  EXPECT_EQ(finding.use.over(), 2u);
  ASSERT_TRUE(finding.first_failure);
  EXPECT_EQ(finding.first_failure->position, -2);
  EXPECT_EQ(finding.worst->position, -2);
  EXPECT_EQ(finding.first_failure->where,
            "head 0, channel 1 (pair 1 of 2, wavelength 628.3 tokens)");
  EXPECT_EQ(finding.holds_to, 1);
  out.Set(18, NAN);  // position 0
  EXPECT_EQ(bench.Judge(out).holds_to, -1);
  EXPECT_EQ(bench.Judge(out).use.max(), kInfinity);
}

TEST(judge, CopiesAreBitForBit) {
  Bench bench;
  bench.x.Set(4, -0.0);
  Tensor out = bench.Right();
  EXPECT_EQ(bench.Judge(out).use.over(), 0u);
  out.Set(4, 0.0);
  const Finding finding = bench.Judge(out);
  EXPECT_EQ(finding.use.over(), 1u);
  EXPECT_EQ(finding.worst->where, "head 0, channel 4 (not rotated: a copy)");
}

TEST(judge, NotANumberInGivesNoNumberOut) {
  Bench bench;
  bench.x.Set(0, NAN);         // position 4, pair 0
  bench.x.Set(18, kInfinity);  // position 0, pair 0
  Tensor out = bench.Right();
  EXPECT_TRUE(std::isnan(out.Value(0)) && std::isnan(out.Value(2)));
  EXPECT_EQ(bench.Judge(out).use.over(), 0u);
  // At angle zero a copy is lawful too; elsewhere a number is not.
  out.Set(18, kInfinity);
  out.Set(20, bench.x.Value(20));
  EXPECT_EQ(bench.Judge(out).use.over(), 0u);
  out.Set(2, 1.5);
  EXPECT_EQ(bench.Judge(out).use.over(), 1u);
  // It must not spread to another pair.
  out.Set(2, NAN);
  out.Set(1, NAN);
  EXPECT_EQ(bench.Judge(out).use.over(), 1u);
}

TEST(judge, BackwardIsTheTranspose) {
  const Bench bench;
  const std::vector<double> back =
      bench.exact.RotateBackward(bench.positions, bench.x.Values(), 1, Dtype::f32).values;
  const Tensor out = Tensor::FromValues(Dtype::f32, bench.x.shape(), back);
  const Rotary& layout = RotaryOf(bench.scheme);
  const Rotated forward{layout, bench.positions, bench.x, out, false};
  const Rotated backward{layout, bench.positions, bench.x, out, true};
  EXPECT_GT(HoldToBound(forward, bench.truth, bench.bound).use.over(), 0u);
  EXPECT_EQ(HoldToBound(backward, bench.truth, bench.bound).use.over(), 0u);
  EXPECT_LE(HoldToBudget(backward, bench.truth, 1, 1).use.max(), 1);
}

// Spacings are those of the dtype at the pair's norm.
TEST(judge, BudgetCountsSpacingsOfThePair) {
  Bench bench;
  for (size_t i = 0; i < bench.x.size(); ++i) bench.x.Set(i, i % 6 < 2 ? 0.75 : 0);
  Tensor out = bench.Right();
  out.Set(18, 0.75 + 3 * 0x1p-24);  // position 0: three spacings at 0.75
  const Rotated rotated{RotaryOf(bench.scheme), bench.positions, bench.x, out};
  EXPECT_EQ(HoldToBudget(rotated, bench.truth, 1, 2).use.max(), 1.5);
  EXPECT_EQ(HoldToBudget(rotated, bench.truth, 1, 3).use.over(), 0u);
  EXPECT_EQ(HoldToBudget(rotated, bench.truth, 1, 2).holds_to, -1);
}

TEST(judge, MostlyBlindIsBlindAndNothingIsUnsupported) {
  const auto outcome = [](uint64_t values, uint64_t blind, double use) {
    Finding finding;
    for (uint64_t i = 0; i < values; ++i) finding.use.Add(use, i);
    finding.blind = blind;
    return ToVerdict("contract", "claim", "kernel", finding).outcome;
  };
  // More than half of the values decides.
  EXPECT_EQ(outcome(4, 2, 0.5), Outcome::pass);
  EXPECT_EQ(outcome(4, 3, 0.5), Outcome::blind);
  EXPECT_EQ(outcome(4, 4, 0.5), Outcome::blind);
  EXPECT_EQ(outcome(4, 4, 2), Outcome::fail);
  EXPECT_EQ(outcome(0, 0, 0), Outcome::unsupported);
}

// ---------------------------------------------------------------------------- kernels

posgauge_kernel Descriptor() {
  return {.size = sizeof(posgauge_kernel),
          .name = "toy.rotate",
          .schemes = "*",
          .quantity = "rotate",
          .inputs = "x:f32 positions:f64 cos:f32 sin:f32",
          .outputs = "out:f32",
          .pairings = "half",
          .contract = "table=f32 rotate=f32 store=f32:rne flush=no",
          .invariances = "batch chunking",
          .in_place = 0,
          .largest_rotary_dim = 64,
          .largest_position = 0,
          .run = [](const posgauge_call*, char*, size_t) { return int32_t{POSGAUGE_OK}; }};
}

TEST(kernel, DescriptorsAreReadWhole) {
  const posgauge_kernel kernel = Descriptor();
  const KernelInfo info(kernel);
  EXPECT_EQ(info.name, "toy.rotate");
  EXPECT_TRUE(info.schemes.empty());
  EXPECT_EQ(info.io(), Dtype::f32);
  ASSERT_EQ(info.inputs.size(), 4u);
  EXPECT_EQ(info.Input("positions")->dtypes, std::vector<Dtype>{Dtype::f64});
  EXPECT_EQ(info.Input("frequency"), nullptr);
  EXPECT_EQ(info.pairings, std::vector<Pairing>{Pairing::half});
  EXPECT_EQ(info.contract.table, Arithmetic::f32);
  EXPECT_TRUE(info.Declares("chunking") && !info.Declares("threads"));
  EXPECT_TRUE(info.Serves(ParseScheme("yarn", {"head_dim=64"})));
  EXPECT_FALSE(info.Serves(ParseScheme("yarn", {"head_dim=66"})));
  EXPECT_FALSE(info.Serves(ParseScheme("rope", {"head_dim=64", "pairing=interleaved"})));
}

std::string SchemeWords() {
  std::string words = "*";
  for (const SchemeInfo& scheme : AllSchemes()) words += ", " + scheme.name;
  return words;
}

TEST(kernel, SaysWhyItDoesNotServe) {
  const auto why_not = [](void (*spoil)(posgauge_kernel&), const Scheme& scheme) {
    posgauge_kernel kernel = Descriptor();
    spoil(kernel);
    return KernelInfo(kernel).WhyNot(scheme);
  };
  const auto as_it_is = [](posgauge_kernel&) {};
  EXPECT_EQ(why_not(as_it_is, ParseScheme("rope", {"head_dim=64"})), "");
  EXPECT_EQ(why_not(as_it_is, ParseScheme("rope", {"head_dim=66"})), "rotates at most 64 channels");
  EXPECT_EQ(why_not(as_it_is, ParseScheme("rope", {"head_dim=64", "pairing=interleaved"})),
            "does not pair channels by interleaved");
  EXPECT_EQ(why_not(as_it_is, ParseScheme("sinusoidal", {})), "serves rotations");
  EXPECT_EQ(why_not([](posgauge_kernel& k) { k.schemes = "linear yarn"; },
                    ParseScheme("rope", {"head_dim=64"})),
            "serves linear, yarn");
}

TEST(kernel, MalformedDescriptorsAreRefusedByName) {
  struct Wrong {
    void (*spoil)(posgauge_kernel&);
    std::string message;
  };
  const std::vector<Wrong> cases = {
      {[](auto& k) { k.size = 8; },
       "kernel descriptor is 8 bytes, this ABI needs 104 or more, whole words of 8"},
      {[](auto& k) { k.name = nullptr; },
       "kernel descriptor lacks a name, a quantity or a run function"},
      {[](auto& k) { k.quantity = nullptr; },
       "kernel descriptor lacks a name, a quantity or a run function"},
      {[](auto& k) { k.run = nullptr; },
       "kernel descriptor lacks a name, a quantity or a run function"},
      {[](auto& k) { k.name = ""; },
       "kernel '': a name is made of letters, digits, '.', '_' and '-'"},
      {[](auto& k) { k.name = "a/b\xff"; },
       "kernel 'a/b?': a name is made of letters, digits, '.', '_' and '-'"},
      {[](auto& k) { k.quantity = "spin"; },
       "kernel toy.rotate: quantity must be one of frequencies, table, rotate, rotate_backward, "
       "embed, slopes, buckets, bias, scores, attention, got 'spin'"},
      {[](auto& k) { k.schemes = "rope rpoe"; },
       "kernel toy.rotate: scheme must be one of " + SchemeWords() + ", got 'rpoe'"},
      {[](auto& k) { k.schemes = ""; },
       "kernel toy.rotate: schemes must name one, or * for every one"},
      {[](auto& k) { k.schemes = nullptr; },
       "kernel toy.rotate: schemes must name one, or * for every one"},
      {[](auto& k) { k.invariances = "batch threads"; },
       "kernel toy.rotate: invariance must be one of chunking, batch, alignment, pairing, "
       "axes, rowshift, grouped, got 'threads'"},
      {[](auto& k) { k.largest_rotary_dim = -1; },
       "kernel toy.rotate: largest_rotary_dim must be 0 (no limit) or a number of channels above "
       "0, got -1"},
      {[](auto& k) { k.largest_position = -0.5; },
       "kernel toy.rotate: largest_position must be 0 (no limit) or a number of tokens above 0, "
       "got -0.5"},
      {[](auto& k) { k.largest_position = NAN; },
       "kernel toy.rotate: largest_position must be 0 (no limit) or a number of tokens above 0, "
       "got nan"},
      {[](auto& k) { k.inputs = "x"; }, "kernel toy.rotate: tensor 'x' must be name:dtype"},
      {[](auto& k) { k.inputs = "x:f31"; },
       "kernel toy.rotate: tensor x: dtype must be one of f64, f32, bf16, f16, i64, i32, u8, "
       "f8e4m3, "
       "f8e5m2, got \"f31\""},
      {[](auto& k) { k.inputs = "x:"; }, "kernel toy.rotate: tensor x names no dtype"},
      {[](auto& k) { k.inputs = nullptr; }, "kernel toy.rotate: rotate takes x and yields out"},
      {[](auto& k) { k.outputs = "y:f32"; }, "kernel toy.rotate: rotate takes x and yields out"},
      {[](auto& k) { k.outputs = ""; }, "kernel toy.rotate yields no tensor"},
      {[](auto& k) { k.outputs = nullptr; }, "kernel toy.rotate yields no tensor"},
      {[](auto& k) { k.inputs = "x:f32"; },
       "kernel toy.rotate takes neither positions nor cos and sin"},
      {[](auto& k) { k.inputs = "x:f32 x:f32 cos:f32 sin:f32"; },
       "kernel toy.rotate: tensor x is named twice"},
      {[](auto& k) { k.inputs = "x:f32,i32 cos:f32 sin:f32"; },
       "kernel toy.rotate: tensor x must be of floating dtypes"},
      {[](auto& k) { k.inputs = "x:f32 positions:i64 frequency:i64"; },
       "kernel toy.rotate: tensor frequency must be of floating dtypes"},
      {[](auto& k) { k.inputs = "x:f32 positions:i64 frequency_low:f64"; },
       "kernel toy.rotate: rotate takes frequency where it takes frequency_low"},
      {[](auto& k) { k.inputs = "x:f32 cos:f32"; },
       "kernel toy.rotate: rotate takes cos and sin of one dtype"},
      {[](auto& k) { k.inputs = "x:f32 cos:f32 sin:bf16"; },
       "kernel toy.rotate: rotate takes cos and sin of one dtype"},
      {[](auto& k) { k.outputs = "out:f64"; },
       "kernel toy.rotate: rotate takes x and yields out of one dtype"},
      {[](auto& k) { k.outputs = "out:f32 more:f32"; },
       "kernel toy.rotate: rotate takes x and yields out"},
      {[](auto& k) { k.quantity = "table", k.inputs = "positions:i64", k.outputs = "cos:f32"; },
       "kernel toy.rotate: table yields cos and sin of one dtype, or rows"},
      {[](auto& k) { k.quantity = "table", k.inputs = "positions:i64", k.outputs = "a:f32 b:f32"; },
       "kernel toy.rotate: table yields cos and sin of one dtype, or rows"},
      {[](auto& k) { k.quantity = "frequencies", k.inputs = "", k.outputs = "magnitude:f32"; },
       "kernel toy.rotate: frequencies yields frequency"},
      {[](auto& k) { k.quantity = "frequencies", k.outputs = "frequency:f32 cos:f32"; },
       "kernel toy.rotate: frequencies yields frequency, frequency_low and magnitude, nothing "
       "else"},
      {[](auto& k) { k.pairings = "neox"; },
       "kernel toy.rotate: pairing must be one of half, interleaved, half_per_axis, got \"neox\""},
      {[](auto& k) { k.contract = "rotate=f33"; },
       "kernel toy.rotate: contract: rotate must be one of exact, dd, f64, f32, f16, "
       "bf16, f8e4m3, f8e5m2, got \"f33\""},
      {[](auto& k) { k.contract = "store=bf16"; },
       "kernel toy.rotate: its contract stores bf16, its tensors are f32"},
  };
  for (const Wrong& wrong : cases) {
    posgauge_kernel kernel = Descriptor();
    wrong.spoil(kernel);
    EXPECT_EQ(Refusal([&] { KernelInfo info(kernel); }), wrong.message);
  }
  posgauge_kernel silent = Descriptor();
  silent.contract = nullptr;
  EXPECT_EQ(KernelInfo(silent).contract, Contract::Parse("", Dtype::f32));
}

// Handed in bf16, a frequency is up to 2^-8 larger than the real one, and so is the angle that the
// kernel must form from it and the error that f32 makes there.
TEST(kernel, HandedFrequenciesAreTheOnesThatCount) {
  posgauge_kernel kernel = Descriptor();
  kernel.inputs = "x:f32 positions:f64 frequency:bf16 magnitude:bf16";
  kernel.contract = "position=i64 angle=f32 trig=1ulp:f32 table=f32 rotate=f32 store=f32 flush=no";
  const KernelInfo info(kernel);
  const Subject subject(info, ParseScheme("yarn", {"factor=40", "head_dim=32"}));
  EXPECT_EQ(subject.NotCovered(), std::vector<std::string>{"frequency"});
  EXPECT_FALSE(subject.rotation().GivenIsExact());
  const RoundedValues handed = subject.rotation().given().Frequencies(Dtype::f64);
  const double u = 0x1p-24, p = 1000;
  bool larger = false;
  for (int64_t pair = 0; pair < 16; ++pair) {
    const double frequency = handed.values[static_cast<size_t>(pair)];
    EXPECT_EQ(RoundTo(FormatOf(Dtype::bf16), frequency), frequency);
    larger = larger || frequency > subject.frequencies()[static_cast<size_t>(pair)];
    EXPECT_EQ(subject.rotation().local_bound().Frequency(pair), 0);
    EXPECT_GE(subject.rotation().local_bound().Angle(p, pair), u * p * frequency) << pair;
    // End to end the rounding of what was handed over is an error.
    EXPECT_GE(subject.bound().Frequency(pair), 0x1p-8);
  }
  EXPECT_TRUE(larger);
  EXPECT_EQ(subject.rotation().given().Magnitude(Dtype::f64).values[0],
            RoundTo(FormatOf(Dtype::bf16), subject.magnitude()));
}

TEST(library, RefusesWhatHoldsNoKernels) {
  const std::filesystem::path folder = POSGAUGE_TEST_LIBRARIES;
  const auto refusal = [](const std::filesystem::path& path) {
    return Refusal([&] { LoadKernels(path); });
  };
  const auto library = [&](const std::string& name) { return folder / ("wrong_" + name + ".so"); };
  EXPECT_THROW(LoadKernels(folder / "absent.so"), FileError);
  EXPECT_NE(refusal(folder / "absent.so").find("absent.so: cannot open shared object file"),
            std::string::npos)
      << refusal(folder / "absent.so");
  EXPECT_THROW(LoadKernels(folder), FileError);
  EXPECT_THROW(LoadKernels(std::filesystem::path(POSGAUGE_SOURCE_DIR) / "README.md"), FileError);
  EXPECT_EQ(refusal(library("SYMBOL")),
            library("SYMBOL").string() +
                ": exports no function posgauge_kernels (declare it extern "
                "\"C\", see posgauge/kernel.h)");
  EXPECT_EQ(refusal(library("VERSION")),
            library("VERSION").string() + ": offers no kernel for ABI version 1");
  EXPECT_EQ(refusal(library("COUNT")),
            library("COUNT").string() + ": offers no kernel for ABI version 1");
  EXPECT_EQ(refusal(library("NAMES")), library("NAMES").string() + ": two kernels are called a");
  EXPECT_NE(refusal(library("DESCRIPTOR")).find("kernel descriptor is 16 bytes"),
            std::string::npos);
}

// ---------------------------------------------------------------------------- checks

// A correct f32 rotation from the table it is handed, but off by one at positions from 1500.
int32_t WrongFar(const posgauge_call* call, char* why, size_t why_size) {
  const auto data = [&](uint32_t at) {
    return static_cast<const float*>(call->inputs[at].tensor.data);
  };
  const float* x = data(0);
  const auto* positions = static_cast<const double*>(call->inputs[1].tensor.data);
  const float *cos = data(2), *sin = data(3);
  auto* out = static_cast<float*>(call->outputs[0].tensor.data);
  const int64_t* shape = call->inputs[0].tensor.shape;
  const int64_t half = shape[2] / 2;
  for (int64_t token = 0; token < shape[0]; ++token) {
    if (positions[token] == 7777) {
      std::snprintf(why, why_size, "no \x01 7777");
      return POSGAUGE_FAILED;
    }
    const float wrong = positions[token] >= 1500 ? 1.0f : 0.0f;
    for (int64_t head = 0; head < shape[1]; ++head) {
      const int64_t row = (token * shape[1] + head) * shape[2];
      for (int64_t i = 0; i < half; ++i) {
        const float c = cos[token * half + i], s = sin[token * half + i];
        out[row + i] = x[row + i] * c - x[row + half + i] * s + wrong;
        out[row + half + i] = x[row + i] * s + x[row + half + i] * c;
      }
    }
  }
  return POSGAUGE_OK;
}

KernelCheck CheckToy(const std::vector<double>& positions, double largest_position = 0) {
  posgauge_kernel kernel = Descriptor();
  kernel.run = WrongFar;
  kernel.largest_position = largest_position;
  const KernelInfo info(kernel);
  const Scheme scheme = ParseScheme("rope", {"head_dim=4"});
  return CheckKernels({Subject(info, scheme)}, {positions, 2, 1, 2}).front();
}

TEST(check, HorizonIsFoundAcrossBlocks) {
  std::vector<double> positions(3000);
  std::iota(positions.begin(), positions.end(), 0);
  const KernelCheck check = CheckToy(positions);
  EXPECT_EQ(check.keeps_contract.outcome, Outcome::fail);
  EXPECT_EQ(check.contract_horizon, 1499);
  EXPECT_EQ(check.adequate_horizon, 1499);
  EXPECT_EQ(check.keeps_contract.first_failure->position, 1500);
  EXPECT_EQ(check.keeps_contract.use.count(), 3000u * 2 * 4);
  // One output of two channels, half of the elements beyond 1500.
  EXPECT_EQ(check.keeps_contract.use.over(), 1500u * 2 * 2);
  // Nothing holds where the first position fails.
  EXPECT_EQ(CheckToy({1500, 1501}).contract_horizon, -1);
  // A failure in the first block is not forgotten in the next.
  std::vector<double> early(1500);
  std::iota(early.begin(), early.end(), 1490);
  EXPECT_EQ(CheckToy(early).contract_horizon, 1499);
}

TEST(check, PositionsBeyondTheKernelAreLeftOutAndCounted) {
  const KernelCheck check = CheckToy({1, 100, 1499, 1500}, 1499);
  EXPECT_EQ(check.keeps_contract.outcome, Outcome::pass);
  EXPECT_EQ(check.keeps_contract.note, "3 of 4 positions are in the kernel's range");
  EXPECT_EQ(CheckToy({1600}, 1499).keeps_contract.outcome, Outcome::unsupported);
}

TEST(check, KernelThatFailsSaysWhy) {
  const KernelCheck check = CheckToy({1, 7777});
  EXPECT_EQ(check.keeps_contract.outcome, Outcome::fail);
  EXPECT_EQ(check.keeps_contract.note, "toy.rotate answered 2: no ? 7777");
}

// ---------------------------------------------------------------------------- repro ids

Scheme AnyScheme(Random& random) {
  const auto pick = [&](const std::vector<std::string>& choices) {
    return choices[random.Below(choices.size())];
  };
  const int64_t rotary = 4 + 2 * static_cast<int64_t>(random.Below(60));
  std::vector<std::string> settings = {fmt::format("rotary_dim={}", rotary),
                                       fmt::format("head_dim={}", rotary + 8),
                                       fmt::format("rotary_offset={}", random.Below(9)),
                                       pick({"pairing=half", "pairing=interleaved"}),
                                       pick({"direction=clockwise", "direction=counterclockwise"}),
                                       fmt::format("base={}", 2 + 1e6 * random.Uniform())};
  const std::string name =
      pick({"rope", "linear", "ntk", "yarn", "llama3", "longrope", "proportional"});
  if (name != "rope") settings.push_back(fmt::format("factor={}", 1 + 64 * random.Uniform()));
  if (name == "ntk" && random.Below(2) == 0) {
    settings.insert(settings.end(), {"form=dynamic", "trained_length=4096",
                                     fmt::format("length={}", random.Below(1 << 20))});
  }
  if (name == "yarn") {
    settings.insert(settings.end(),
                    {pick({"magnitude=deepseek", "magnitude=none"}),
                     pick({"mscale=0.707", "truncate=false"}), "original_length=1048576"});
  }
  if (name == "longrope") {
    std::vector<double> factors;
    for (int64_t i = 0; i < rotary / 2; ++i) factors.push_back(1 + 64 * random.Uniform());
    settings.insert(settings.end(), {fmt::format("long_factor=[{}]", fmt::join(factors, ",")),
                                     fmt::format("length={}", random.Below(1 << 20))});
  }
  return ParseScheme(name, settings);
}

TEST(repro, IdsReadBackForAnyScheme) {
  Random random(8, "repro");
  for (int n = 0; n < 500; ++n) {
    ReproId id{.check = "contract",
               .kernel = "fast.rotate.bf16",
               .scheme = AnyScheme(random),
               .positions = 1e6 * (random.Uniform() - 0.5),
               .heads = 1 + static_cast<int64_t>(random.Below(4096)),
               .seed = random.Bits()};
    if (n % 2 == 0) {
      id.positions = ReproId::Plan{static_cast<int64_t>(1 + random.Below(5000)),
                                   static_cast<int64_t>(random.Bits() >> 11)};
      if (n % 4 == 0) std::get<ReproId::Plan>(id.positions).model_length = n;
    }
    const std::string text = id.Text();
    EXPECT_EQ(ReproId::Parse(text), id) << text;
    EXPECT_EQ(text.find_first_of(" \t\n'\"\\$&;|<>()*?[]{}~!`#"), std::string::npos) << text;
  }
  const ReproId id{.check = "contract",
                   .kernel = "fast.rotate.bf16",
                   .scheme = ParseScheme("llama3", {"base=500000", "factor=32"}),
                   .positions = 131071.0};
  EXPECT_EQ(id.Text(), "contract/fast.rotate.bf16/llama3,factor=32.0/p131071/h4/s1");
}

// Near the lengths too: of the scheme, and of the model, which the scheme does not know.
TEST(repro, PlanIsThatOfTheRun) {
  const Scheme scheme = ParseScheme("yarn", {"original_length=5003"});
  const std::vector<int64_t> lengths = {5003, 30011};
  for (const int64_t count : {1, 700}) {
    const std::vector<double> run = PlanPositions(count, 60010, lengths, 1);
    ReproId id{.check = "contract", .kernel = "k", .scheme = scheme};
    id.positions = ReproId::Plan{static_cast<int64_t>(run.size()), 60010, 30011};
    EXPECT_EQ(ReproId::Parse(id.Text()).Positions(), run);
    EXPECT_TRUE(std::ranges::find(run, 5001) != run.end());
  }
}

TEST(repro, MalformedIdsAreRefusedByPart) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "repro id: expected check/kernel/scheme/positions/heads/seed, got ''"},
      {"c/k/rope/p1/h4",
       "repro id: expected check/kernel/scheme/positions/heads/seed, got "
       "'c/k/rope/p1/h4'"},
      {"c/k/rope/p1/h4/s1/",
       "repro id: expected check/kernel/scheme/positions/heads/seed, got "
       "'c/k/rope/p1/h4/s1/'"},
      {"/k/rope/p1/h4/s1", "repro id: check and kernel must not be empty"},
      {"c//rope/p1/h4/s1", "repro id: check and kernel must not be empty"},
      {"c/two words/rope/p1/h4/s1",
       "repro id: must be one word of printable ASCII, got \"c/two words/rope/p1/h4/s1\""},
      {"c/k\n/rope/p1/h4/s1",
       "repro id: must be one word of printable ASCII, got \"c/k\\n/rope/p1/h4/s1\""},
      {"c/k/rpe/p1/h4/s1", "scheme must be one of " + SchemeNames() +
                               ", got "
                               "\"rpe\""},
      {"c/k//p1/h4/s1", "scheme must be one of " + SchemeNames() + ", got \"\""},
      {"c/k/rope,base/p1/h4/s1", "a setting must be field=value, got \"base\""},
      {"c/k/rope,bass=1/p1/h4/s1",
       "rope has no field \"bass\": its fields are head_dim, rotary_dim, rotary_offset, pairing, "
       "direction, base"},
      {"c/k/rope,base=nan/p1/h4/s1", "rope.base must be a finite number, got \"nan\""},
      {"c/k/rope,rotary_dim=130/p1/h4/s1",
       "rope.rotary_dim must be even and in 0..128 (head_dim), got 130"},
      {"c/k/rope/p/h4/s1", "repro id: position must be a number, got ''"},
      {"c/k/rope/pone/h4/s1", "repro id: position must be a number, got 'one'"},
      {"c/k/rope/p1x/h4/s1", "repro id: position must be a number, got '1x'"},
      {"c/k/rope/pinf/h4/s1", "repro id: position must be finite, got 'pinf'"},
      {"c/k/rope/pnan/h4/s1", "repro id: position must be finite, got 'pnan'"},
      {"c/k/rope/1/h4/s1", "repro id: positions must begin with 'n', got '1'"},
      {"c/k/rope//h4/s1", "repro id: positions must begin with 'n', got ''"},
      {"c/k/rope/n10/h4/s1",
       "repro id: a plan of positions is n<count>-<largest> or n<count>-<largest>-<length>, got "
       "'n10'"},
      {"c/k/rope/n1-2-3-4/h4/s1",
       "repro id: a plan of positions is n<count>-<largest> or n<count>-<largest>-<length>, got "
       "'n1-2-3-4'"},
      {"c/k/rope/n1-2-x/h4/s1", "repro id: model length must be a number, got 'x'"},
      {"c/k/rope/nx-2/h4/s1", "repro id: count must be a number, got 'x'"},
      {"c/k/rope/n1-x/h4/s1", "repro id: largest position must be a number, got 'x'"},
      {"c/k/rope/p1/4/s1", "repro id: heads must begin with 'h', got '4'"},
      {"c/k/rope/p1/h/s1", "repro id: heads must be a number, got ''"},
      {"c/k/rope/p1/h0/s1", "repro id: heads must be in 1..4096, got 0"},
      {"c/k/rope/p1/h4097/s1", "repro id: heads must be in 1..4096, got 4097"},
      {"c/k/rope/p1/h4.5/s1", "repro id: heads must be a number, got '4.5'"},
      {"c/k/rope/p1/h4/1", "repro id: seed must begin with 's', got '1'"},
      {"c/k/rope/p1/h4/s-1", "repro id: seed must be a number, got '-1'"},
      {"c/k/rope/p1/h4/s18446744073709551616",
       "repro id: seed must be a number, got '18446744073709551616'"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(Refusal([&] { ReproId::Parse(text); }), message) << text;
  }
  EXPECT_EQ(Refusal([] { ReproId::Parse("c/k/rope/p1/h4/s18446744073709551615"); }), "accepted");
}

// ---------------------------------------------------------------------------- case files

std::filesystem::path Temporary(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / ("posgauge_verify_" + name);
}

TEST(case_file, ReadsBackWhatWasWritten) {
  const Scheme scheme = ParseScheme("yarn", {"factor=40", "head_dim=8", "pairing=interleaved"});
  const std::vector<double> positions = {0, -3, 0.5, 0x1p53};
  for (const std::string quantity : {"rotate", "rotate_backward", "table"}) {
    CaseFile file{scheme, quantity, positions, {}};
    if (quantity != "table") {
      file.x = PlanInput(RotaryOf(scheme), positions, 2, Dtype::bf16,
                         TruthOf(ExactRotation(scheme), positions), 1);
    }
    const auto path = Temporary("case.safetensors");
    WriteCaseFile(path, file);
    const CaseFile read = ReadCaseFile(path);
    EXPECT_EQ(read.scheme, scheme);
    EXPECT_EQ(read.quantity, quantity);
    EXPECT_EQ(read.positions, positions);
    EXPECT_EQ(read.x, file.x);
  }
}

TEST(case_file, RefusesWhatIsNoCase) {
  const auto path = Temporary("wrong.safetensors");
  const std::string scheme = R"({"scheme": "rope", "head_dim": 4, "rotary_dim": 4})";
  const auto metadata = [&](const std::string& quantity) {
    return R"({"scheme": )" + scheme + R"(, "quantity": ")" + quantity + R"("})";
  };
  const Tensor positions = Tensor::FromValues(Dtype::f64, {2}, std::vector<double>{0, 1});
  const Tensor x(Dtype::f32, {2, 3, 4});
  struct Wrong {
    std::optional<std::string> metadata;
    std::map<std::string, Tensor> tensors;
    std::string message;
  };
  const std::string unknown =
      "quantity must be one of table, rotate, rotate_backward, got \"spin\"";
  const std::vector<Wrong> cases = {
      {std::nullopt, {}, "is no case file: its metadata has no posgauge_case"},
      {"[]", {}, "posgauge_case must hold a scheme and a quantity"},
      {R"({"scheme": 1})", {}, "posgauge_case must hold a scheme and a quantity"},
      {R"({"scheme": 1, "quantity": 2})", {}, "posgauge_case must hold a scheme and a quantity"},
      {R"({"scheme": {"scheme": "alibi", "heads": 2}, "quantity": "bias"})",
       {{"sl\nopes", x}},
       "no input has the name \"sl\\nopes\""},
      {metadata("sp\\nin"),
       {{"positions", positions}},
       R"(quantity must be one of table, rotate, rotate_backward, got "sp\nin")"},
      {R"({"scheme": {"scheme": "rpe"}, "quantity": "table"})",
       {},
       "scheme must be one of " + SchemeNames() +
           ", got "
           "\"rpe\""},
      {metadata("spin"), {}, unknown},
      {metadata("table"), {}, "needs a tensor positions of one axis"},
      {metadata("table"),
       {{"positions", Tensor(Dtype::f64, {2, 1})}},
       "needs a tensor positions of one axis"},
      {metadata("table"),
       {{"positions", Tensor::FromValues(Dtype::f64, {1}, std::vector<double>{NAN})}},
       "positions must be finite"},
      {metadata("rotate"), {{"positions", positions}}, "needs a tensor x"},
      {metadata("rotate"),
       {{"positions", positions}, {"x", Tensor(Dtype::f32, {2, 4})}},
       "x must be a floating tensor [2, heads, 4]"},
      {metadata("rotate"),
       {{"positions", positions}, {"x", Tensor(Dtype::f32, {3, 3, 4})}},
       "x must be a floating tensor [2, heads, 4]"},
      {metadata("rotate"),
       {{"positions", positions}, {"x", Tensor(Dtype::f32, {2, 3, 5})}},
       "x must be a floating tensor [2, heads, 4]"},
      {metadata("rotate"),
       {{"positions", positions}, {"x", Tensor(Dtype::i32, {2, 3, 4})}},
       "x must be a floating tensor [2, heads, 4]"},
  };
  for (const Wrong& wrong : cases) {
    Safetensors content;
    if (wrong.metadata) content.metadata["posgauge_case"] = *wrong.metadata;
    content.tensors = wrong.tensors;
    WriteSafetensors(path, content);
    EXPECT_EQ(Refusal([&] { ReadCaseFile(path); }), path.string() + ": " + wrong.message);
  }
  Safetensors torn;
  torn.metadata["posgauge_case"] = "{";
  WriteSafetensors(path, torn);
  EXPECT_THROW(ReadCaseFile(path), FormatError);
  EXPECT_THROW(ReadCaseFile(Temporary("absent")), FileError);
}

// ---------------------------------------------------------------------------- reports

// Elements closed in order, attributes quoted, and no bare '<' or '&': what XML 1.0 asks of the
// part of it that reports use.
bool IsWellFormed(std::string_view xml) {
  constexpr std::string_view kDeclaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (!xml.starts_with(kDeclaration)) return false;
  xml.remove_prefix(kDeclaration.size());
  const auto text_is_plain = [](std::string_view text) {
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '<' ||
          (static_cast<unsigned char>(text[at]) < 0x20 && text[at] != '\n' && text[at] != '\t')) {
        return false;
      }
      if (text[at] != '&') continue;
      bool entity = false;
      for (const std::string_view name : {"&amp;", "&lt;", "&gt;", "&quot;"}) {
        entity = entity || text.substr(at).starts_with(name);
      }
      if (!entity) return false;
    }
    return true;
  };
  std::vector<std::string> open;
  while (!xml.empty()) {
    const size_t begin = xml.find('<');
    if (!text_is_plain(xml.substr(0, begin))) return false;
    if (begin == std::string_view::npos) break;
    const size_t end = xml.find('>', begin);
    if (end == std::string_view::npos) return false;
    std::string_view tag = xml.substr(begin + 1, end - begin - 1);
    xml.remove_prefix(end + 1);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
      continue;
    }
    const bool closed = tag.ends_with('/');
    if (closed) tag.remove_suffix(1);
    const std::string name(tag.substr(0, tag.find(' ')));
    tag.remove_prefix(name.size());
    while (!tag.empty()) {
      const size_t quote = tag.find("=\"");
      if (tag.front() != ' ' || quote == std::string_view::npos) return false;
      const size_t finish = tag.find('"', quote + 2);
      if (finish == std::string_view::npos) return false;
      if (!text_is_plain(tag.substr(quote + 2, finish - quote - 2))) return false;
      tag.remove_prefix(finish + 1);
    }
    if (!closed) open.push_back(name);
  }
  return open.empty();
}

Report SampleReport() {
  Report report{.command = "gate",
                .target = "model <a> & \"b\"",
                .facts = {"one fact"},
                .verdicts = {},
                .summaries = {"  a summary"},
                .conclusion = {"DOES NOT HOLD", "adequate: no"},
                .kernels = nullptr,
                .exit_code = 1};
  Verdict fail;
  fail.check = "contract";
  fail.claim = "a < b & c > \"d\"";
  fail.subject = "kernel.<1>";
  fail.outcome = Outcome::fail;
  fail.note = "bell \a and ' quote";
  fail.use.Add(3, 0);
  fail.use.Add(0.5, 1);
  fail.first_failure = Witness{2, "channel 3", "got & this", "want <that>", 3};
  fail.worst = Witness{7, "channel 4", "inf", "0", kInfinity};
  fail.repro = "posgauge repro contract/k/rope/p2/h4/s1";
  Verdict pass;
  pass.check = "linearity";
  pass.subject = "kernel.2";
  pass.use.Add(0.25, 0);
  Verdict unsupported;
  unsupported.check = "chunking";
  unsupported.subject = "kernel.2";
  unsupported.outcome = Outcome::unsupported;
  unsupported.note = "not declared";
  Verdict blind;
  blind.check = "contract";
  blind.subject = "kernel.3";
  blind.outcome = Outcome::blind;
  report.verdicts = {fail, pass, unsupported, blind};
  return report;
}

TEST(report, JunitIsWellFormedWhateverTheTexts) {
  const std::string xml = ToJunit(SampleReport());
  EXPECT_TRUE(IsWellFormed(xml)) << xml;
  EXPECT_NE(xml.find("<testsuite name=\"posgauge gate\" tests=\"4\" failures=\"1\" skipped=\"2\">"),
            std::string::npos)
      << xml;
  EXPECT_NE(xml.find("<testcase classname=\"kernel.&lt;1&gt;\" name=\"contract\">"),
            std::string::npos);
  EXPECT_NE(xml.find("<failure type=\"values\" message=\"a &lt; b &amp; c &gt; &quot;d&quot;\">"
                     "FAIL contract"),
            std::string::npos);
  EXPECT_NE(xml.find("bell ? and"), std::string::npos);
  EXPECT_NE(xml.find("<skipped message=\"unsupported: not declared\"/>"), std::string::npos);
  EXPECT_NE(xml.find("<testcase classname=\"kernel.2\" name=\"linearity\"/>"), std::string::npos);
  // The check itself can say no.
  for (const std::string wrong :
       {"<a>", "<a></b>", "<a b=c/>", "<a b=\"<\"/>", "a & b", "<a/>\a", "<a b=\"1\"c=\"2\"/>"}) {
    EXPECT_FALSE(IsWellFormed("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + wrong)) << wrong;
  }
}

TEST(report, JsonHasEveryFieldAndNoInfinity) {
  const nlohmann::ordered_json json = ToJson(SampleReport());
  const nlohmann::json expected = nlohmann::json::parse(R"({
    "posgauge_report": 1, "command": "gate", "target": "model <a> & \"b\"", "exit_code": 1,
    "facts": ["one fact"], "conclusion": ["DOES NOT HOLD", "adequate: no"], "kernels": null,
    "left_out": null, "coverage": null, "verdicts": [{
      "check": "contract", "subject": "kernel.<1>", "outcome": "FAIL",
      "failure": null, "claim": "a < b & c > \"d\"", "note": "bell \u0007 and ' quote", "values": 2, "over": 1,
      "use": {"max": 3, "p99_9": 3},
      "first_failure": {"position": 2, "where": "channel 3", "got": "got & this",
                        "want": "want <that>", "use": 3},
      "worst": {"position": 7, "where": "channel 4", "got": "inf", "want": "0", "use": null},
      "cause": null, "minimal": null,
      "repro": "posgauge repro contract/k/rope/p2/h4/s1"}]})");
  nlohmann::json first = json;
  first["verdicts"].erase(1);
  first["verdicts"].erase(1);
  first["verdicts"].erase(1);
  EXPECT_EQ(first, expected) << first.dump(2);
  EXPECT_EQ(json["verdicts"][2]["outcome"], "unsupported");
  EXPECT_EQ(json["verdicts"][3]["outcome"], "blind");
  EXPECT_TRUE(json["verdicts"][3]["worst"].is_null());
  EXPECT_EQ(nlohmann::ordered_json::parse(json.dump()), json);
}

TEST(report, MarkdownFoldsFailuresAndFitsItsLimit) {
  Report report = SampleReport();
  report.verdicts[0].note = "a kernel says ```";
  report.summaries = {"| kernel"};
  const std::string whole = ToMarkdown(report, kLargestSummary);
  EXPECT_EQ(
      whole.find("## posgauge gate model <a> & \"b\"\n\n```text\nDOES NOT HOLD\nadequate: no\n"
                 "```\n\n```text\none fact\n| kernel\n```\n\n<details><summary>contract of "
                 "kernel.&lt;1&gt; fails</summary>\n\n```text\nFAIL contract"),
      0u)
      << whole;
  EXPECT_NE(whole.find("note: a kernel says '''\n"), std::string::npos) << whole;
  EXPECT_TRUE(whole.ends_with("```\n\n</details>\n\n")) << whole;
  EXPECT_EQ(whole.find("linearity"), std::string::npos);
  for (const size_t limit : {size_t{0}, size_t{10}, size_t{70}, whole.size() - 1, whole.size()}) {
    const std::string cut = ToMarkdown(report, limit);
    EXPECT_LE(cut.size(), limit);
    EXPECT_EQ(cut.ends_with("more parts do not fit here\n"), limit >= 64) << limit;
  }
  EXPECT_EQ(ToMarkdown(report, whole.size() + 64), whole);
}

TEST(report, EveryWayToFailHasItsWord) {
  for (size_t i = 0; i < kVariantNames<Failure>.size(); ++i) {
    const auto failure = static_cast<Failure>(i);
    const std::string word(VariantName(failure));
    Report report = SampleReport();
    report.verdicts[0].failure = failure;
    EXPECT_EQ(ToJson(report)["verdicts"][0]["failure"], word);
    EXPECT_NE(ToJunit(report).find("<failure type=\"" + word + "\""), std::string::npos);
    EXPECT_NE(ToText(report).find("FAIL contract  kernel.<1>  " + word + "\n"), std::string::npos);
    // Values alone are wrong up to `unstable`.
    EXPECT_EQ(Died(report.verdicts[0]), failure > Failure::unstable) << word;
    // A check that fails by its values too does not hide it, nor does a milder failure.
    Verdict values = SampleReport().verdicts[0];
    values.TakeGraver(report.verdicts[0]);
    EXPECT_EQ(values.failure, failure);
    report.verdicts[0].failure = Failure::answered;
    values.TakeGraver(report.verdicts[0]);
    EXPECT_EQ(values.failure, failure);
  }
}

TEST(report, TextTellsEveryFailureInFull) {
  EXPECT_EQ(ToText(SampleReport()), R"(posgauge gate  model <a> & "b"
  one fact

  a summary

FAIL contract  kernel.<1>
  claim: a < b & c > "d"
  note: bell )"
                                    "\a"
                                    R"( and ' quote
  first failing          position 2, channel 3
    got   got & this
    exact want <that>   (3 x the limit)
  worst                  position 7, channel 4
    got   inf
    exact 0   (no limit allows it)
  how far                1 of 2 values fail
  repro                  posgauge repro contract/k/rope/p2/h4/s1

DOES NOT HOLD
adequate: no
)");
}

}  // namespace
}  // namespace posgauge
