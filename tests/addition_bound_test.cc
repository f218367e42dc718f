#include "posgauge/verify/addition_bound.h"

#include <cmath>

#include <gtest/gtest.h>

#include "posgauge/reference/exact_addition.h"
#include "posgauge/verify/judge_addition.h"

namespace posgauge {
namespace {

AdditionBound BoundFor(const std::string& line, Dtype io, const std::vector<std::string>& settings,
                       GivenStages given = {}) {
  const Scheme scheme = ParseScheme("sinusoidal", settings);
  const ExactAddition exact(scheme);
  return AdditionBound(Contract::Parse(line, io), scheme, exact.Frequencies(Dtype::f64).values,
                       exact.RowIndex(0), given);
}

constexpr Channel kSin0{Wave::sin, 0}, kSin1{Wave::sin, 1}, kZero{};
constexpr double kU = 0x1p-24;  // of f32

// Bounds count factors 1/(1 - u) for 1 + u and are evaluated upwards: a share of 2^-20 is far more
// than that adds.
void ExpectJustAbove(double bound, double derived) {
  EXPECT_GE(bound, derived);
  EXPECT_LE(bound, derived * (1 + 0x1p-20));
}

const std::string kF32 =
    "position=i64 frequency=exact angle=f32 trig=1ulp:f32 table=f32 rotate=f32 store=f32:rne "
    "flush=no";

// Wave 0 has frequency 1, which f32 may have to round, and so the product: at position 1000 the
// angle is 1000 (1 + u)^2, the sine off by an ulp more, 2^-24, of values up to 1. Stored as it is
// held, the interval covers the rounding of a row; a sum is off by that rounding, and rounds itself
// within the interval.
TEST(addition_bound, CountsEachStageOnce) {
  const AdditionBound bound = BoundFor(kF32, Dtype::f32, {"width=8"});
  const double angle = 1000 * (2 * kU + kU * kU), entry = angle + kU;
  ExpectJustAbove(bound.Angle(1000, 0), angle);
  ExpectJustAbove(bound.RowExcess(1000, kSin0), entry);
  ExpectJustAbove(bound.EmbedExcess(1000, kSin0, 3, 3.5), entry + (1 + entry) * kU);
  // Stored in bf16 the sum rounds to f32 first.
  const AdditionBound narrow = BoundFor(
      "position=i64 frequency=exact angle=f32 trig=1ulp:f32 table=f32 rotate=f32 store=bf16:rne "
      "flush=no",
      Dtype::bf16, {"width=8"});
  const double computed = entry + (1 + entry) * kU;
  ExpectJustAbove(narrow.EmbedExcess(1000, kSin0, 3, 3.5), computed + (3.5 + computed) * kU);
}

// An entry that the sum's arithmetic does not hold is rounded to it, and so is x.
TEST(addition_bound, NarrowsOperands) {
  const AdditionBound bound = BoundFor(
      "position=i64 frequency=exact angle=exact trig=1ulp:f32 table=f32 rotate=bf16 "
      "store=f32:rne flush=no",
      Dtype::f32, {"width=8"});
  const double u = 0x1p-8, entry = kU + (1 + kU) * kU;
  const double operands = entry + (1 + entry) * u + 3 * u;
  ExpectJustAbove(bound.EmbedExcess(1000, kSin0, 3, 3.5), operands + (3.5 + operands) * u);
}

TEST(addition_bound, ZerosAreExact) {
  const AdditionBound bound = BoundFor(kF32, Dtype::f32, {"width=8"});
  EXPECT_EQ(bound.RowExcess(1e6, kZero), 0);
  EXPECT_EQ(bound.Row(1e6, kZero), 0);
  EXPECT_EQ(bound.EmbedExcess(1e6, kZero, 3, 3), 0);
}

// bf16 holds 256 but not 257: the position is rounded to 256 before 1 is taken off, and 255 is one
// token from the truth. The index alone, 256, would show no loss.
TEST(addition_bound, APositionIsRoundedBeforeTheStartIsAdded) {
  const std::string line =
      "position=bf16 frequency=exact angle=exact trig=0.5ulp:f32 table=f32 rotate=f32 "
      "store=f32:rne flush=no";
  EXPECT_EQ(BoundFor(line, Dtype::f32, {"width=8"}).Angle(256, 0), 0);
  EXPECT_GE(BoundFor(line, Dtype::f32, {"width=8", "start=-1"}).Angle(257, 0), 1);
  EXPECT_EQ(BoundFor(line, Dtype::f32, {"width=8", "start=-1"}).Angle(255, 0), 0);
  // Where p is held, its sum with the start may not be: 255 + 2 is.
  EXPECT_GE(BoundFor(line, Dtype::f32, {"width=8", "start=2"}).Angle(255, 0), 1);
}

TEST(addition_bound, AScaleCostsItsRoundings) {
  const std::string line =
      "position=i64 frequency=f32:pow angle=exact trig=0.5ulp:f32 table=f32 rotate=f32 "
      "store=f32:rne flush=no";
  const auto frequency = [&](const std::vector<std::string>& settings) {
    return BoundFor(line, Dtype::f32, settings).waves().Frequency(1);
  };
  const double plain = frequency({"width=8"});
  // 2 is a number of f32, 0.3 is not: one rounding more, and two.
  EXPECT_GE(frequency({"width=8", "scale=2"}), plain + kU);
  EXPECT_LE(frequency({"width=8", "scale=2"}), plain + 1.01 * kU);
  EXPECT_GE(frequency({"width=8", "scale=0.3"}), plain + 2 * kU);
  EXPECT_LE(frequency({"width=8", "scale=0.3"}), plain + 2.02 * kU);
}

TEST(addition_bound, OverflowAllowsAnything) {
  const AdditionBound bound = BoundFor(
      "position=i64 frequency=exact angle=exact trig=1ulp:f32 table=f32 rotate=f32 store=f16:rne "
      "flush=no",
      Dtype::f16, {"width=8"});
  EXPECT_EQ(bound.EmbedExcess(1, kSin1, 65504, 65504.01), HUGE_VAL);
  EXPECT_LT(bound.EmbedExcess(1, kSin1, 60000, 60000.01), 1);
}

// A result just within the bound passes, one just beyond it fails, in every channel alike.
TEST(judge_addition, FailsBeyondTheBoundAlone) {
  const Scheme scheme = ParseScheme("sinusoidal", {"width=4"});
  const ExactAddition exact(scheme);
  const std::vector<double> positions = {3};
  const AdditionBound bound = BoundFor(
      "position=i64 frequency=exact angle=exact trig=2ulp:f64 table=f64 rotate=f64 store=f64:rne "
      "flush=no",
      Dtype::f64, {"width=4"});
  const RowTruth truth = TruthOf(exact, positions);
  Tensor x(Dtype::f64, {1, 4});
  for (size_t i = 0; i < 4; ++i) x.Set(i, 0.75);
  for (size_t i = 0; i < 4; ++i) {
    const auto over = [&](double error) {
      Tensor rows =
          Tensor::FromValues(Dtype::f64, {1, 4}, exact.Rows(positions, Dtype::f64).values);
      rows.Set(i, rows.Value(i) + error);
      return HoldToBound(Added{exact, positions, nullptr, rows}, truth, bound).use.over();
    };
    // 2 ulps of f64 are 2^-52, and rounding the result adds half an ulp of it, at most 2^-54.
    EXPECT_EQ(over(0x1p-52), 0u) << i;
    EXPECT_EQ(over(0x1p-51), 1u) << i;
    EXPECT_EQ(over(NAN), 1u) << i;
    const auto over_sum = [&](double error) {
      Tensor sums = Tensor::FromValues(Dtype::f64, {1, 4},
                                       exact.Embed(positions, x.Values(), Dtype::f64).values);
      sums.Set(i, sums.Value(i) + error);
      return HoldToBound(Added{exact, positions, &x, sums}, truth, bound).use.over();
    };
    EXPECT_EQ(over_sum(0x1p-52), 0u) << i;
    EXPECT_EQ(over_sum(0x1p-50), 1u) << i;
  }
}

TEST(judge_addition, KeepsWhatIsNotFinite) {
  const Scheme scheme = ParseScheme("sinusoidal", {"width=2"});
  const ExactAddition exact(scheme);
  const std::vector<double> positions = {3};
  const AdditionBound bound = BoundFor(kF32, Dtype::f32, {"width=2"});
  const RowTruth truth = TruthOf(exact, positions);
  const auto over = [&](double in, double out) {
    const std::vector<double> x_values = {in, in}, out_values = {out, out};
    const Tensor x = Tensor::FromValues(Dtype::f32, {1, 2}, x_values);
    const Tensor result = Tensor::FromValues(Dtype::f32, {1, 2}, out_values);
    return HoldToBound(Added{exact, positions, &x, result}, truth, bound).use.over();
  };
  EXPECT_EQ(over(NAN, NAN), 0u);
  EXPECT_EQ(over(HUGE_VAL, HUGE_VAL), 0u);
  EXPECT_EQ(over(-HUGE_VAL, HUGE_VAL), 2u);
  EXPECT_EQ(over(NAN, 1), 2u);
  EXPECT_EQ(over(HUGE_VAL, NAN), 2u);
}

}  // namespace
}  // namespace posgauge
