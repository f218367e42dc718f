#include "posgauge/verify/equation_bound.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/float64.h"
#include "posgauge/verify/equation_plan.h"
#include "posgauge/verify/judge.h"
#include "posgauge/verify/tracked.h"

namespace posgauge {
namespace {

// One of every scheme that acts in attention, small.
const std::vector<std::pair<std::string, std::vector<std::string>>> kSchemes = {
    {"none", {"heads=2", "head_dim=6"}},
    {"alibi", {"heads=3", "head_dim=6", "max_bias=5"}},
    {"alibi", {"heads=3", "head_dim=6", "form=key"}},
    {"alibi", {"heads=4", "head_dim=6", "form=symmetric", "causal=false"}},
    {"t5", {"heads=2", "head_dim=6"}},
    {"kerple", {"heads=2", "head_dim=6"}},
    {"kerple", {"heads=2", "head_dim=6", "kernel=power", "weighted=true"}},
    {"sandwich", {"heads=2", "head_dim=6", "sandwich_width=8"}},
    {"fire", {"heads=2", "head_dim=6", "mlp_width=4"}},
    {"shaw", {"heads=2", "head_dim=6", "clip=4"}},
    {"transformer_xl", {"heads=2", "head_dim=6", "model_width=8"}},
    {"cope", {"heads=2", "head_dim=6", "num_positions=4"}},
    {"deberta", {"heads=2", "head_dim=6", "position_buckets=8", "max_position=32"}},
    {"deberta", {"heads=2", "head_dim=6", "position_buckets=0", "max_position=4", "p2c=false"}},
    {"swin", {"heads=2", "head_dim=6", "window_h=20", "window_w=60"}},
    {"swin2", {"heads=2", "head_dim=6", "window_h=20", "window_w=60", "mlp_width=3"}},
    {"xpos", {"heads=2", "head_dim=6", "rotary_dim=4", "scale_base=64"}},
    {"rerope", {"heads=2", "head_dim=6", "window=20", "trained_length=64"}},
    {"dual_chunk", {"heads=2", "head_dim=6", "chunk_size=20", "local_size=4"}},
    {"mixed", {"heads=2", "head_dim=6", "rotary_dim=4", "window_h=20", "window_w=60"}},
    {"none", {"heads=2", "head_dim=6", "temperature_floor_scale=64", "temperature_scale=0.5"}},
};

// Whether a contract loses little enough for its bound to say anything at all.
struct Use {
  double largest = 0;
  size_t values = 0, unbounded = 0;
};

// Every element of what the contract's arithmetic yields, in software, against its bound.
Use UseOf(const std::string& line, Dtype io, const Scheme& scheme, EquationQuantity quantity,
          std::initializer_list<double> positions, uint64_t seed) {
  const Contract contract = Contract::Parse(line, io);
  const ExactEquations exact(scheme);
  Use use;
  for (double position : positions) {
    const NamedInputs inputs = quantity == EquationQuantity::slopes
                                   ? NamedInputs{}
                                   : PlanAttention(scheme, exact, quantity, io, position, seed);
    const std::vector<int64_t> shape = exact.CheckInputs(quantity, inputs);
    const EnclosedEach truth = exact.Enclose(quantity, inputs);
    const std::vector<double> got = EmulateEquations(contract, scheme, quantity, inputs, shape);
    const std::vector<EquationLimit> limits =
        EquationBound(contract, scheme).Limits(quantity, inputs, shape);
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::isinf(truth.values[i].high)) continue;
      ++use.values;
      if (std::isinf(limits[i].excess)) {
        ++use.unbounded;
        continue;
      }
      const double excess = std::max(
          0.0, RoundingIntervalExcess(io, contract.store_rounding, got[i], truth.values[i]) -
                   truth.radii[i]);
      // The stored error is within its own bound too.
      const double error = std::fabs((got[i] - truth.values[i].high) - truth.values[i].low);
      EXPECT_LE(error - truth.radii[i], limits[i].stored)
          << line << " " << Text(scheme) << " " << VariantName(quantity) << " at " << position;
      if (excess > 0) use.largest = std::max(use.largest, excess / limits[i].excess);
    }
  }
  return use;
}

constexpr std::initializer_list<double> kPositions = {0, 1, 2, 5, 17, 255, 257, 1000};

std::string Line(const char* inside, const char* rotate, const char* store, const char* flush) {
  return fmt::format(
      "position=i64 frequency={0}:rn trig=1ulp:{0} rotate={1} accumulate={0} store={2}:rne "
      "flush={3}",
      inside, rotate, store, flush);
}

// Functions of the C library, rounded to 24 bits and fewer, are within an ulp; of f64 within the
// two that are declared.
TEST(equation_bound, HoldsForEveryArithmeticOfEveryScheme) {
  size_t values = 0, unbounded = 0;
  for (const auto& [name, settings] : kSchemes) {
    const Scheme scheme = ParseScheme(name, settings);
    const ExactEquations exact(scheme);
    for (EquationQuantity quantity : {EquationQuantity::slopes, EquationQuantity::bias,
                                      EquationQuantity::scores, EquationQuantity::attention}) {
      if (!exact.Yields(quantity)) continue;
      for (const auto& [line, io] : std::vector<std::pair<std::string, Dtype>>{
               {Line("f32", "f32", "f32", "no"), Dtype::f32},
               {Line("f32", "f32", "bf16", "no"), Dtype::bf16},
               {Line("f32", "bf16", "bf16", "no"), Dtype::bf16},
               {Line("f16", "f16", "f16", "no"), Dtype::f16},
               {Line("bf16", "f32", "f32", "no"), Dtype::f32},
               {Line("f32", "f16", "f32", "yes"), Dtype::f32},
               {"position=i64 frequency=f64:pow trig=2ulp:f64 rotate=f64 accumulate=f64 "
                "store=f64:rne flush=no",
                Dtype::f64},
               {"position=i64 frequency=f32:pow trig=1ulp:f32 rotate=f32 accumulate=bf16 "
                "store=f32:rne flush=no",
                Dtype::f32}}) {
        const Use use = UseOf(line, io, scheme, quantity, kPositions, 7);
        EXPECT_LE(use.largest, 1) << line << "\n" << Text(scheme) << " " << VariantName(quantity);
        values += use.values;
        unbounded += use.unbounded;
      }
    }
  }
  EXPECT_GT(values, 50000u);
  // Exponentials of f16 scores may overflow.
  EXPECT_LT(unbounded, values / 4);
}

// A bound that no kernel comes near would let faults through. A store in fewer digits than the
// arithmetic hides nearly all of it, and shows nothing here.
TEST(equation_bound, IsNotSlackForBiases) {
  const Scheme relative = ParseScheme("alibi", {"heads=12", "head_dim=2"});
  for (const auto& [line, io] :
       std::vector<std::pair<std::string, Dtype>>{{Line("f32", "f32", "f32", "no"), Dtype::f32},
                                                  {Line("f16", "f16", "f16", "no"), Dtype::f16},
                                                  {Line("bf16", "bf16", "bf16", "no"), Dtype::bf16},
                                                  {Line("f64", "f64", "f64", "no"), Dtype::f64}}) {
    const Use use =
        UseOf(line, io, relative, EquationQuantity::bias, {3, 7, 100, 255, 1001, 4095, 60001}, 1);
    EXPECT_LE(use.largest, 1) << line;
    EXPECT_GE(use.largest, 0.2) << line;
  }
}

TEST(equation_bound, SeesWhatIsHalfAnUlpTooMuch) {
  // Slopes rounded to bf16 are no kernel of f32 slopes.
  const Scheme scheme = ParseScheme("alibi", {"heads=12", "head_dim=2"});
  const ExactEquations exact(scheme);
  const Contract declared = Contract::Parse(Line("f32", "f32", "f32", "no"), Dtype::f32);
  const Contract actual = Contract::Parse(Line("bf16", "f32", "f32", "no"), Dtype::f32);
  const NamedInputs inputs =
      PlanAttention(scheme, exact, EquationQuantity::bias, Dtype::f32, 1000, 1);
  const std::vector<int64_t> shape = exact.CheckInputs(EquationQuantity::bias, inputs);
  const EnclosedEach truth = exact.Enclose(EquationQuantity::bias, inputs);
  const std::vector<double> got =
      EmulateEquations(actual, scheme, EquationQuantity::bias, inputs, shape);
  const std::vector<EquationLimit> limits =
      EquationBound(declared, scheme).Limits(EquationQuantity::bias, inputs, shape);
  size_t over = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    over += RoundingIntervalExcess(Dtype::f32, StoreRounding::rne, got[i], truth.values[i]) >
            limits[i].excess;
  }
  EXPECT_GT(over, got.size() / 4);
}

TEST(equation_bound, APositionThatIsNotHeldAllowsAnything) {
  const Scheme scheme = ParseScheme("alibi", {"heads=2", "head_dim=2"});
  const ExactEquations exact(scheme);
  const EquationBound bound(
      Contract::Parse("position=bf16 frequency=f32:rn rotate=f32 store=f32:rne flush=no",
                      Dtype::f32),
      scheme);
  for (const auto& [position, finite] : {std::pair(100.0, true), std::pair(257.0, false)}) {
    NamedInputs inputs;
    inputs.tensors["query_positions"] = {{1}, {position}};
    inputs.tensors["key_positions"] = {{1}, {1}};
    const EquationLimit limit = bound.Limits(EquationQuantity::bias, inputs, {2, 1, 1}).front();
    EXPECT_EQ(std::isfinite(limit.excess), finite) << position;
  }
}

// Results of constants that are numbers of the arithmetic cost nothing.
TEST(tracked, ConstantsAreFolded) {
  const Contract contract =
      Contract::Parse("trig=1ulp:f32 rotate=f32 accumulate=f32 store=f32:rne flush=no", Dtype::f32);
  const ArithmeticScope scope(DeclaredArithmetic::OfResults(contract));
  EXPECT_EQ((Tracked(131071) - Tracked(7)).error, 0);
  EXPECT_EQ((Tracked(3) * Tracked(0.25)).error, 0);
  EXPECT_EQ((Tracked(3) / Tracked(4)).error, 0);
  EXPECT_EQ(Power2(Tracked(-5)).error, 0);
  EXPECT_GT((Tracked(1) / Tracked(3)).error, 0);
  // 2^24 + 1 is no number of f32.
  EXPECT_GT((Tracked(16777217) - Tracked(0)).error, 0);
  EXPECT_EQ((Tracked(0) * (Tracked(1) / Tracked(3))).error, 0);
}

TEST(tracked, OverflowAllowsAnything) {
  const Contract contract =
      Contract::Parse("trig=1ulp:f16 rotate=f16 accumulate=f16 store=f16:rne flush=no", Dtype::f16);
  const ArithmeticScope scope(DeclaredArithmetic::OfResults(contract));
  EXPECT_EQ(Exp(Tracked(12)).error, HUGE_VAL);
  EXPECT_LT(Exp(Tracked(11)).error, HUGE_VAL);
  EXPECT_EQ((Tracked(60000) * Tracked(2)).error, HUGE_VAL);
  EXPECT_EQ(Sum({Tracked(60000), Tracked(60000), Tracked(-60000)}).error, HUGE_VAL);
  EXPECT_EQ((Tracked(1) / (Tracked(1) / Tracked(3) - Tracked(1) / Tracked(3))).error, HUGE_VAL);
}

}  // namespace
}  // namespace posgauge
