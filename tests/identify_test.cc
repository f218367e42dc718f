// What posgauge identify says, against kernels whose scheme is known. Their outputs are the
// reference's, and so is what outputs can tell: schemes count as the same where the reference's
// frequencies are.
#include "posgauge/verify/identify/identity.h"

#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "identify_draws.h"
#include "posgauge/reference/exact_addition.h"
#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/exact_rotation.h"

namespace posgauge {
namespace {

constexpr double kLargest = 131072;

// Seeds that nothing was tuned on.
constexpr uint64_t kFrozenSeed = 20261201;

std::vector<double> Ladder() {
  std::set<double> positions = {0};
  for (double power = 1; power <= kLargest; power *= 2) positions.insert({power, power + 1});
  return {positions.begin(), positions.end()};
}

// The truth of a kernel that holds its frequencies in `held`.
ExactRotation Holding(const Scheme& scheme, Dtype held) {
  const ExactRotation exact(scheme);
  std::vector<DoubleDouble> frequencies;
  for (double value : exact.Frequencies(held).values) frequencies.push_back({value, 0});
  return ExactRotation(RotaryOf(scheme), frequencies, exact.EncloseMagnitude().values[0]);
}

Answers TableOf(const Scheme& scheme, Dtype held, Dtype dtype) {
  Answers answers{.source = "table", .quantity = "table", .positions = Ladder()};
  const RoundedTable table = Holding(scheme, held).Table(answers.positions, dtype);
  const bool half = RotaryOf(scheme).pairing == Pairing::half;
  const auto pairs = static_cast<size_t>(RotaryOf(scheme).Pairs());
  const auto tokens = static_cast<int64_t>(answers.positions.size());
  const auto twice = [&](const std::vector<double>& values) {
    std::vector<double> all;
    for (size_t row = 0; row < answers.positions.size(); ++row) {
      for (size_t i = 0; i < 2 * pairs; ++i) {
        all.push_back(values[row * pairs + (half ? i % pairs : i / 2)]);
      }
    }
    return Tensor::FromValues(dtype, {tokens, static_cast<int64_t>(2 * pairs)}, all);
  };
  answers.tensors["cos"] = twice(table.cos.values);
  answers.tensors["sin"] = twice(table.sin.values);
  return answers;
}

Answers RotatedBy(const Scheme& scheme, Dtype held, Dtype dtype, Random random) {
  Answers answers{.source = "dump", .quantity = "rotate", .positions = Ladder()};
  const int64_t heads = 3, width = RotaryOf(scheme).head_dim;
  const auto tokens = static_cast<int64_t>(answers.positions.size());
  std::vector<double> x;
  for (int64_t i = 0; i < tokens * heads * width; ++i) x.push_back(random.Uniform() * 2 - 1);
  answers.tensors["x"] = Tensor::FromValues(dtype, {tokens, heads, width}, x);
  answers.tensors["out"] =
      Tensor::FromValues(dtype, {tokens, heads, width},
                         Holding(scheme, held)
                             .Rotate(answers.positions, answers.tensors["x"].Values(), heads, dtype)
                             .values);
  return answers;
}

// Whether no output tells the frequencies apart: they round to neighbours in the dtype that holds
// them, or turn by less than a spacing of the output up to the largest position.
bool SameFrequencies(const std::vector<double>& a, const std::vector<double>& b, Dtype held,
                     Dtype dtype) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const double off = std::fabs(std::remainder(a[i] - b[i], 2 * M_PI));
    const double unseen = 16 * Ulp(FormatOf(dtype), 1) / kLargest;
    const double units = held == Dtype::f64 ? 0x1p11 : 16;
    if (!(off <= units * Ulp(FormatOf(held), a[i]) + unseen)) return false;
  }
  return true;
}

bool SameRotation(const Scheme& seen, const Scheme& scheme, bool table, Dtype held, Dtype dtype) {
  const Rotary &a = RotaryOf(seen), &b = RotaryOf(scheme);
  if (a.pairing != b.pairing || a.direction != b.direction) return false;
  if (!table && (a.rotary_offset != b.rotary_offset || a.head_dim != b.head_dim)) return false;
  const ExactRotation x(seen), y(scheme);
  std::vector<double> mine = x.Frequencies(Dtype::f64).values,
                      theirs = y.Frequencies(Dtype::f64).values;
  // Pairs behind the last one that are not seen to turn are channels that do not.
  if (b.pairing == Pairing::interleaved) {
    const size_t pairs = std::max(mine.size(), theirs.size());
    mine.resize(pairs);
    theirs.resize(pairs);
  } else if (a.rotary_dim != b.rotary_dim) {
    return false;
  }
  const double magnitude = y.Magnitude(Dtype::f64).values[0];
  const double off = std::fabs(x.Magnitude(Dtype::f64).values[0] - magnitude);
  return off <= 16 * Ulp(FormatOf(dtype), magnitude) && SameFrequencies(mine, theirs, held, dtype);
}

struct Share {
  int drawn = 0, recovered = 0;
  void Count(bool right, const Scheme& scheme, const Identity& identity) {
    ++drawn;
    recovered += right ? 1 : 0;
    if (right) return;
    std::printf("missed %s\n  said %s\n", Text(scheme).c_str(),
                identity.schemes.empty() ? identity.why_not.c_str()
                                         : Text(identity.schemes.front()).c_str());
  }
};

Share RoundTripRotations(uint64_t seed, int count) {
  Share share;
  for (int i = 0; i < count; ++i) {
    SchemeDraw draw(Random(seed, fmt::format("rotation {}", i)));
    const Scheme scheme = draw.Rotation(static_cast<uint64_t>(i));
    const Dtype held = draw.OneOf({Dtype::f64, Dtype::f32});
    const Dtype dtype = draw.OneOf({Dtype::f32, Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16});
    const bool table = draw.Below(2) == 0;
    const Identity identity =
        Identify(table ? TableOf(scheme, held, dtype)
                       : RotatedBy(scheme, held, dtype, Random(seed, fmt::format("x {}", i))));
    bool right = !identity.schemes.empty();
    for (const Scheme& named : identity.schemes) {
      right = right && SameRotation(named, scheme, table, held, dtype);
    }
    share.Count(right, scheme, identity);
  }
  return share;
}

Share RoundTripWaves(uint64_t seed, int count) {
  Share share;
  for (int i = 0; i < count; ++i) {
    SchemeDraw draw(Random(seed, fmt::format("waves {}", i)));
    const Scheme scheme = draw.Waves();
    const Dtype dtype = draw.OneOf({Dtype::f32, Dtype::f64});
    Answers answers{.source = "rows", .quantity = "rows", .positions = Ladder()};
    const ExactAddition exact(scheme);
    answers.tensors["rows"] =
        Tensor::FromValues(dtype, {static_cast<int64_t>(answers.positions.size()), WidthOf(scheme)},
                           exact.Rows(answers.positions, dtype).values);
    const Identity identity = Identify(answers);
    bool right = !identity.schemes.empty();
    const std::vector<double> rows = exact.Rows(answers.positions, Dtype::f64).values;
    for (const Scheme& named : identity.schemes) {
      const std::vector<double> said =
          ExactAddition(named).Rows(answers.positions, Dtype::f64).values;
      for (size_t k = 0; k < rows.size(); ++k) {
        // Frequencies are compared in doubles, to 2^-42 of one radian a token.
        const double position = answers.positions[k / static_cast<size_t>(WidthOf(scheme))];
        const double allowed = 32 * Ulp(FormatOf(dtype), 1) + position * 0x1p-42;
        right = right && std::fabs(said[k] - rows[k]) <= allowed;
      }
    }
    share.Count(right, scheme, identity);
  }
  return share;
}

Answers BiasesOf(const Scheme& scheme, Dtype dtype, Random random) {
  Answers answers{.source = "bias", .quantity = "bias"};
  answers.query_positions = {4000, 1000};
  for (int i = 0; i < 8200; i += i < 4400 && i > 3600 ? 1 : 7) answers.key_positions.push_back(i);
  const ExactEquations exact(scheme);
  NamedInputs inputs;
  const auto extent = [](const std::vector<double>& values) {
    return static_cast<int64_t>(values.size());
  };
  inputs.tensors["query_positions"] = {{2}, answers.query_positions};
  inputs.tensors["key_positions"] = {{extent(answers.key_positions)}, answers.key_positions};
  for (const Weight& weight : WeightsOf(scheme)) {
    ExactTensor& table = inputs.tensors[std::string(weight.name)];
    table.shape = weight.shape;
    for (int64_t i = 0; i < weight.Elements(); ++i) {
      table.values.push_back(RoundTo(FormatOf(dtype), random.Uniform()));
    }
  }
  const std::vector<int64_t> shape = exact.CheckInputs(EquationQuantity::bias, inputs);
  answers.tensors["bias"] = Tensor::FromValues(
      dtype, shape, exact.Evaluate(EquationQuantity::bias, inputs, dtype).values);
  answers.head_dim = AttentionOf(scheme).head_dim;
  return answers;
}

// Whether distances share a row in one where they do in the other: a bias shows no row's number.
bool AreSamePartition(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::map<int64_t, int64_t> forth, back;
  for (size_t i = 0; i < a.size(); ++i) {
    if (forth.emplace(a[i], b[i]).first->second != b[i]) return false;
    if (back.emplace(b[i], a[i]).first->second != a[i]) return false;
  }
  return a.size() == b.size();
}

// Slopes and form, or buckets, as the reference gives them.
bool SameBiases(const Scheme& named, const Scheme& scheme, const Answers& answers) {
  const ExactEquations a(named), b(scheme);
  NamedInputs inputs;
  inputs.tensors["query_positions"] = {{2}, answers.query_positions};
  inputs.tensors["key_positions"] = {{static_cast<int64_t>(answers.key_positions.size())},
                                     answers.key_positions};
  if (Name(named) != Name(scheme)) return false;
  if (Name(scheme) == "t5") return AreSamePartition(a.Buckets(inputs), b.Buckets(inputs));
  return a.Evaluate(EquationQuantity::bias, inputs, Dtype::f32).values ==
         b.Evaluate(EquationQuantity::bias, inputs, Dtype::f32).values;
}

Share RoundTripBiases(uint64_t seed, int count) {
  Share share;
  for (int i = 0; i < count; ++i) {
    SchemeDraw draw(Random(seed, fmt::format("bias {}", i)));
    const Scheme scheme = i % 2 == 0 ? draw.Slopes() : draw.Buckets();
    const Answers answers = BiasesOf(scheme, Dtype::f32, Random(seed, fmt::format("table {}", i)));
    const Identity identity = Identify(answers);
    bool right = !identity.schemes.empty();
    for (size_t k = 0; k < std::min<size_t>(identity.schemes.size(), 8); ++k) {
      right = right && SameBiases(identity.schemes[k], scheme, answers);
    }
    share.Count(right, scheme, identity);
  }
  return share;
}

void ExpectNearlyAll(const Share& share) {
  std::printf("%d of %d\n", share.recovered, share.drawn);
  EXPECT_GE(100 * share.recovered, 99 * share.drawn);
}

TEST(identify, RotationsAreRecoveredSlow) { ExpectNearlyAll(RoundTripRotations(kFrozenSeed, 700)); }

TEST(identify, WavesAreRecoveredSlow) { ExpectNearlyAll(RoundTripWaves(kFrozenSeed, 100)); }

TEST(identify, BiasesAreRecoveredSlow) { ExpectNearlyAll(RoundTripBiases(kFrozenSeed, 200)); }

TEST(identify, TuningSeedsAreRecovered) {
  ExpectNearlyAll(RoundTripRotations(1, 100));
  ExpectNearlyAll(RoundTripWaves(1, 30));
  ExpectNearlyAll(RoundTripBiases(1, 30));
}

bool Lists(const Identity& identity, const Scheme& scheme) {
  return std::ranges::find(identity.schemes, scheme) != identity.schemes.end();
}

// base s^(d/(d-2)) with d = 4 and s = 4: 10000 16.
TEST(identify, NtkAndTheBaseItStandsForAreBothListed) {
  const Scheme ntk = ParseScheme("ntk", {"rotary_dim=4", "factor=4"});
  const Identity identity = Identify(TableOf(ntk, Dtype::f64, Dtype::f64));
  EXPECT_TRUE(Lists(identity, ntk));
  EXPECT_TRUE(Lists(identity, ParseScheme("rope", {"rotary_dim=4", "base=160000"})));
}

TEST(identify, PublishedParametersAreRecovered) {
  const Scheme llama = ParseScheme("llama3", {"rotary_dim=128", "factor=8"});
  const Identity identity = Identify(TableOf(llama, Dtype::f32, Dtype::f32));
  ASSERT_FALSE(identity.schemes.empty());
  EXPECT_EQ(identity.schemes.front(), llama);
  EXPECT_NE(identity.contract.find("frequency=f32"), std::string::npos) << identity.contract;
}

TEST(identify, WhatIsNoRotationHasNoName) {
  const Scheme scheme = ParseScheme("rope", {"rotary_dim=16"});
  Answers answers = RotatedBy(scheme, Dtype::f64, Dtype::f32, Random(1, "x"));
  Random random(1, "noise");
  Tensor& out = answers.tensors["out"];
  for (size_t i = 0; i < out.size(); ++i) out.Set(i, random.Uniform());
  EXPECT_TRUE(Identify(answers).schemes.empty());
  // A matrix that is the same at every position, and not orthogonal.
  const Tensor& x = answers.tensors["x"];
  for (size_t i = 0; i < out.size(); ++i) {
    out.Set(i, x.Value(i) + x.Value(i / 16 * 16 + (i + 1) % 16) / 2);
  }
  EXPECT_TRUE(Identify(answers).schemes.empty());
  // cos and sin of different sizes.
  Answers table = TableOf(scheme, Dtype::f64, Dtype::f32);
  for (size_t i = 0; i < table.tensors["sin"].size(); ++i) {
    table.tensors["sin"].Set(i, table.tensors["sin"].Value(i) * 0.75);
  }
  EXPECT_TRUE(Identify(table).schemes.empty());
}

TEST(identify, BiasesOfNoSchemeHaveNoName) {
  Answers answers =
      BiasesOf(ParseScheme("alibi", {"heads=2", "causal=false"}), Dtype::f32, Random(1, "bias"));
  Tensor& bias = answers.tensors["bias"];
  for (size_t i = 0; i < bias.size(); ++i) bias.Set(i, std::sqrt(std::fabs(bias.Value(i))));
  EXPECT_TRUE(Identify(answers).schemes.empty());
}

}  // namespace
}  // namespace posgauge
