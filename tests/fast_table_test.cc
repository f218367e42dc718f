#include <cmath>
#include <numbers>

#include "kernel_call.h"
#include "posgauge/reference/exact_rotation.h"

namespace posgauge {
namespace {

// A scheme's frequencies and magnitude as a kernel is handed them, and the truth for exactly those.
struct Given {
  std::vector<double> high, low;
  double magnitude;
  ExactRotation truth;
};

Given GivenOf(const std::vector<DoubleDouble>& frequencies, double magnitude) {
  Rotary layout;
  layout.head_dim = layout.rotary_dim = 2 * static_cast<int64_t>(frequencies.size());
  Given given{{}, {}, magnitude, ExactRotation(layout, frequencies, {magnitude, 0})};
  for (DoubleDouble frequency : frequencies) {
    given.high.push_back(frequency.high);
    given.low.push_back(frequency.low);
  }
  return given;
}

Given GivenOf(const Scheme& scheme) {
  const ExactRotation exact(scheme);
  return GivenOf(exact.EncloseFrequencies().values, exact.Magnitude(Dtype::f64).values[0]);
}

std::vector<double> WholePositions() {
  std::vector<double> positions = {0};
  for (int k = 0; k <= 32; ++k) {
    for (double offset : {-1.0, 0.0, 1.0}) {
      const double position = std::ldexp(1.0, k) + offset;
      if (position > fast::kLargestPosition) continue;
      positions.push_back(position);
      positions.push_back(-position);
    }
  }
  for (double position : {131071.0, 548383.0, 977267.0, 3141592653.0})
    positions.push_back(position);
  return positions;
}

const std::vector<double> kFractionalPositions = {0.5,     -0.5,         0x1p-20,      1 - 0x1p-24,
                                                  3.14159, 1000000.0625, -77.03125,    0x1p-60,
                                                  0.1,     2147483647.7, 0x1.fffffep22};

struct Table {
  std::vector<double> cos, sin;  // [tokens, pairs]
};

Table TableOf(const Given& given, const std::vector<double>& positions, Dtype dtype,
              Dtype position_dtype = Dtype::f64) {
  const auto tokens = static_cast<int64_t>(positions.size());
  const auto pairs = static_cast<int64_t>(given.high.size());
  CallTensor p = TensorOf(position_dtype, positions), high = TensorOf(Dtype::f64, given.high),
             low = TensorOf(Dtype::f64, given.low),
             magnitude = TensorOf(Dtype::f64, {given.magnitude});
  CallTensor cos(dtype, {tokens, pairs}), sin(dtype, {tokens, pairs});
  const auto [status, why] =
      CallKernel("fast.table." + std::string(Name(dtype)), rope::Params{},
                 {p.Argument("positions"), high.Argument("frequency"),
                  low.Argument("frequency_low"), magnitude.Argument("magnitude")},
                 {cos.Argument("cos"), sin.Argument("sin")});
  EXPECT_EQ(status, POSGAUGE_OK) << why;
  EXPECT_TRUE(cos.OthersUntouched() && sin.OthersUntouched());
  Table table;
  for (size_t i = 0; i < cos.size(); ++i) {
    table.cos.push_back(cos.Value(i));
    table.sin.push_back(sin.Value(i));
  }
  return table;
}

// The bound of fast/table-inl.h on |computed - cos(p w)| before the magnitude: its units of 2^-54,
// and the phase, 2 pi (|p| 2^-97 + 2^-65 and for a fraction 2^-65 (1 + |w|/2 pi) more).
double UnitError(double position, double frequency) {
  const double units = fast::HasFusedMultiplyAdd() ? 2.9 : 3.9;
  const double fraction = std::trunc(position) == position ? 0 : 1 + std::fabs(frequency) / 6;
  return units * 0x1p-54 +
         2 * std::numbers::pi * (std::fabs(position) * 0x1p-97 + 0x1p-65 * (1 + fraction));
}

// Whether `got` is the rounding of some number within `error` of a * truth. The truth's low part
// and the double sums below are covered by 2^-52 of the value.
void ExpectRounding(Dtype dtype, double got, DoubleDouble truth, double magnitude, double error) {
  const double value = magnitude * truth.high;
  if (dtype == Dtype::f64) {
    const double distance =
        std::fabs((got - magnitude * truth.high) - std::fma(magnitude, truth.high, -value) -
                  magnitude * truth.low);
    ASSERT_LE(distance, magnitude * error + 0x1p-53 * std::fabs(magnitude));
    return;
  }
  const double reach = magnitude * (error + 0x1p-52);
  ASSERT_GE(got, RoundTo(FormatOf(dtype), value - reach));
  ASSERT_LE(got, RoundTo(FormatOf(dtype), value + reach));
}

void ExpectWithinBound(const Given& given, const std::vector<double>& positions, Dtype dtype) {
  const EnclosedTable truth = given.truth.EncloseTable(positions);
  OnEveryTarget([&] {
    const Table got = TableOf(given, positions, dtype);
    const size_t pairs = given.high.size();
    for (size_t i = 0; i < got.cos.size(); ++i) {
      const double position = positions[i / pairs], frequency = given.high[i % pairs];
      SCOPED_TRACE(fmt::format("{} position {} frequency {}", Name(dtype), position, frequency));
      const double error = UnitError(position, frequency);
      ExpectRounding(dtype, got.cos[i], truth.cos[i], given.magnitude, error);
      ExpectRounding(dtype, got.sin[i], truth.sin[i], given.magnitude, error);
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

const std::vector<std::pair<std::string, std::vector<std::string>>> kSchemes = {
    {"rope", {"rotary_dim=74"}},
    {"llama3", {"rotary_dim=64", "direction=clockwise"}},
    {"yarn", {"rotary_dim=64", "factor=40"}},  // magnitude above 1
};

TEST(fast_table, WholePositionsStayWithinTheBound) {
  for (const auto& [name, settings] : kSchemes) {
    const Given given = GivenOf(ParseScheme(name, settings));
    for (Dtype dtype : fast::kDtypes) ExpectWithinBound(given, WholePositions(), dtype);
  }
}

TEST(fast_table, FractionalPositionsStayWithinTheBound) {
  const Given given = GivenOf(ParseScheme("rope", {"rotary_dim=74"}));
  for (Dtype dtype : fast::kDtypes) ExpectWithinBound(given, kFractionalPositions, dtype);
}

// Whole turns per token, both signs, a low part of the other sign, zero, and almost nothing.
TEST(fast_table, ExtremeFrequenciesStayWithinTheBound) {
  const Given given = GivenOf({{0x1p34, 0},
                               {-0x1p34, 0x1p-20},
                               {6.283185307179586, 2.4492935982947064e-16},
                               {-6.283185307179586, 0},
                               {123456.789, -0x1p-40},
                               {0, 0},
                               {1e-30, 0},
                               {-0x1p-97, 0},
                               {3, -0x1p-53}},
                              1);
  for (Dtype dtype : {Dtype::f64, Dtype::f32}) {
    ExpectWithinBound(given, WholePositions(), dtype);
    ExpectWithinBound(given, kFractionalPositions, dtype);
  }
}

// The f32 table's worst case over all positions to 2^32: half an ulp and 2^-52 and a bit.
TEST(fast_table, F32IsWithinHalfAnUlpOfTheTruth) {
  const Given given = GivenOf(ParseScheme("rope", {}));
  const std::vector<double> positions = WholePositions();
  const EnclosedTable truth = given.truth.EncloseTable(positions);
  const Table got = TableOf(given, positions, Dtype::f32);
  double worst = 0;
  for (size_t i = 0; i < got.cos.size(); ++i) {
    worst = std::max({worst, std::fabs(got.cos[i] - truth.cos[i].high),
                      std::fabs(got.sin[i] - truth.sin[i].high)});
  }
  EXPECT_LE(worst, 0x1p-25 + 0x1.1p-52);
  EXPECT_LE(worst, 6.0e-8);
}

// The worst inputs that fast/table-inl.h names, and what comes out of them.
struct Witness {
  double position;
  size_t pair;
  bool cosine, fused;
  Dtype dtype;
  double got, want;
};
const std::vector<Witness> kWitnesses = {
    {244786, 6, true, true, Dtype::f64, 0x1.6a33cf133f4efp-1, 0x1.6a33cf133f4eep-1},
    {566735, 45, false, false, Dtype::f64, -0x1.6ca78b7fdfa3ep-1, -0x1.6ca78b7fdfa3cp-1},
    // The worst of the sine's polynomial.
    {100508, 43, true, true, Dtype::f64, -0x1.62047f4d2523ap-1, -0x1.62047f4d2523bp-1},
    {4038952345, 9, false, true, Dtype::f64, 0x1.68eb2278c119cp-1, 0x1.68eb2278c119dp-1},
    {644683, 12, true, false, Dtype::f64, 0x1.68ae43742344p-1, 0x1.68ae437423441p-1},
    {696325, 3, false, false, Dtype::f64, 0x1.5168201bb2ac2p-1, 0x1.5168201bb2ac3p-1},
    {548383, 19, true, true, Dtype::f32, -0x1.8c0494p-3, -0x1.8c0496p-3},
    {548383, 19, true, false, Dtype::f32, -0x1.8c0494p-3, -0x1.8c0496p-3},
};

TEST(fast_table, WorstKnownInputsAreAsStated) {
  const Given given = GivenOf(ParseScheme("rope", {"base=500000"}));
  OnEveryTarget([&] {
    for (const Witness& witness : kWitnesses) {
      if (witness.fused != fast::HasFusedMultiplyAdd()) continue;
      const Table got = TableOf(given, {witness.position}, witness.dtype);
      const RoundedTable want = given.truth.Table(std::array{witness.position}, witness.dtype);
      EXPECT_EQ((witness.cosine ? got.cos : got.sin)[witness.pair], witness.got);
      EXPECT_EQ((witness.cosine ? want.cos : want.sin).values[witness.pair], witness.want);
    }
  });
}

TEST(fast_table, PositionZeroIsExact) {
  const Given given = GivenOf({{1, 0}, {-1, 0}, {0x1p30, 0}}, 1);
  for (double zero : {0.0, -0.0}) {
    const Table table = TableOf(given, {zero}, Dtype::f64);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(table.cos[i], 1);
      EXPECT_EQ(std::copysign(1.0, table.sin[i]), 1.0);
      EXPECT_EQ(table.sin[i], 0);
    }
  }
}

TEST(fast_table, NegativePositionsMirrorExactly) {
  const Given given = GivenOf(ParseScheme("rope", {"rotary_dim=62"}));
  const Table ahead = TableOf(given, {5, 0.375, 4e9}, Dtype::f64);
  const Table behind = TableOf(given, {-5, -0.375, -4e9}, Dtype::f64);
  for (size_t i = 0; i < ahead.cos.size(); ++i) {
    EXPECT_EQ(ahead.cos[i], behind.cos[i]);
    EXPECT_EQ(ahead.sin[i], -behind.sin[i]);
  }
}

TEST(fast_table, PositionDtypesAgree) {
  const Given given = GivenOf(ParseScheme("rope", {"rotary_dim=62"}));
  const std::vector<double> positions = {0, 1, -7, 16777216, 2147483520};
  const Table want = TableOf(given, positions, Dtype::f32, Dtype::i64);
  for (Dtype dtype : {Dtype::i32, Dtype::f64, Dtype::f32}) {
    const Table got = TableOf(given, positions, Dtype::f32, dtype);
    EXPECT_EQ(got.cos, want.cos);
    EXPECT_EQ(got.sin, want.sin);
  }
}

// A pair's entry does not depend on how many pairs stand beside it: bodies and tails agree.
TEST(fast_table, EntriesDoNotDependOnTheirNeighbours) {
  const Given all = GivenOf(ParseScheme("rope", {"rotary_dim=74"}));
  OnEveryTarget([&] {
    for (Dtype dtype : fast::kDtypes) {
      const Table want = TableOf(all, {12345.5}, dtype);
      for (size_t pairs = 0; pairs < 37; ++pairs) {
        Given part = all;
        part.high.resize(pairs);
        part.low.resize(pairs);
        const Table got = TableOf(part, {12345.5}, dtype);
        ASSERT_TRUE(std::equal(got.cos.begin(), got.cos.end(), want.cos.begin())) << pairs;
        ASSERT_TRUE(std::equal(got.sin.begin(), got.sin.end(), want.sin.begin())) << pairs;
      }
    }
  });
}

TEST(fast_table, StridedOutputsHoldTheSameValues) {
  const Given given = GivenOf(ParseScheme("rope", {"rotary_dim=26"}));
  CallTensor p = TensorOf(Dtype::i32, {3, -4, 5}), high = TensorOf(Dtype::f64, given.high),
             low = TensorOf(Dtype::f64, given.low), magnitude = TensorOf(Dtype::f64, {1});
  for (Dtype dtype : fast::kDtypes) {
    const Table want = TableOf(given, {3, -4, 5}, dtype);
    CallTensor cos(dtype, {3, 13}, {1, 5}, 3), sin(dtype, {3, 13}, {-40, 3});
    const auto [status, why] =
        CallKernel("fast.table." + std::string(Name(dtype)), rope::Params{},
                   {p.Argument("positions"), high.Argument("frequency"),
                    low.Argument("frequency_low"), magnitude.Argument("magnitude")},
                   {cos.Argument("cos"), sin.Argument("sin")});
    ASSERT_EQ(status, POSGAUGE_OK) << why;
    for (size_t i = 0; i < want.cos.size(); ++i) {
      ASSERT_EQ(cos.Value(i), want.cos[i]);
      ASSERT_EQ(sin.Value(i), want.sin[i]);
    }
    EXPECT_TRUE(cos.OthersUntouched() && sin.OthersUntouched());
  }
}

TEST(fast_table, RefusesWhatItsBoundDoesNotCover) {
  const auto refusal = [](double position, double frequency, double factor) {
    CallTensor p = TensorOf(Dtype::f64, {1, position}), high = TensorOf(Dtype::f64, {frequency}),
               low = TensorOf(Dtype::f64, {0}), magnitude = TensorOf(Dtype::f64, {factor});
    CallTensor cos(Dtype::f32, {2, 1}), sin(Dtype::f32, {2, 1});
    const auto before = cos.AllBits();
    const Answer answer =
        CallKernel("fast.table.f32", rope::Params{},
                   {p.Argument("positions"), high.Argument("frequency"),
                    low.Argument("frequency_low"), magnitude.Argument("magnitude")},
                   {cos.Argument("cos"), sin.Argument("sin")});
    EXPECT_EQ(answer.status, POSGAUGE_UNSUPPORTED);
    EXPECT_EQ(cos.AllBits(), before) << "a refused call must not write";
    return answer.why;
  };
  EXPECT_EQ(refusal(0x1p32, 1, 1),
            "a position must be finite and at most 4294967295 in size, got 4294967296");
  for (double bad : {-0x1p32, 1e300, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    EXPECT_NE(refusal(bad, 1, 1).find("a position must be finite"), std::string::npos);
    EXPECT_NE(refusal(1, 8 * bad, 1).find("frequency[0] must be finite"), std::string::npos);
    EXPECT_NE(refusal(1, 1, bad).find("magnitude must be in"), std::string::npos);
  }
}

// A call of fast.table.f32 with positions [tokens, axes] and the axis of each pair; it takes what
// it needs from tensors, whatever the scheme.
struct AxesCall {
  std::vector<double> positions;  // [tokens, axes]
  int64_t axes;
  std::vector<double> axis;  // [pairs]

  Answer Run(CallTensor& cos, CallTensor& sin) const {
    const std::vector<double> frequencies = {1, -0.75, 1e-3, 3.5, 0.1, 1e-7, 2.25};
    const auto tokens = static_cast<int64_t>(positions.size()) / axes;
    // Of one axis as rope is called.
    CallTensor p(Dtype::f64, axes == 1 ? std::vector{tokens} : std::vector{tokens, axes});
    for (size_t i = 0; i < positions.size(); ++i) p.Set(i, positions[i]);
    CallTensor of_pair = TensorOf(Dtype::i32, axis), high = TensorOf(Dtype::f64, frequencies),
               low = TensorOf(Dtype::f64, std::vector<double>(7, 0.0)),
               magnitude = TensorOf(Dtype::f64, {1.25});
    std::vector<posgauge_tensor> inputs = {p.Argument("positions"), high.Argument("frequency"),
                                           low.Argument("frequency_low"),
                                           magnitude.Argument("magnitude")};
    if (axes > 1) inputs.push_back(of_pair.Argument("axis"));
    return CallKernel("fast.table.f32", rope::Params{}, inputs,
                      {cos.Argument("cos"), sin.Argument("sin")});
  }
};

// Whole positions beside fractions, 0 of both signs, negative ones and the largest.
TEST(fast_table, RowsOfSeveralAxesAreColumnsOfRowsOfOne) {
  const std::vector<double> seen = {0, -0.0, 1, -1, 0.25, -77777.7, 131071, fast::kLargestPosition};
  AxesCall mixed{{}, 3, {0, 1, 2, 2, 1, 0, 1}};
  for (double a : seen) {
    for (double b : seen) mixed.positions.insert(mixed.positions.end(), {a, b, -3});
  }
  OnEveryTarget([&] {
    const auto tokens = static_cast<int64_t>(mixed.positions.size()) / 3;
    CallTensor cos(Dtype::f32, {tokens, 7}), sin(Dtype::f32, {tokens, 7});
    ASSERT_EQ(mixed.Run(cos, sin).status, POSGAUGE_OK);
    for (size_t axis = 0; axis < 3; ++axis) {
      // The same position on every axis, whatever the pair.
      AxesCall alone{{}, 1, std::vector<double>(7, 0.0)};
      for (size_t at = axis; at < mixed.positions.size(); at += 3) {
        alone.positions.push_back(mixed.positions[at]);
      }
      CallTensor one_cos(Dtype::f32, {tokens, 7}), one_sin(Dtype::f32, {tokens, 7});
      ASSERT_EQ(alone.Run(one_cos, one_sin).status, POSGAUGE_OK);
      for (size_t i = 0; i < cos.size(); ++i) {
        if (mixed.axis[i % 7] != static_cast<double>(axis)) continue;
        EXPECT_EQ(cos.Bits(i), one_cos.Bits(i)) << i;
        EXPECT_EQ(sin.Bits(i), one_sin.Bits(i)) << i;
      }
    }
  });
}

TEST(fast_table, RefusesAnAxisThatThereIsNot) {
  CallTensor cos(Dtype::f32, {1, 7}), sin(Dtype::f32, {1, 7});
  const auto refusal = [&](int64_t axes, const std::vector<double>& axis) {
    const Answer answer =
        AxesCall{std::vector<double>(static_cast<size_t>(axes), 1.0), axes, axis}.Run(cos, sin);
    EXPECT_EQ(answer.status, POSGAUGE_UNSUPPORTED);
    return answer.why;
  };
  EXPECT_EQ(refusal(2, {0, 1, 2, 0, 1, 0, 1}), "axis must be in 0..1, got 2");
  EXPECT_EQ(refusal(2, {0, 1, -1, 0, 1, 0, 1}), "axis must be in 0..1, got -1");
  EXPECT_EQ(refusal(2, {0, 1}), "axis must have length 7 on axis 0, got 2");
}

}  // namespace
}  // namespace posgauge
