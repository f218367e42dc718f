#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "posgauge/reference/fraction.h"
#include "posgauge/verify/equation_bound.h"
#include "posgauge/verify/equation_plan.h"
#include "posgauge/verify/judge.h"
#include "posgauge/verify/tracked.h"

namespace posgauge {
namespace {

using Q = EquationQuantity;

// One of every kind of row that is no wave, small.
const std::vector<std::pair<std::string, std::vector<std::string>>> kSchemes = {
    {"learned", {"width=6", "rows=9", "offset=2"}},
    {"cape", {"width=8", "length=200"}},
    {"cape",
     {"width=7", "length=100", "position_scale=0.3", "mean=14.85", "global_shift=0.77",
      "log_scale=0.1", "frequency_scale=3"}},
    {"sincos2d", {"width=8", "grid_h=5", "grid_w=40"}},
    {"sincos2d", {"width=8", "grid_h=5", "grid_w=6", "base_size=7", "interpolation_scale=0.3"}},
    {"resampled", {"width=3", "grid_h=4", "grid_w=6", "target_h=7", "target_w=5"}},
    {"resampled",
     {"width=3", "grid_h=4", "grid_w=6", "target_h=7", "target_w=5", "filter=bilinear"}},
    {"resampled",
     {"width=3", "grid_h=4", "grid_w=7", "target_h=7", "target_w=3", "antialias=true"}},
    {"resampled",
     {"width=3", "grid_h=7", "grid_w=7", "target_h=3", "target_w=5", "filter=bilinear",
      "antialias=true"}},
    {"resampled",
     {"width=3", "grid_h=4", "grid_w=6", "target_h=7", "target_w=5", "align_corners=true"}},
    {"resampled",
     {"width=3", "grid_h=14", "grid_w=14", "target_h=16", "target_w=16", "offset=0.1"}},
};

// What the contract's arithmetic yields in software, at every position, against its bound: the
// largest share of it.
double UseOf(const std::string& line, Dtype io, const Scheme& scheme, Q quantity) {
  const Contract contract = Contract::Parse(line, io);
  const ExactEquations exact(scheme);
  std::vector<double> positions;
  for (int64_t p = 0; p < PositionCount(scheme).value(); ++p) {
    positions.push_back(static_cast<double>(p));
  }
  const NamedInputs inputs = PlanRows(scheme, exact, quantity, io, positions, 7);
  const std::vector<int64_t> shape = exact.CheckInputs(quantity, inputs);
  const EnclosedEach truth = exact.Enclose(quantity, inputs);
  const std::vector<double> got = EmulateEquations(contract, scheme, quantity, inputs, shape);
  const std::vector<EquationLimit> limits =
      EquationBound(contract, scheme).Limits(quantity, inputs, shape);
  double largest = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(std::isfinite(limits[i].excess)) << line << " " << Text(scheme) << " " << i;
    const double excess =
        std::max(0.0, RoundingIntervalExcess(io, contract.store_rounding, got[i], truth.values[i]) -
                          truth.radii[i]);
    const double error = std::fabs((got[i] - truth.values[i].high) - truth.values[i].low);
    EXPECT_LE(error - truth.radii[i], limits[i].stored) << line << " " << Text(scheme) << " " << i;
    if (excess > 0) largest = std::max(largest, excess / limits[i].excess);
  }
  return largest;
}

TEST(given_rows_bound, HoldsForEveryArithmeticOfEveryScheme) {
  const auto line = [](const char* weights, const char* inside, const char* table,
                       const char* store) {
    return fmt::format(
        "position={1} frequency={0} angle={1} trig=1ulp:{1} table={2} rotate={1} accumulate={1} "
        "store={3}:rne flush=no",
        weights, inside, table, store);
  };
  for (const auto& [name, settings] : kSchemes) {
    const Scheme scheme = ParseScheme(name, settings);
    for (Q quantity : {Q::table, Q::embed}) {
      double used = 0;
      for (const auto& [text, io] : std::vector<std::pair<std::string, Dtype>>{
               {line("f32:rn", "f32", "f32", "f32"), Dtype::f32},
               {line("f32:pow", "f32", "f32", "f32"), Dtype::f32},
               {line("f32:pow", "f32", "bf16", "bf16"), Dtype::bf16},
               {line("f64:pow", "f32", "f32", "bf16"), Dtype::bf16},
               {line("f16:pow", "f16", "f16", "f16"), Dtype::f16}}) {
        const double use = UseOf(text, io, scheme, quantity);
        EXPECT_LE(use, 1) << text << "\n" << Text(scheme) << " " << VariantName(quantity);
        used = std::max(used, use);
      }
      // Not so wide that nothing comes near it; a gather has no error and no bound.
      if (name != "learned") {
        EXPECT_GT(used, 0.05) << Text(scheme) << " " << VariantName(quantity);
      }
    }
  }
}

// A gather allows nothing.
TEST(given_rows_bound, GatherIsExact) {
  const Scheme scheme = ParseScheme("learned", {"width=2", "rows=3"});
  const NamedInputs inputs{{{"positions", {{1}, {1}}}, {"table", {{3, 2}, {1, 2, 3, 4, 5, 6}}}}};
  const Contract contract =
      Contract::Parse("position=i64 table=bf16 store=bf16:rne flush=no", Dtype::bf16);
  for (const EquationLimit& limit :
       EquationBound(contract, scheme).Limits(Q::table, inputs, {1, 2})) {
    EXPECT_EQ(limit.excess, 0);
    EXPECT_EQ(limit.stored, 0);
  }
}

// An angle in turns errs by 2 pi (2^-96 p + 2^-63), whatever its size.
TEST(given_rows_bound, AnglesInTurns) {
  DeclaredArithmetic arithmetic;
  arithmetic.angles = Arithmetic::turn96;
  const ArithmeticScope scope(arithmetic);
  const Tracked angle = Angle(Tracked(100), Tracked(0.5));
  EXPECT_EQ(angle.value, 50);
  EXPECT_GE(angle.error, 2 * M_PI * 0x1p-63);
  EXPECT_LE(angle.error, 2 * M_PI * 0x1p-63 * (1 + 0x1p-20));
}

// Their sines err by that and by the contract's ulps, 1e9 radians away as anywhere, all of which a
// small sine shows: what is stored of it is rounded by less.
TEST(given_rows_bound, SinesOfTurns) {
  DeclaredArithmetic arithmetic;
  arithmetic.angles = Arithmetic::turn96;
  arithmetic.functions = Arithmetic::f64;
  arithmetic.function_ulps = 2;
  const ArithmeticScope scope(arithmetic);
  const Tracked angle = Angle(Tracked(0x1p31), Tracked(0.5));
  for (const Tracked& value : CosSin(angle)) {
    EXPECT_GE(value.before, 0x1p-52 + angle.error);
    EXPECT_LE(value.before, (0x1p-52 + angle.error) * (1 + 0x1p-20));
  }
}

// What is rational stays exact: a third three times is one.
TEST(fraction, SumsOfThirds) {
  using F = Fraction<38>;
  const F third = F(1) / F(3);
  EXPECT_FALSE(Quotient(third).IsPoint());
  const auto one = Quotient(third + third + third);
  EXPECT_TRUE(one.IsPoint());
  EXPECT_EQ(one.lo(), 1);
  EXPECT_EQ(FloorRange(third + third + third), (std::array<int64_t, 2>{1, 1}));
  const auto half = Quotient(third * F(3) / F(2));
  EXPECT_TRUE(half.IsPoint());
  EXPECT_EQ(half.lo(), 0.5);
}

}  // namespace
}  // namespace posgauge
