// The bulk paths of the reference against intervals, against each other, and against themselves on
// other threads.
#include <gtest/gtest.h>

#include <cstring>

#include "posgauge/fast/simd.h"
#include "posgauge/reference/direct_rotation.h"
#include "posgauge/reference/exact_rotation_state.h"
#include "posgauge/reference/table_stream.h"
#include "posgauge/verify/random.h"

namespace posgauge {
namespace {

std::vector<Scheme> Schemes() {
  return {
      ParseScheme("rope", {"rotary_dim=128"}),
      ParseScheme("rope", {"rotary_dim=6", "base=500000", "direction=clockwise"}),
      ParseScheme("llama3", {"rotary_dim=64", "base=500000", "factor=8", "low_frequency_factor=1",
                             "high_frequency_factor=4", "original_length=8192"}),
      ParseScheme("yarn", {"rotary_dim=48", "factor=16", "original_length=4096"}),
      ParseScheme("linear", {"rotary_dim=80", "factor=3"}),
  };
}

// Whole positions with one to four digits of a RowCache.
std::vector<int64_t> SomePositions(size_t count) {
  std::vector<int64_t> positions = {1,       63,         64,         65,     8191,    8192,
                                    1 << 20, 2147483647, 2147483584, 548383, 1048575, 1048576};
  Random random(7, "certified_table");
  while (positions.size() < count) {
    const auto bits = static_cast<int>(random.Below(31));
    positions.push_back(1 + static_cast<int64_t>(random.Below(uint64_t{1} << bits)));
  }
  return positions;
}

// Whether |high + low - v| <= radius for every v of the interval.
template <unsigned Digits>
bool Holds(const Interval<Digits>& v, DoubleDouble sum, double radius) {
  using I = Interval<Digits>;
  const I error = v - I(sum.high) - I(sum.low);
  return error.lo() >= -radius && error.hi() <= radius;
}

void ExpectTurned(const RotationLadder& ladder, int64_t position, int64_t pair, DoubleDouble cos,
                  DoubleDouble sin, double radius) {
  const auto& rotation = ladder.At<2>();
  using I = Interval<kDigits[2]>;
  const auto [c, s] = CosSin(I(position) * rotation.frequency[static_cast<size_t>(pair)]);
  EXPECT_TRUE(Holds(c, cos, radius)) << "cos at " << position << " pair " << pair;
  EXPECT_TRUE(Holds(s, sin, radius)) << "sin at " << position << " pair " << pair;
}

TEST(certified_table, RowsAreWithinTheirRadius) {
  for (const Scheme& scheme : Schemes()) {
    const ExactRotation rotation(scheme);
    const ExactRotation::State& state = rotation.state();
    const std::vector<int64_t> positions = SomePositions(60);
    const std::vector<double> as_double(positions.begin(), positions.end());
    ASSERT_TRUE(state.rows.Prepare(as_double));
    RowWalker walker(state.rows);
    for (int64_t position : positions) {
      const RotationRow& row = walker.At(position);
      for (int64_t pair = 0; pair < rotation.layout().Pairs(); ++pair) {
        ExpectTurned(state.ladder, position, pair, row.Cos(pair), row.Sin(pair), walker.radius());
      }
    }
  }
}

TEST(certified_table, DirectIsWithinItsRadius) {
  for (const Scheme& scheme : Schemes()) {
    const ExactRotation rotation(scheme);
    const RotationLadder& ladder = rotation.state().ladder;
    const DirectRotation direct(ladder);
    std::vector<int64_t> positions = SomePositions(60);
    // The entry that refuted an estimate of 2^-106 made by hand.
    positions.insert(positions.end(), {0, 392737844, (int64_t{1} << 32) - 1});
    for (int64_t position : positions) {
      for (int64_t pair = 0; pair < rotation.layout().Pairs(); ++pair) {
        const auto [cos, sin] = direct.At(position, pair);
        ExpectTurned(ladder, position, pair, cos, sin, DirectRotation::kRadius);
      }
    }
  }
}

// A radius that is too small by as much as a bit would be seen: the errors come close to it.
TEST(certified_table, RadiusIsNotSlack) {
  const ExactRotation rotation(ParseScheme("rope", {"rotary_dim=128"}));
  const DirectRotation direct(rotation.state().ladder);
  const auto [cos, sin] = direct.At(392737844, 30);
  const auto& exact = rotation.state().ladder.At<2>();
  using I = Interval<kDigits[2]>;
  const auto values = CosSin(I(int64_t{392737844}) * exact.frequency[30]);
  EXPECT_TRUE(Holds(values[0], cos, 0x1p-105));
  EXPECT_FALSE(Holds(values[0], cos, 0x1p-106));
}

// The bytes of a streamed table, one string a dtype.
struct Streamed {
  std::vector<std::string> cos, sin;
  std::vector<StreamCounts> counts;
};
Streamed Stream(const Scheme& scheme, int64_t first, int64_t end, std::span<const Dtype> dtypes,
                StreamPath path, int threads) {
  Streamed streamed{
      std::vector<std::string>(dtypes.size()), std::vector<std::string>(dtypes.size()), {}};
  int64_t next = first;
  const auto text = [](std::span<const std::byte> bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  streamed.counts = StreamTable(ExactRotation(scheme), first, end, dtypes, path, threads,
                                [&](const TableBlock& block) {
                                  EXPECT_EQ(block.first, next);
                                  next += block.tokens;
                                  for (size_t i = 0; i < dtypes.size(); ++i) {
                                    EXPECT_EQ(block.values[i].dtype, dtypes[i]);
                                    streamed.cos[i] += text(block.values[i].cos);
                                    streamed.sin[i] += text(block.values[i].sin);
                                  }
                                });
  EXPECT_EQ(next, end);
  return streamed;
}

TEST(certified_table, BytesDoNotDependOnThreads) {
  const Scheme scheme = Schemes()[2];
  const Streamed one = Stream(scheme, 5, 9005, kFloatDtypes, StreamPath::rows, 1);
  for (int threads : {2, 3}) {
    const Streamed more = Stream(scheme, 5, 9005, kFloatDtypes, StreamPath::rows, threads);
    EXPECT_EQ(one.cos, more.cos) << threads;
    EXPECT_EQ(one.sin, more.sin) << threads;
    EXPECT_EQ(one.counts, more.counts) << threads;
  }
}

// Every instruction set, with fused multiply-adds and without: the bounds hold for all of them, and
// what is proven is the same.
TEST(certified_table, BytesDoNotDependOnTheTarget) {
  for (const Scheme& scheme : {Schemes()[1], Schemes()[3]}) {
    const Streamed best = Stream(scheme, 8000, 9000, kFloatDtypes, StreamPath::rows, 1);
    const Dtype f32 = Dtype::f32;
    const Streamed narrow = Stream(scheme, 8000, 9000, std::span(&f32, 1), StreamPath::rows, 1);
    for (const std::string& target : fast::Targets()) {
      fast::UseTarget(target);
      const Streamed other = Stream(scheme, 8000, 9000, kFloatDtypes, StreamPath::rows, 1);
      EXPECT_EQ(best.cos, other.cos) << target;
      EXPECT_EQ(best.sin, other.sin) << target;
      const Streamed again = Stream(scheme, 8000, 9000, std::span(&f32, 1), StreamPath::rows, 1);
      EXPECT_EQ(narrow.cos, again.cos) << target;
      EXPECT_EQ(narrow.sin, again.sin) << target;
    }
    fast::UseTarget("");
  }
}

// And every row is within its radius on every one of them.
TEST(certified_table, RowsAreWithinTheirRadiusOnEveryTarget) {
  for (const std::string& target : fast::Targets()) {
    fast::UseTarget(target);
    const ExactRotation rotation(Schemes()[0]);
    const ExactRotation::State& state = rotation.state();
    const std::vector<int64_t> positions = SomePositions(20);
    const std::vector<double> as_double(positions.begin(), positions.end());
    ASSERT_TRUE(state.rows.Prepare(as_double));
    RowWalker walker(state.rows);
    for (int64_t position : positions) {
      const RotationRow& row = walker.At(position);
      for (int64_t pair = 0; pair < rotation.layout().Pairs(); ++pair) {
        ExpectTurned(state.ladder, position, pair, row.Cos(pair), row.Sin(pair), walker.radius());
      }
    }
  }
  fast::UseTarget("");
}

TEST(certified_table, PathsAgree) {
  for (const Scheme& scheme : Schemes()) {
    for (int64_t first : {int64_t{0}, int64_t{1048000}, int64_t{2147483000}}) {
      const int64_t end = first + 600;
      const Streamed rows = Stream(scheme, first, end, kFloatDtypes, StreamPath::rows, 0);
      const Streamed direct = Stream(scheme, first, end, kFloatDtypes, StreamPath::direct, 0);
      EXPECT_EQ(rows.cos, direct.cos) << Text(scheme) << " from " << first;
      EXPECT_EQ(rows.sin, direct.sin) << Text(scheme) << " from " << first;
    }
  }
}

// The same as entry by entry through intervals alone, and as Table in one piece.
TEST(certified_table, StreamIsTheTable) {
  for (const Scheme& scheme : Schemes()) {
    const ExactRotation rotation(scheme);
    for (Dtype dtype : kFloatDtypes) {
      const Streamed streamed = Stream(scheme, 0, 400, std::span(&dtype, 1), StreamPath::rows, 0);
      std::vector<double> positions(400);
      for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<double>(i);
      const RoundedTable whole = rotation.Table(positions, dtype);
      const auto pairs = static_cast<size_t>(rotation.layout().Pairs());
      for (size_t at = 0; at < whole.cos.values.size(); ++at) {
        for (const auto& [values, bytes] :
             {std::pair(&whole.cos, &streamed.cos[0]), std::pair(&whole.sin, &streamed.sin[0])}) {
          uint64_t bits = 0;
          std::memcpy(&bits, bytes->data() + at * SizeOf(dtype), SizeOf(dtype));
          ASSERT_EQ(Encode(dtype, values->values[at]), bits)
              << Text(scheme) << " position " << at / pairs << " pair " << at % pairs;
        }
      }
      // A single position never takes the bulk path.
      for (size_t i : {size_t{0}, size_t{1}, size_t{64}, size_t{399}}) {
        const RoundedTable alone = rotation.Table(std::span(&positions[i], 1), dtype);
        for (size_t pair = 0; pair < pairs; ++pair) {
          const size_t at = i * pairs + pair;
          EXPECT_EQ(alone.cos.values[pair], whole.cos.values[at]);
          EXPECT_EQ(alone.sin.values[pair], whole.sin.values[at]);
          EXPECT_EQ(alone.cos.proofs[pair], whole.cos.proofs[at]);
          EXPECT_EQ(alone.sin.proofs[pair], whole.sin.proofs[at]);
          if (alone.cos.distances.empty()) continue;
          EXPECT_EQ(alone.cos.distances[pair], whole.cos.distances[at]);
          EXPECT_EQ(alone.sin.distances[pair], whole.sin.distances[at]);
        }
      }
    }
  }
}

// Why every value is tested: rounding the double-double's high part without the test is right for
// all but a few of 2^27 entries, and wrong for this one, the hardest of base 500000 below 2^20.
TEST(certified_table, WithoutTheRoundingTestOneEntryIsWrong) {
  const ExactRotation rotation(ParseScheme("rope", {"rotary_dim=128", "base=500000"}));
  const double position = 548383;
  constexpr int64_t kPair = 19;
  const ExactRotation::State& state = rotation.state();
  ASSERT_TRUE(state.rows.Prepare(std::span(&position, 1)));
  RowWalker walker(state.rows);
  const RotationRow& row = walker.At(static_cast<int64_t>(position));
  std::vector<float> cos(static_cast<size_t>(row.stride)), sin(cos);
  std::vector<int64_t> open;
  RoundRow(row, walker.radius(), 0, Dtype::f32, cos.data(), sin.data(), &open);
  EXPECT_EQ(cos[kPair], -0x1.8c0494p-3F);  // what ignoring the test would give
  EXPECT_EQ(open, std::vector<int64_t>{kPair});
  const RoundedTable right = rotation.Table(std::span(&position, 1), Dtype::f32);
  EXPECT_EQ(right.cos.values[kPair], -0x1.8c0496p-3);
  EXPECT_EQ(right.cos.proofs[kPair], Proof::proven);
}

TEST(certified_table, ZeroFrequenciesAreExact) {
  const Rotary layout{.head_dim = 4, .rotary_dim = 4};
  const std::vector<DoubleDouble> frequencies = {{0.5, 0}, {0, 0}};
  const ExactRotation rotation(layout, frequencies, {1, 0});
  std::vector<double> positions(500);
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<double>(i) - 250;
  const RoundedTable table = rotation.Table(positions, Dtype::f64);
  for (size_t i = 0; i < positions.size(); ++i) {
    EXPECT_EQ(table.cos.values[2 * i + 1], 1);
    EXPECT_EQ(table.cos.proofs[2 * i + 1], Proof::exact);
    EXPECT_EQ(table.sin.values[2 * i + 1], 0);
    EXPECT_EQ(table.sin.proofs[2 * i + 1], Proof::exact);
  }
  const Dtype f32 = Dtype::f32;
  const std::vector<StreamCounts> counts = StreamTable(
      rotation, 0, 100, std::span(&f32, 1), StreamPath::rows, 0, [](const TableBlock& block) {
        float value = 1;
        std::memcpy(&value, block.values[0].sin.data() + 3 * sizeof(float), 4);
        EXPECT_EQ(value, 0);
        EXPECT_FALSE(std::signbit(value));
      });
  EXPECT_EQ(counts[0].undecided, 0);
  EXPECT_EQ(counts[0].by_mpfr, 99);  // each sin 0 but the first is a zero that no radius decides
}

TEST(certified_table, NegativePositionsMirror) {
  const ExactRotation rotation(Schemes()[3]);
  std::vector<double> positions(700), mirrored(700);
  for (size_t i = 0; i < positions.size(); ++i) {
    positions[i] = static_cast<double>(3 * i + 1);
    mirrored[i] = -positions[i];
  }
  const RoundedTable table = rotation.Table(positions, Dtype::f32);
  const RoundedTable mirror = rotation.Table(mirrored, Dtype::f32);
  EXPECT_EQ(table.cos.values, mirror.cos.values);
  for (size_t i = 0; i < table.sin.values.size(); ++i) {
    ASSERT_EQ(table.sin.values[i], -mirror.sin.values[i]);
    ASSERT_EQ(table.sin.distances[i], -mirror.sin.distances[i]);
  }
}

TEST(certified_table, RangesAreChecked) {
  const ExactRotation rotation(Schemes()[0]);
  const Dtype f32 = Dtype::f32, i32 = Dtype::i32;
  const auto stream = [&](int64_t first, int64_t end, const Dtype& dtype) {
    StreamTable(rotation, first, end, std::span(&dtype, 1), StreamPath::rows, 0,
                [](const TableBlock&) {});
  };
  EXPECT_THROW(stream(-1, 4, f32), ParameterError);
  EXPECT_THROW(stream(5, 4, f32), ParameterError);
  EXPECT_THROW(stream(0, (int64_t{1} << 31) + 1, f32), ParameterError);
  EXPECT_THROW(stream(0, 4, i32), ParameterError);
  stream(7, 7, f32);
}

// Every entry of a million positions, by both paths.
TEST(certified_table, MillionPositionsAgreeSlow) {
  constexpr std::array<Dtype, 2> kDtypes = {Dtype::f64, Dtype::f32};
  constexpr int64_t kEnd = 1 << 20, kChunk = 1 << 15;
  for (const char* base : {"base=10000", "base=500000"}) {
    const Scheme scheme = ParseScheme("rope", {"rotary_dim=128", base});
    for (int64_t first = 0; first < kEnd; first += kChunk) {
      const Streamed rows = Stream(scheme, first, first + kChunk, kDtypes, StreamPath::rows, 0);
      const Streamed direct = Stream(scheme, first, first + kChunk, kDtypes, StreamPath::direct, 0);
      ASSERT_TRUE(rows.cos == direct.cos && rows.sin == direct.sin) << base << " from " << first;
      for (const StreamCounts& counts : rows.counts) EXPECT_EQ(counts.undecided, 0);
    }
  }
}

}  // namespace
}  // namespace posgauge
