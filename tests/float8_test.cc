// The two formats of the OCP 8-bit Floating Point Specification, revision 1.0, against its tables.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/reference/rounding.h"
#include "posgauge/verify/judge.h"
#include "posgauge/verify/pipeline.h"
#include "posgauge/verify/random.h"

namespace posgauge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Wide = Interval<38>;

// NaNs of one sign are alike.
bool Same(double a, double b) {
  return (a == b || (std::isnan(a) && std::isnan(b))) && std::signbit(a) == std::signbit(b);
}

// What the specification says of a format; sign, exponent field, fraction, from the left.
struct Layout {
  Dtype dtype;
  unsigned fraction_bits;
  int unit;          // log2 of the smallest subnormal
  uint64_t largest;  // code of the largest finite number
  double beyond;     // the number that would come next
  double overflow;   // what is stored for what rounds to it
};

const std::vector<Layout> kLayouts = {
    {Dtype::f8e4m3, 3, -9, 0x7e, 480, kNan},
    {Dtype::f8e5m2, 2, -16, 0x7b, 65536, kInfinity},
};

// Value of a code without its sign bit: fraction (hidden bit included) times a power of two.
double Defined(const Layout& layout, uint64_t code) {
  if (code > layout.largest) {
    return layout.dtype == Dtype::f8e5m2 && code == 0x7c ? kInfinity : kNan;
  }
  const uint64_t exponent = code >> layout.fraction_bits;
  const uint64_t fraction = code & ((1u << layout.fraction_bits) - 1);
  const uint64_t units =
      exponent == 0 ? fraction : (fraction + (1u << layout.fraction_bits)) << (exponent - 1);
  return std::ldexp(static_cast<double>(units), layout.unit);
}

// The finite numbers, ascending, and the one that would come next.
std::vector<double> Grid(const Layout& layout) {
  std::vector<double> grid;
  for (uint64_t code = 0; code <= layout.largest; ++code) grid.push_back(Defined(layout, code));
  grid.push_back(layout.beyond);
  return grid;
}

// Of `value` >= 0, by comparison with the midpoint, which binary64 holds.
double Nearest(const Layout& layout, const std::vector<double>& grid, double value) {
  if (value >= grid.back()) return layout.overflow;
  const auto above = static_cast<size_t>(std::ranges::upper_bound(grid, value) - grid.begin());
  const double middle = (grid[above - 1] + grid[above]) / 2;
  const bool up = value > middle || (value == middle && above % 2 == 0);
  if (up && above + 1 == grid.size()) return layout.overflow;
  return grid[up ? above : above - 1];
}

TEST(float8, EveryCodeIsAsTheSpecificationDefinesIt) {
  for (const Layout& layout : kLayouts) {
    for (uint64_t code = 0; code < 256; ++code) {
      const double defined = std::copysign(Defined(layout, code & 0x7f), code < 128 ? 1.0 : -1.0);
      const double value = Decode(layout.dtype, code);
      ASSERT_TRUE(Same(value, defined)) << Name(layout.dtype) << " " << code << ": " << value;
      if (!std::isnan(value)) {
        ASSERT_EQ(Encode(layout.dtype, value), code) << Name(layout.dtype);
      }
    }
  }
  // Table 2 of the specification.
  EXPECT_EQ(Decode(Dtype::f8e4m3, 0x7e), 448);
  EXPECT_EQ(Decode(Dtype::f8e4m3, 0x08), 0x1p-6);
  EXPECT_EQ(Decode(Dtype::f8e4m3, 0x07), 0.875 * 0x1p-6);
  EXPECT_EQ(Decode(Dtype::f8e4m3, 0x01), 0x1p-9);
  EXPECT_EQ(Decode(Dtype::f8e5m2, 0x7b), 57344);
  EXPECT_EQ(Decode(Dtype::f8e5m2, 0x04), 0x1p-14);
  EXPECT_EQ(Decode(Dtype::f8e5m2, 0x03), 0.75 * 0x1p-14);
  EXPECT_EQ(Decode(Dtype::f8e5m2, 0x01), 0x1p-16);
  EXPECT_EQ(Largest(FormatOf(Dtype::f8e4m3)), 448);
  EXPECT_EQ(Largest(FormatOf(Dtype::f8e5m2)), 57344);
}

TEST(float8, E5m2IsTheUpperHalfOfBinary16) {
  for (uint64_t code = 0; code < 256; ++code) {
    EXPECT_TRUE(Same(Decode(Dtype::f8e5m2, code), Decode(Dtype::f16, code << 8))) << code;
  }
}

TEST(float8, NansAreStoredAsNans) {
  EXPECT_EQ(Encode(Dtype::f8e4m3, kNan), 0x7fu);
  EXPECT_EQ(Encode(Dtype::f8e4m3, -kNan), 0xffu);
  EXPECT_EQ(Encode(Dtype::f8e4m3, kInfinity), 0x7fu);
  EXPECT_EQ(Encode(Dtype::f8e4m3, -kInfinity), 0xffu);
  EXPECT_EQ(Encode(Dtype::f8e4m3, -464.5), 0xffu);
  EXPECT_EQ(Encode(Dtype::f8e4m3, 464), 0x7eu);
  EXPECT_EQ(Encode(Dtype::f8e5m2, kNan), 0x7eu);
  EXPECT_EQ(Encode(Dtype::f8e5m2, -kInfinity), 0xfcu);
  EXPECT_EQ(Encode(Dtype::f8e5m2, 61440), 0x7cu);
}

// Every number, every midpoint and the binary64 numbers beside each. A value that first went
// through binary32 would be wrong beside every midpoint.
TEST(float8, EveryMidpointAndItsNeighboursRoundOnce) {
  for (const Layout& layout : kLayouts) {
    const Format format = FormatOf(layout.dtype);
    const std::vector<double> grid = Grid(layout);
    const auto expect = [&](double value) {
      for (const double x : {value, -value}) {
        const double want = std::copysign(Nearest(layout, grid, std::fabs(x)), x);
        ASSERT_TRUE(Same(RoundTo(format, x), want)) << Name(layout.dtype) << " " << x;
        const Real<38> real(x);
        ASSERT_TRUE(Same(RoundReal(Wide::Ptr(real), format), want)) << x;
        ASSERT_TRUE(Same(Decode(layout.dtype, Encode(layout.dtype, x)), want)) << x;
      }
    };
    for (size_t i = 0; i + 1 < grid.size(); ++i) {
      for (const double at : {grid[i], (grid[i] + grid[i + 1]) / 2, grid[i + 1]}) {
        expect(at);
        expect(std::nextafter(at, kInfinity));
        if (at > 0) expect(std::nextafter(at, 0.0));
      }
    }
    for (const double far : {1e3, 1e5, 0x1p127, 0x1p1000}) expect(far);
    EXPECT_TRUE(Same(RoundTo(format, kInfinity), layout.overflow));
    EXPECT_TRUE(Same(RoundTo(format, -kInfinity), std::copysign(layout.overflow, -1.0)));
    EXPECT_TRUE(std::isnan(RoundTo(format, kNan)));
  }
}

// Nearer to a midpoint than any binary64 number.
TEST(float8, HairsDecideForReals) {
  const Real<38> hair = ldexp(Real<38>(1), -120);
  for (const Layout& layout : kLayouts) {
    const Format format = FormatOf(layout.dtype);
    const std::vector<double> grid = Grid(layout);
    for (size_t i = 0; i + 1 < grid.size(); ++i) {
      const Real<38> middle((grid[i] + grid[i + 1]) / 2);
      const Real<38> below = middle - middle * hair, above = middle + middle * hair;
      const double next = i + 2 == grid.size() ? layout.overflow : grid[i + 1];
      ASSERT_TRUE(Same(RoundReal(Wide::Ptr(below), format), grid[i])) << grid[i];
      ASSERT_TRUE(Same(RoundReal(Wide::Ptr(above), format), next)) << grid[i];
    }
  }
}

TEST(float8, UlpIsTheSpacing) {
  for (const Layout& layout : kLayouts) {
    const std::vector<double> grid = Grid(layout);
    for (size_t i = 0; i + 1 < grid.size(); ++i) {
      EXPECT_EQ(Ulp(FormatOf(layout.dtype), grid[i]), grid[i + 1] - grid[i]) << grid[i];
    }
  }
}

TEST(float8, AnEnclosureBeyondTheLargestNumberIsDecided) {
  const auto decide = [](double lo, double hi) {
    return Decide(Wide(Real<38>(lo), Real<38>(hi)), FormatOf(Dtype::f8e4m3), false);
  };
  ASSERT_TRUE(decide(465, 466));
  EXPECT_TRUE(Same(decide(465, 466)->value, kNan));
  EXPECT_TRUE(Same(decide(-1e9, -465)->value, -kNan));
  EXPECT_EQ(decide(500, 500)->proof, Proof::proven);  // a NaN is not the number
  EXPECT_EQ(decide(464, 464)->value, 448);
  EXPECT_FALSE(decide(464, 465));
  EXPECT_FALSE(decide(-500, 500));
}

TEST(float8, AnExactSumThatOverflowsIsNoNan) {
  const ExactRotation exact(ParseScheme("rope", {"rotary_dim=2", "head_dim=2"}));
  const std::vector<double> position = {3}, q = {25, 0};
  const auto score = [&](double k) {
    return exact.Scores(position, position, q, std::vector<double>{k, 0}, 1, 1, Dtype::f8e4m3);
  };
  EXPECT_TRUE(Same(score(20).values[0], kNan));
  EXPECT_EQ(score(20).proofs[0], Proof::proven);
  EXPECT_TRUE(Same(score(-20).values[0], -kNan));
  EXPECT_EQ(score(16).values[0], 384);  // 400, a tie
  EXPECT_EQ(score(16).proofs[0], Proof::proven);
  EXPECT_EQ(score(8).proofs[0], Proof::proven);  // 200 lies between 192 and 208
  EXPECT_EQ(score(0.5).proofs[0], Proof::proven);
  EXPECT_EQ(score(0.25).values[0], 6);  // 6.25, a tie
  EXPECT_EQ(score(0).proofs[0], Proof::exact);
}

// What a NaN stands for where nothing else can: every number that overflows, and no other.
TEST(float8, NanIsRightExactlyWhereTheTruthOverflows) {
  const auto excess = [](Dtype dtype, StoreRounding rounding, double stored, double truth) {
    return RoundingIntervalExcess(dtype, rounding, stored, {truth, 0});
  };
  for (const double nan : {kNan, -kNan}) {
    EXPECT_EQ(excess(Dtype::f8e4m3, StoreRounding::rne, nan, 464), 0);
    EXPECT_EQ(excess(Dtype::f8e4m3, StoreRounding::rne, nan, -1e6), 0);
    EXPECT_EQ(excess(Dtype::f8e4m3, StoreRounding::rne, nan, 460), 4);
    EXPECT_EQ(excess(Dtype::f8e4m3, StoreRounding::rne, nan, -1), 463);
    EXPECT_EQ(excess(Dtype::f8e4m3, StoreRounding::sr, nan, 449), 0);
    EXPECT_EQ(excess(Dtype::f8e4m3, StoreRounding::sr, nan, 440), 8);
    EXPECT_EQ(excess(Dtype::f8e4m3, StoreRounding::rtz, nan, 1000), kInfinity);
    EXPECT_EQ(excess(Dtype::f8e5m2, StoreRounding::rne, nan, 1e6), kInfinity);
  }
  EXPECT_EQ(excess(Dtype::f8e4m3, StoreRounding::rne, 448, 464), 0);
  EXPECT_EQ(excess(Dtype::f8e4m3, StoreRounding::rne, 448, 500), 36);
  EXPECT_EQ(excess(Dtype::f8e5m2, StoreRounding::rne, kInfinity, 61440), 0);
  EXPECT_EQ(excess(Dtype::f8e5m2, StoreRounding::rne, kInfinity, 61000), 440);
}

// Two routes to a rotation rounded once. Any codes, so that some overflow.
TEST(float8, PipelineWithoutErrorsRoundsAsTheReference) {
  const Scheme scheme = ParseScheme("rope", {"rotary_dim=16", "head_dim=20"});
  const std::vector<double> positions = {0, 1, 131071};
  Random random(7, "float8");
  for (const Layout& layout : kLayouts) {
    const std::string line = fmt::format(
        "position=exact frequency=exact:rn angle=exact trig=0ulp:exact table=exact rotate=exact "
        "store={}:rne flush=no",
        Name(layout.dtype));
    Tensor x(layout.dtype, {3, 4, 20});
    for (size_t i = 0; i < x.size(); ++i) {
      // Half of them from the largest binades.
      const uint64_t sizes = i % 2 == 0 ? layout.largest + 1 : 12;
      x.SetBits(i, (layout.largest - random.Below(sizes)) | random.Below(2) << 7);
    }
    const Tensor got = Pipeline(Contract::Parse(line, layout.dtype), scheme).Rotate(positions, x);
    const RoundedValues want = ExactRotation(scheme).Rotate(positions, x.Values(), 4, layout.dtype);
    size_t overflowed = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(Same(got.Value(i), want.values[i])) << i << " " << want.values[i];
      overflowed += std::isfinite(want.values[i]) ? 0 : 1;
    }
    EXPECT_GT(overflowed, 0u);
    EXPECT_EQ(want.counts.undecided, 0);
  }
}

TEST(float8, TruncationStopsAtTheLargestNumber) {
  const Scheme scheme = ParseScheme("rope", {"rotary_dim=2", "head_dim=2"});
  const std::vector<double> position = {0.75};
  for (const Layout& layout : kLayouts) {
    const std::string line = fmt::format(
        "position=exact frequency=exact:rn angle=exact trig=0ulp:exact table=exact rotate=exact "
        "store={}:rtz flush=no",
        Name(layout.dtype));
    const double largest = Largest(FormatOf(layout.dtype));
    const Tensor x =
        Tensor::FromValues(layout.dtype, {1, 1, 2}, std::vector<double>{largest, largest});
    const Pipeline pipeline(Contract::Parse(line, layout.dtype), scheme);
    // (cos - sin, cos + sin) of 0.75 is (0.0500, 1.4133).
    EXPECT_EQ(pipeline.Rotate(position, x).Value(1), largest);
  }
}

}  // namespace
}  // namespace posgauge
