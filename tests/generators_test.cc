#include "posgauge/properties/generators.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "law_checks.h"

namespace posgauge {
namespace {

// Values drawn at full size from fixed keys.
template <class Value>
std::vector<Value> Draw(const rc::Gen<Value>& gen, uint64_t count) {
  std::vector<Value> values;
  for (uint64_t seed = 0; seed < count; ++seed)
    values.push_back(gen(rc::Random(seed), rc::kNominalSize).value());
  return values;
}

// Follows the first simpler value for which `holds`, as shrinking does, to the end.
template <class Value, class Simpler, class Holds>
Value Shrink(Value value, Simpler simpler, Holds holds) {
  for (bool moved = true; moved;) {
    moved = false;
    for (const Value& candidate : simpler(value)) {
      if (!holds(candidate)) continue;
      value = candidate;
      moved = true;
      break;
    }
  }
  return value;
}

TEST(generators, FloatsReachEveryKindOfNumber) {
  for (const Dtype dtype : kFloatDtypes) {
    const Format format = FormatOf(dtype);
    const std::vector<double> values = Draw(AnyFloat(dtype), 4000);
    const auto some = [&](auto holds) { return std::ranges::any_of(values, holds); };
    EXPECT_TRUE(some([](double v) { return std::isnan(v); }));
    EXPECT_EQ(some([](double v) { return v == HUGE_VAL; }), format.infinities);
    EXPECT_TRUE(some([](double v) { return v == 0 && std::signbit(v); }));
    const double smallest = std::ldexp(1.0, format.min_exponent);
    EXPECT_TRUE(some([&](double v) { return v != 0 && std::fabs(v) < smallest; }));
    EXPECT_TRUE(some([&](double v) {
      return std::isfinite(v) && std::fabs(v) > std::ldexp(1.0, format.max_exponent - 1);
    }));
    EXPECT_TRUE(std::ranges::all_of(
        values, [&](double v) { return std::isnan(v) || RoundTo(format, v) == v; }));
  }
}

TEST(generators, FloatsShrinkToZeroOneAndFewBits) {
  const auto simplest = [](double value, auto holds) {
    return Shrink(
        value, [](double v) { return SimplerFloats(Dtype::f32, v); }, holds);
  };
  const double start = static_cast<double>(-1.7182818e20f);
  EXPECT_EQ(simplest(start, [](double) { return true; }), 0);
  EXPECT_EQ(simplest(start, [](double v) { return v != 0; }), 1);
  EXPECT_EQ(simplest(start, [](double v) { return v < 0; }), -1);
  // Above 2^40: one bit, and the exponent halved while it still holds.
  EXPECT_EQ(simplest(-start, [](double v) { return v > 0x1p40; }), 0x1p67);
  EXPECT_TRUE(std::isnan(simplest(NAN, [](double v) { return std::isnan(v); })));
}

TEST(generators, PositionsReachTheEndsAndShrink) {
  const std::vector<double> positions = Draw(AnyPosition(16777217), 2000);
  for (const double wanted : {0.0, 1.0, 16777217.0, 16777216.0, 256.0, 257.0, 255.0, -1.0}) {
    EXPECT_TRUE(std::ranges::find(positions, wanted) != positions.end()) << wanted;
  }
  const auto simplest = [](double value, auto holds) {
    return Shrink(value, SimplerPositions, holds);
  };
  EXPECT_EQ(simplest(-9999, [](double) { return true; }), 0);
  EXPECT_EQ(simplest(9999, [](double p) { return p > 300; }), 301);
  EXPECT_EQ(simplest(300, [](double p) { return p > 256; }), 257);
}

TEST(generators, LayoutsAreValidAndVaried) {
  const std::vector<Rotary> layouts = Draw(AnyRotary(), 500);
  for (const Rotary& layout : layouts) EXPECT_NO_THROW(layout.Validate());
  const auto some = [&](auto holds) { return std::ranges::any_of(layouts, holds); };
  EXPECT_TRUE(some([](const Rotary& r) { return r.rotary_dim == 2; }));
  EXPECT_TRUE(some([](const Rotary& r) { return r.rotary_dim == 512; }));
  EXPECT_TRUE(some([](const Rotary& r) { return r.rotary_offset > 0; }));
  EXPECT_TRUE(some([](const Rotary& r) { return r.pairing == Pairing::interleaved; }));
  EXPECT_TRUE(some([](const Rotary& r) { return r.direction == Direction::clockwise; }));
}

// A clamped input is the fault; the smallest case that shows it has one row and one head.
TEST(generators, CasesShrinkToOneRowAndOneHead) {
  const Subject subject(AnyKernel("faulty.clamps.rotate.f32"),
                        ParseScheme("rope", {"head_dim=16"}));
  const Law law = FindLaw(subject.scheme(), "norm").value();
  const auto fails = [&](const LawCase& c) {
    return CheckLaw(law, subject, c).outcome == Outcome::fail;
  };
  const LawCase start = DrawCase(subject, {.rows = 6, .heads = 4}, 3, 0);
  ASSERT_TRUE(fails(start));
  const LawCase smallest = Shrink(start, SimplerCases, fails);
  EXPECT_EQ(smallest.x.shape(), (std::vector<int64_t>{1, 1, 16}));
  EXPECT_EQ(smallest.positions, std::vector<double>{0});
  const auto values = smallest.x.Values();
  EXPECT_GE(std::ranges::count(values, 0.0), 8);
  EXPECT_TRUE(std::ranges::any_of(values, [](double v) { return std::fabs(v) > 4; }));
}

// RapidCheck finds a fault that needs a particular input and reports it.
TEST(generators, APropertyFindsAFault) {
  const Scheme scheme = ParseScheme("rope", {"head_dim=8"});
  const auto result =
      rc::detail::checkTestable([&] { RequireLaws("faulty.nan_to_zero.rotate.f32", scheme); },
                                rc::detail::TestMetadata(), rc::detail::TestParams());
  EXPECT_TRUE(result.is<rc::detail::FailureResult>());
}

}  // namespace
}  // namespace posgauge
