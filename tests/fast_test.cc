#include <cmath>
#include <limits>
#include <random>

#include "kernel_call.h"

namespace posgauge {
namespace {

// A rotation kernel's dtypes and direction. Kernels that start from positions have no table.
struct Variant {
  Dtype io, table;
  bool backward;

  std::string Kernel() const {
    const Dtype default_table = fast::ComputeDtype(io);
    return fmt::format("fast.{}.{}{}", backward ? "rotate_backward" : "rotate", Name(io),
                       table == default_table ? "" : fmt::format(".{}", Name(table)));
  }
};

const std::vector<Variant> kVariants = [] {
  std::vector<Variant> variants;
  for (bool backward : {false, true}) {
    for (Dtype io : fast::kDtypes) {
      variants.push_back({io, fast::ComputeDtype(io), backward});
      if (SizeOf(io) == 2) variants.push_back({io, io, backward});
    }
  }
  return variants;
}();

constexpr int64_t kTokens = 2, kHeads = 3;

Rotary LayoutOf(int64_t head_dim, int64_t rotary_dim, int64_t offset, Pairing pairing) {
  return {
      .head_dim = head_dim, .rotary_dim = rotary_dim, .rotary_offset = offset, .pairing = pairing};
}

// Bits of generic values: both signs, exponents over +-3, some subnormal; channels that do not
// rotate hold anything, NaNs with payloads included.
std::vector<uint64_t> InputBits(Dtype io, const Rotary& layout, std::mt19937_64& random) {
  std::vector<uint64_t> bits;
  std::uniform_real_distribution<double> exponent(-3, 3);
  for (int64_t i = 0; i < kTokens * kHeads * layout.head_dim; ++i) {
    const int64_t channel = i % layout.head_dim - layout.rotary_offset;
    const bool rotates = channel >= 0 && channel < layout.rotary_dim;
    const double size = random() % 16 == 0 ? std::ldexp(3, FormatOf(io).min_quantum())
                                           : std::exp2(exponent(random));
    const uint64_t anything = random();
    const uint64_t mask = SizeOf(io) == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * SizeOf(io))) - 1;
    bits.push_back(rotates ? Encode(io, random() % 2 == 0 ? size : -size) : anything & mask);
  }
  return bits;
}

std::vector<double> TableValues(Dtype table, int64_t pairs, std::mt19937_64& random, bool sine) {
  std::vector<double> values;
  for (int64_t i = 0; i < kTokens * pairs; ++i) {
    const double angle = static_cast<double>(random()) * 0x1p-60;
    values.push_back(RoundTo(FormatOf(table), 1.25 * (sine ? std::sin(angle) : std::cos(angle))));
  }
  return values;
}

// What the bound of fast/rotate-inl.h lets an output be: roundings of the exact value -+ the bound.
struct Allowed {
  double low, high;
};

// u c - v s: the error of the two products and the sum, 2 u_c + u_c^2 of |u c| + |v s|, and half
// the smallest subnormal three times; long double (64 bits) holds products of f32 exactly and those
// of f64 to 2^-64.
Allowed AllowedSum(Dtype io, double u, double c, double v, double s) {
  const Format compute = FormatOf(fast::ComputeDtype(io));
  const long double first = static_cast<long double>(u) * c,
                    second = static_cast<long double>(v) * s;
  const long double unit = std::ldexp(1.0L, -compute.digits);
  const long double eta = std::ldexp(0.5L, std::max(compute.min_quantum(), -1074));
  const long double error =
      (2 * unit + unit * unit + 0x1p-62L) * (std::fabs(first) + std::fabs(second)) + 3 * eta;
  const auto value = static_cast<double>(first + second);
  if (io == Dtype::f64) {
    return {static_cast<double>(first + second - error),
            static_cast<double>(first + second + error)};
  }
  return {RoundTo(FormatOf(io), value - static_cast<double>(error)),
          RoundTo(FormatOf(io), value + static_cast<double>(error))};
}

// One place in memory for x and for out.
struct Placement {
  std::string name;
  std::vector<int64_t> x_strides, out_strides;
  int64_t x_shift, out_shift;
  bool in_place;
};

std::vector<Placement> Placements(int64_t head_dim) {
  const int64_t d = head_dim;
  const std::vector<int64_t> compact = {kHeads * d, d, 1};
  return {
      {"compact", compact, compact, 0, 0, false},
      {"in place", compact, compact, 0, 0, true},
      {"misaligned", compact, compact, 1, 3, false},
      {"misaligned in place", compact, compact, 5, 5, true},
      {"padded", {kHeads * (d + 3) + 7, d + 3, 1}, {kHeads * (d + 1), d + 1, 1}, 0, 1, false},
      {"heads outside tokens", {d, kTokens * d, 1}, {d, kTokens * d + 5, 1}, 0, 0, false},
      {"every other channel", {2 * kHeads * d, 2 * d, 2}, compact, 0, 0, false},
      {"channels outside in place", {1, kTokens, kTokens * kHeads}, {}, 2, 2, true},
      {"channels backwards", compact, {kHeads * d, d, -1}, 0, 0, false},
      {"heads and tokens backwards", {-kHeads * d, -d, 1}, {kHeads * d, -d, 1}, 1, 0, false},
  };
}

struct Case {
  Variant variant;
  Rotary layout;
  std::vector<uint64_t> x;       // [kTokens, kHeads, head_dim]
  std::vector<double> cos, sin;  // [kTokens, pairs]
};

Case CaseOf(const Variant& variant, const Rotary& layout, uint64_t seed) {
  std::mt19937_64 random(seed);
  const int64_t pairs = layout.Pairs();
  auto x = InputBits(variant.io, layout, random);
  auto cos = TableValues(variant.table, pairs, random, false);
  return {variant, layout, std::move(x), std::move(cos),
          TableValues(variant.table, pairs, random, true)};
}

// Runs the kernel in a placement; checks that nothing else was written and x not at all.
std::vector<uint64_t> Outputs(const Case& c, const Placement& place) {
  const std::vector<int64_t> shape = {kTokens, kHeads, c.layout.head_dim};
  CallTensor x(c.variant.io, shape, place.x_strides, place.x_shift);
  for (size_t i = 0; i < c.x.size(); ++i) x.SetBits(i, c.x[i]);
  CallTensor out(c.variant.io, shape, place.in_place ? place.x_strides : place.out_strides,
                 place.out_shift);
  // A table with rows and entries apart for the placements that are not compact.
  const int64_t pairs = c.layout.Pairs(), apart = place.x_strides[2] == 1 ? 1 : 3;
  CallTensor cos(c.variant.table, {kTokens, pairs}, {apart * pairs + 1, apart}, place.x_shift);
  CallTensor sin(c.variant.table, {kTokens, pairs}, {pairs, 1}, place.out_shift);
  for (size_t i = 0; i < c.cos.size(); ++i) {
    cos.Set(i, c.cos[i]);
    sin.Set(i, c.sin[i]);
  }
  rope::Params scheme;
  scheme.rotary = c.layout;
  const posgauge_tensor to = place.in_place ? x.Argument("out") : out.Argument("out");
  const auto [status, why] =
      CallKernel(c.variant.Kernel(), scheme,
                 {x.Argument("x"), cos.Argument("cos"), sin.Argument("sin")}, {to});
  EXPECT_EQ(status, POSGAUGE_OK) << why;
  EXPECT_TRUE(x.OthersUntouched() && out.OthersUntouched()) << "wrote beside the tensor";
  EXPECT_TRUE(place.in_place || x.AllBits() == c.x) << "wrote to x";
  return (place.in_place ? x : out).AllBits();
}

// Bounds for channels that rotate; copies elsewhere.
void ExpectRotated(const Case& c, const std::vector<uint64_t>& got) {
  const Rotary& layout = c.layout;
  const Dtype io = c.variant.io;
  std::vector<bool> rotates(static_cast<size_t>(layout.head_dim));
  const auto index = [](int64_t i) { return static_cast<size_t>(i); };
  for (int64_t row = 0; row < kTokens * kHeads; ++row) {
    for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
      const auto [first, second] = layout.Channels(pair);
      rotates[index(first)] = rotates[index(second)] = true;
      const size_t at_u = index(row * layout.head_dim + first);
      const size_t at_v = index(row * layout.head_dim + second);
      const size_t entry = index(row / kHeads * layout.Pairs() + pair);
      const double u = Decode(io, c.x[at_u]), v = Decode(io, c.x[at_v]);
      const double cos = c.cos[entry], sin = c.variant.backward ? -c.sin[entry] : c.sin[entry];
      const Allowed want_u = AllowedSum(io, u, cos, v, -sin),
                    want_v = AllowedSum(io, v, cos, u, sin);
      const double got_u = Decode(io, got[at_u]), got_v = Decode(io, got[at_v]);
      ASSERT_TRUE(want_u.low <= got_u && got_u <= want_u.high) << got_u << ' ' << want_u.low;
      ASSERT_TRUE(want_v.low <= got_v && got_v <= want_v.high) << got_v << ' ' << want_v.low;
    }
    for (int64_t channel = 0; channel < layout.head_dim; ++channel) {
      if (rotates[index(channel)]) continue;
      const size_t at = index(row * layout.head_dim + channel);
      ASSERT_EQ(got[at], c.x[at]) << "channel " << channel << " does not rotate";
    }
  }
}

class FastRotate : public testing::TestWithParam<Variant> {};

// Every placement of the same numbers gives the same bits; they are within the bound; targets that
// fuse agree with each other, and so do those that do not.
void CheckLayout(const Variant& variant, const Rotary& layout, uint64_t seed) {
  SCOPED_TRACE(fmt::format("head_dim {} rotary_dim {} offset {} {}", layout.head_dim,
                           layout.rotary_dim, layout.rotary_offset, VariantName(layout.pairing)));
  const Case c = CaseOf(variant, layout, seed);
  std::vector<uint64_t> by_fusion[2];
  OnEveryTarget([&] {
    std::vector<uint64_t>& want = by_fusion[fast::HasFusedMultiplyAdd() ? 1 : 0];
    for (const Placement& place : Placements(layout.head_dim)) {
      const std::vector<uint64_t> got = Outputs(c, place);
      if (want.empty()) {
        want = got;
        ExpectRotated(c, got);
      }
      ASSERT_EQ(got, want) << place.name;
    }
  });
}

TEST_P(FastRotate, EveryWidthPlacementAndTarget) {
  uint64_t seed = 1;
  for (Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    for (int64_t dim : {2, 4, 6, 10, 14, 18, 30, 32, 34, 50, 62, 64, 66, 96, 128, 130, 512}) {
      CheckLayout(GetParam(), LayoutOf(dim, dim, 0, pairing), ++seed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(FastRotate, ChannelsOutsideTheBlockAreCopiedBitForBit) {
  uint64_t seed = 1000;
  for (Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    for (const auto& [head_dim, rotary_dim, offset] :
         std::vector<std::array<int64_t, 3>>{{80, 32, 0},
                                             {80, 32, 48},
                                             {81, 20, 7},
                                             {192, 64, 128},
                                             {7, 6, 1},
                                             {5, 0, 0},
                                             {5, 0, 5},
                                             {1, 0, 0},
                                             {131, 130, 1}}) {
      CheckLayout(GetParam(), LayoutOf(head_dim, rotary_dim, offset, pairing), ++seed);
      if (HasFatalFailure()) return;
    }
  }
}

// rope_half(permute(x)) = permute(rope_interleaved(x)), bit for bit.
TEST_P(FastRotate, PairingsAgreeBitForBit) {
  const int64_t dim = 66, pairs = dim / 2;
  Case half = CaseOf(GetParam(), LayoutOf(dim, dim, 0, Pairing::half), 5);
  Case interleaved = half;
  interleaved.layout.pairing = Pairing::interleaved;
  const auto source = [&](size_t i) {
    const auto channel = static_cast<int64_t>(i) % dim;
    const int64_t from = channel % 2 == 0 ? channel / 2 : pairs + channel / 2;
    return i - static_cast<size_t>(channel) + static_cast<size_t>(from);
  };
  for (size_t i = 0; i < half.x.size(); ++i) interleaved.x[i] = half.x[source(i)];
  OnEveryTarget([&] {
    const Placement compact = Placements(dim).front();
    const auto got_half = Outputs(half, compact), got = Outputs(interleaved, compact);
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], got_half[source(i)]) << i;
  });
}

// A NaN or an infinity spoils its own pair and no other.
TEST_P(FastRotate, SpoiltPairsStayAlone) {
  const Dtype io = GetParam().io;
  for (Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    const Rotary layout = LayoutOf(70, 70, 0, pairing);
    const Case clean = CaseOf(GetParam(), layout, 9);
    Case spoilt = clean;
    for (int64_t pair : {0, 3, 16, 34}) {
      const auto channel = static_cast<size_t>(layout.Channels(pair)[pair % 2 == 0 ? 0 : 1]);
      spoilt.x[channel] = Encode(io, pair == 3 ? std::numeric_limits<double>::quiet_NaN()
                                               : std::numeric_limits<double>::infinity());
    }
    OnEveryTarget([&] {
      const Placement compact = Placements(70).front();
      const auto want = Outputs(clean, compact), got = Outputs(spoilt, compact);
      for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
        const bool spoils = pair == 0 || pair == 3 || pair == 16 || pair == 34;
        for (int64_t channel : layout.Channels(pair)) {
          const auto at = static_cast<size_t>(channel);
          if (spoils) {
            ASSERT_FALSE(std::isfinite(Decode(io, got[at]))) << channel;
          } else {
            ASSERT_EQ(got[at], want[at]) << channel;
          }
        }
      }
      for (size_t i = 70; i < got.size(); ++i) ASSERT_EQ(got[i], want[i]) << i;
    });
  }
}

// A NaN in the table spoils its own pair too, whatever its payload: rounding to bf16 must not carry
// out of it.
TEST_P(FastRotate, NanEntriesOfATableSpoilTheirPair) {
  const Dtype io = GetParam().io, table = GetParam().table;
  const uint64_t all_ones = ~uint64_t{0} >> (65 - 8 * SizeOf(table));
  for (Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    rope::Params scheme;
    scheme.rotary = LayoutOf(10, 10, 0, pairing);
    CallTensor x(io, {1, 1, 10}), out(io, {1, 1, 10});
    CallTensor cos(table, {1, 5}), sin(table, {1, 5});
    for (size_t i = 0; i < 10; ++i) x.Set(i, 1);
    for (size_t i = 0; i < 5; ++i) {
      cos.Set(i, 0.5);
      sin.Set(i, 0.5);
    }
    cos.SetBits(1, all_ones);
    sin.SetBits(4, all_ones);
    OnEveryTarget([&] {
      ASSERT_EQ(CallKernel(GetParam().Kernel(), scheme,
                           {x.Argument("x"), cos.Argument("cos"), sin.Argument("sin")},
                           {out.Argument("out")})
                    .status,
                POSGAUGE_OK);
      for (int64_t pair = 0; pair < 5; ++pair) {
        for (int64_t channel : scheme.rotary.Channels(pair)) {
          const double value = out.Value(static_cast<size_t>(channel));
          ASSERT_EQ(std::isnan(value), pair == 1 || pair == 4) << channel << ' ' << value;
        }
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(fast, FastRotate, testing::ValuesIn(kVariants), [](const auto& variant) {
  std::string name = variant.param.Kernel();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

// The worst inputs that fast/rotate-inl.h names: error over the norms, in units of 2^-24.
TEST(fast_rotate, WorstKnownInputsAreAsStated) {
  struct Witness {
    bool fused;
    float u, v, c, s, got;
    double units;
  };
  const std::vector<Witness> witnesses = {
      {true, 0x1.41cd8ep-5, -0x1.00d028p+0, 0x1.a1a2b8p-11, 0x1.fffff6p-1, 0x1.00d22ep+0, 1.962},
      {false, 0x1.0001p+0, -0x1.84010ep-4, -0x1.fffefep-1, -0x1.00886ap-8, -0x1.0018cap+0, 1.977},
  };
  OnEveryTarget([&] {
    for (const auto& [fused, u, v, c, s, got, units] : witnesses) {
      if (fused != fast::HasFusedMultiplyAdd()) continue;
      const float x[2] = {u, v};
      float out[2];
      fast::RotateHeads(Dtype::f32, Pairing::half, 1, 1, {x, 2, 1}, {out, 2, 1}, &c, &s);
      EXPECT_EQ(out[0], got);
      const double truth = double{u} * c - double{v} * s;
      const double error = std::fabs(out[0] - truth) / std::hypot(u, v) / std::hypot(c, s) * 0x1p24;
      EXPECT_GE(error, units);
      EXPECT_LE(error, 2);
    }
  });
}

// From positions: the same bits as the table kernel's table handed to the rotation kernel; forward
// and backward, chunk by chunk and at once.
TEST(fast_rotate_positions, IsTheTableAndTheRotation) {
  const std::vector<double> positions = {131071, -3.25};
  const std::vector<double> low(33, 0x1p-70);
  std::vector<double> high;
  for (int i = 0; i < 33; ++i) high.push_back(std::exp2(-i / 3.0));
  CallTensor p = TensorOf(Dtype::f64, positions), h = TensorOf(Dtype::f64, high),
             l = TensorOf(Dtype::f64, low), a = TensorOf(Dtype::f64, {1.3});
  const std::vector<posgauge_tensor> angles = {p.Argument("positions"), h.Argument("frequency"),
                                               l.Argument("frequency_low"),
                                               a.Argument("magnitude")};
  OnEveryTarget([&] {
    for (const Variant& variant : kVariants) {
      if (variant.table != fast::ComputeDtype(variant.io)) continue;
      for (Pairing pairing : {Pairing::half, Pairing::interleaved}) {
        Case c = CaseOf(variant, LayoutOf(70, 66, 4, pairing), 77);
        rope::Params scheme;
        scheme.rotary = c.layout;
        CallTensor cos(variant.table, {kTokens, 33}), sin(variant.table, {kTokens, 33});
        const std::string table_kernel = fmt::format("fast.table.{}", Name(variant.table));
        ASSERT_EQ(
            CallKernel(table_kernel, scheme, angles, {cos.Argument("cos"), sin.Argument("sin")})
                .status,
            POSGAUGE_OK);
        for (size_t i = 0; i < c.cos.size(); ++i) {
          c.cos[i] = cos.Value(i);
          c.sin[i] = sin.Value(i);
        }
        const auto want = Outputs(c, Placements(70).front());

        CallTensor x(variant.io, {kTokens, kHeads, 70}), out(variant.io, {kTokens, kHeads, 70});
        for (size_t i = 0; i < c.x.size(); ++i) x.SetBits(i, c.x[i]);
        auto inputs = angles;
        inputs.push_back(x.Argument("x"));
        const std::string kernel =
            fmt::format("fast.{}_positions.{}", variant.backward ? "rotate_backward" : "rotate",
                        Name(variant.io));
        const auto [status, why] = CallKernel(kernel, scheme, inputs, {out.Argument("out")});
        ASSERT_EQ(status, POSGAUGE_OK) << why;
        ASSERT_EQ(out.AllBits(), want) << kernel;
      }
    }
  });
}

TEST(fast_rotate, NoTokensAndNoHeadsAreFine) {
  rope::Params scheme;
  for (const auto& [tokens, heads] : {std::pair<int64_t, int64_t>{0, 4}, {4, 0}, {0, 0}}) {
    CallTensor x(Dtype::f32, {tokens, heads, 128}), out(Dtype::f32, {tokens, heads, 128});
    CallTensor cos(Dtype::f32, {tokens, 64}), sin(Dtype::f32, {tokens, 64});
    const auto [status, why] = CallKernel(
        "fast.rotate.f32", scheme, {x.Argument("x"), cos.Argument("cos"), sin.Argument("sin")},
        {out.Argument("out")});
    EXPECT_EQ(status, POSGAUGE_OK) << why;
    EXPECT_TRUE(out.OthersUntouched());
  }
}

TEST(fast_rotate, RefusesWhatItDoesNotOffer) {
  rope::Params scheme;
  CallTensor x(Dtype::f32, {2, 1, 128}), cos(Dtype::f32, {2, 64}), sin(Dtype::f32, {2, 64});
  const auto refusal = [&](const std::vector<posgauge_tensor>& inputs, posgauge_tensor out) {
    const Answer answer = CallKernel("fast.rotate.f32", scheme, inputs, {out});
    EXPECT_EQ(answer.status, POSGAUGE_UNSUPPORTED);
    return answer.why;
  };
  CallTensor out(Dtype::f32, {2, 1, 128}), narrow(Dtype::f32, {2, 1, 126});
  CallTensor wrong_dtype(Dtype::bf16, {2, 64});
  const posgauge_tensor c = cos.Argument("cos"), s = sin.Argument("sin"), in = x.Argument("x");
  EXPECT_EQ(refusal({in, c}, out.Argument("out")), "the call lacks the tensor sin");
  EXPECT_EQ(refusal({in, c, s}, narrow.Argument("out")),
            "out must have length 128 on axis 2, got 126");
  EXPECT_EQ(refusal({in, wrong_dtype.Argument("cos"), s}, out.Argument("out")),
            "cos must be f32, got dtype code 2");

  posgauge_tensor overlapping = x.Argument("out");
  overlapping.tensor.byte_offset = 4;
  EXPECT_EQ(refusal({in, c, s}, overlapping), "out overlaps x without being the same memory");

  posgauge_tensor crooked = out.Argument("out");
  crooked.tensor.byte_offset = 2;
  EXPECT_EQ(refusal({in, c, s}, crooked), "out must be aligned to its elements, 4 bytes");

  posgauge_tensor elsewhere = out.Argument("out");
  elsewhere.tensor.device.device_type = kDLCUDA;
  EXPECT_EQ(refusal({in, c, s}, elsewhere), "out must be in CPU memory, got device type 2");
}

}  // namespace
}  // namespace posgauge
