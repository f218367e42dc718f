// The contract line: its grammar, what silence means, and what is refused.
#include "posgauge/verify/contract.h"

#include <cmath>

#include <gtest/gtest.h>

#include "posgauge/verify/random.h"

namespace posgauge {
namespace {

std::string Refusal(const std::string& line) {
  try {
    Contract::Parse(line, Dtype::f32);
  } catch (const ParameterError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(contract, ReadsEveryKey) {
  const Contract contract = Contract::Parse(
      "position=i64 frequency=f32:pow angle=f64 trig=1.5ulp:f32\ttable=f16  rotate=bf16:fma\n"
      "accumulate=f64 store=bf16:rtz flush=no",
      Dtype::f32);
  EXPECT_EQ(contract.position, Arithmetic::exact);
  EXPECT_EQ(contract.frequency, Arithmetic::f32);
  EXPECT_EQ(contract.frequency_formula, FrequencyFormula::pow);
  EXPECT_EQ(contract.angle, Arithmetic::f64);
  EXPECT_EQ(contract.trig_ulps, 1.5);
  EXPECT_EQ(contract.trig_arithmetic, Arithmetic::f32);
  EXPECT_EQ(contract.table, Arithmetic::f16);
  EXPECT_EQ(contract.rotate, Arithmetic::bf16);
  EXPECT_TRUE(contract.fma);
  EXPECT_EQ(contract.accumulate, Arithmetic::f64);
  EXPECT_EQ(contract.store, Dtype::bf16);
  EXPECT_EQ(contract.store_rounding, StoreRounding::rtz);
  EXPECT_FALSE(contract.flush_to_zero);
}

TEST(contract, EveryArithmeticStandsWhereItMeansSomething) {
  for (const std::string_view name : kVariantNames<Arithmetic>) {
    for (const std::string key : {"position", "frequency", "table", "rotate", "accumulate"}) {
      const std::string said = Refusal(fmt::format("{}={}", key, name));
      const bool turn = name.starts_with("turn");
      EXPECT_EQ(said == "accepted", !turn) << said;
    }
    EXPECT_EQ(Refusal(fmt::format("angle={}", name)), "accepted");
    EXPECT_EQ(Refusal(fmt::format("trig=1ulp:{}", name)) == "accepted", !name.starts_with("turn"));
  }
  for (const std::string key : {"i32", "i64"}) {
    EXPECT_EQ(Contract::Parse("position=" + key, Dtype::f32).position, Arithmetic::exact);
    EXPECT_NE(Refusal("angle=" + key), "accepted");
  }
}

TEST(contract, SilenceMeansTheWeakest) {
  for (const Dtype io : kFloatDtypes) {
    const Contract weakest = Contract::Parse("", io);
    EXPECT_EQ(weakest.Text(),
              fmt::format("position=bf16 frequency=bf16:recurrence angle=bf16 trig=4ulp:bf16 "
                          "table=bf16 rotate=bf16 accumulate=bf16 store={}:sr flush=yes",
                          Name(io)));
    // Saying one thing leaves the rest weak.
    Contract one = weakest;
    one.table = Arithmetic::f32;
    EXPECT_EQ(Contract::Parse("table=f32", io), one);
  }
  // A key without its word after the colon keeps the weakest of that too, but no fma is said.
  EXPECT_EQ(Contract::Parse("frequency=f32", Dtype::f32).frequency_formula,
            FrequencyFormula::recurrence);
  EXPECT_EQ(Contract::Parse("store=f32", Dtype::bf16).store_rounding, StoreRounding::sr);
  EXPECT_EQ(Contract::Parse("trig=1ulp", Dtype::f32).trig_arithmetic, Arithmetic::bf16);
  EXPECT_FALSE(Contract::Parse("rotate=f32", Dtype::f32).fma);
}

TEST(contract, NothingDeclaredIsExactAnglesAndF32Inside) {
  for (const Dtype io : {Dtype::f32, Dtype::bf16, Dtype::f16}) {
    EXPECT_EQ(Contract::Default(io).Text(),
              fmt::format("position=exact frequency=exact:rn angle=exact trig=0.5ulp:f32 table=f32 "
                          "rotate=f32 accumulate=f32 store={}:rne flush=no",
                          Name(io)));
  }
  EXPECT_EQ(Contract::Default(Dtype::f64).Text(),
            "position=exact frequency=exact:rn angle=exact trig=0.5ulp:f64 table=f64 rotate=f64 "
            "accumulate=f64 store=f64:rne flush=no");
}

template <class Enum>
Enum Any(Random& random) {
  return static_cast<Enum>(random.Below(kVariantNames<Enum>.size()));
}

Arithmetic AnyButTurns(Random& random) {
  for (;;) {
    const auto arithmetic = Any<Arithmetic>(random);
    if (!VariantName(arithmetic).starts_with("turn")) return arithmetic;
  }
}

TEST(contract, TextReadsBackAsTheSameContract) {
  Random random(1, "contract");
  for (int n = 0; n < 2000; ++n) {
    Contract contract{.position = AnyButTurns(random),
                      .frequency = AnyButTurns(random),
                      .frequency_formula = Any<FrequencyFormula>(random),
                      .angle = Any<Arithmetic>(random),
                      .trig_ulps = 0.5 + random.Uniform() * 8,
                      .trig_arithmetic = AnyButTurns(random),
                      .table = AnyButTurns(random),
                      .rotate = AnyButTurns(random),
                      .fma = random.Bits() % 2 == 0,
                      .accumulate = AnyButTurns(random),
                      .store = kFloatDtypes[random.Below(kFloatDtypes.size())],
                      .store_rounding = Any<StoreRounding>(random),
                      .flush_to_zero = random.Bits() % 2 == 0};
    EXPECT_EQ(Contract::Parse(contract.Text(), Dtype::f32), contract) << contract.Text();
  }
}

TEST(contract, RefusesByNameWhatItDoesNotKnow) {
  const std::string arithmetics = "exact, dd, f64, f32, f16, bf16, f8e4m3, f8e5m2";
  const std::string dtypes = "f64, f32, bf16, f16, f8e4m3, f8e5m2";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"rotate",
       "contract: expected key=value or a preset (exact-angle, f32, bf16, hf-eager, vllm-cache, "
       "flashinfer, flashinfer-cache, ggml, megatron, transformer-engine, mlx, onnx), got "
       "\"rotate\""},
      {"rotat=f32",
       "contract: unknown key 'rotat'; keys are position, frequency, angle, trig, table, rotate, "
       "accumulate, store, flush"},
      {"=f32",
       "contract: unknown key ''; keys are position, frequency, angle, trig, table, rotate, "
       "accumulate, store, flush"},
      {"table=f32 table=f32", "contract: 'table' is given twice"},
      {"rotate=f33", "contract: rotate must be one of " + arithmetics + ", got \"f33\""},
      {"rotate=", "contract: rotate must be one of " + arithmetics + ", got \"\""},
      {"rotate=f32:fms", "contract: rotate takes ':fma' only, got ':fms'"},
      {"rotate=f32:", "contract: rotate takes ':fma' only, got ':'"},
      {"rotate=turn64", "contract: rotate must be one of " + arithmetics + ", got \"turn64\""},
      {"position=i16",
       "contract: position must be one of i64, i32, " + arithmetics + ", got \"i16\""},
      {"angle=f33",
       "contract: angle must be one of exact, turn64, turn96, dd, f64, f32, f16, bf16, f8e4m3, "
       "f8e5m2, got \"f33\""},
      {"position=i64:x", "contract: position takes no ':x'"},
      {"angle=f32:x", "contract: angle takes no ':x'"},
      {"table=f32:rne", "contract: table takes no ':rne'"},
      {"accumulate=f32:x", "contract: accumulate takes no ':x'"},
      {"frequency=f32:powf",
       "contract: frequency's formula must be one of rn, pow, exp, recurrence, got \"powf\""},
      {"frequency=f32:",
       "contract: frequency's formula must be one of rn, pow, exp, recurrence, got \"\""},
      {"trig=1", "contract: trig must be a number of ulps such as 1ulp:f32, got '1'"},
      {"trig=ulp", "contract: trig must be a number of ulps such as 1ulp:f32, got 'ulp'"},
      {"trig=-1ulp", "contract: trig must be a number of ulps such as 1ulp:f32, got '-1ulp'"},
      {"trig=nanulp", "contract: trig must be a number of ulps such as 1ulp:f32, got 'nanulp'"},
      {"trig=infulp", "contract: trig must be a number of ulps such as 1ulp:f32, got 'infulp'"},
      {"trig=1ulps", "contract: trig must be a number of ulps such as 1ulp:f32, got '1ulps'"},
      {"trig=1ulp:f33", "contract: trig must be one of " + arithmetics + ", got \"f33\""},
      {"trig=0.25ulp:f32",
       "contract: trig cannot be below 0.5ulp of f32, the error of its rounding, got 0.25ulp"},
      {"trig=0ulp",
       "contract: trig cannot be below 0.5ulp of bf16, the error of its rounding, got 0ulp"},
      {"store=f33", "contract: store must be one of " + dtypes + ", got \"f33\""},
      {"store=i32", "contract: store must be one of " + dtypes + ", got \"i32\""},
      {"store=f32:up", "contract: store's rounding must be one of rne, rtz, sr, got \"up\""},
      {"flush=maybe", "contract: flush must be yes or no, got 'maybe'"},
      {"flush=", "contract: flush must be yes or no, got ''"},
  };
  for (const auto& [line, message] : cases) EXPECT_EQ(Refusal(line), message) << line;
}

TEST(contract, ArithmeticsAreTheirFormats) {
  EXPECT_EQ(UnitRoundoff(Arithmetic::f64), 0x1p-53);
  EXPECT_EQ(UnitRoundoff(Arithmetic::f32), 0x1p-24);
  EXPECT_EQ(UnitRoundoff(Arithmetic::f16), 0x1p-11);
  EXPECT_EQ(UnitRoundoff(Arithmetic::bf16), 0x1p-8);
  EXPECT_EQ(UnitRoundoff(Arithmetic::exact), 0);
  EXPECT_EQ(UnderflowError(Arithmetic::f32, false), 0x1p-150);
  EXPECT_EQ(UnderflowError(Arithmetic::bf16, false), 0x1p-134);
  EXPECT_EQ(UnderflowError(Arithmetic::f16, false), 0x1p-25);
  EXPECT_EQ(UnderflowError(Arithmetic::f64, false), 0x1p-1074);
  EXPECT_EQ(UnderflowError(Arithmetic::f32, true), 0x1p-126);
  EXPECT_EQ(UnderflowError(Arithmetic::f16, true), 0x1p-14);
  EXPECT_EQ(UnderflowError(Arithmetic::exact, true), 0);
  EXPECT_EQ(LargestFinite(Arithmetic::f16), 65504);
  EXPECT_EQ(LargestFinite(Arithmetic::bf16), 0x1.fep127);
  EXPECT_EQ(LargestFinite(Arithmetic::f32), 0x1.fffffep127);
  EXPECT_EQ(UnitRoundoff(Arithmetic::f8e4m3), 0x1p-4);
  EXPECT_EQ(UnitRoundoff(Arithmetic::f8e5m2), 0x1p-3);
  EXPECT_EQ(UnderflowError(Arithmetic::f8e4m3, false), 0x1p-10);
  EXPECT_EQ(UnderflowError(Arithmetic::f8e5m2, true), 0x1p-14);
  EXPECT_EQ(LargestFinite(Arithmetic::f8e4m3), 448);
  EXPECT_EQ(LargestFinite(Arithmetic::f8e5m2), 57344);
  EXPECT_TRUE(std::isinf(LargestFinite(Arithmetic::exact)));
}

// Against the numbers themselves: every finite number of the narrow formats, in every format.
TEST(contract, HoldsSaysWhetherEveryNumberPassesUnrounded) {
  for (const Dtype inner : {Dtype::f16, Dtype::bf16, Dtype::f8e4m3, Dtype::f8e5m2}) {
    for (const Dtype outer : kFloatDtypes) {
      bool all = true;
      for (uint64_t bits = 0; bits < uint64_t{1} << (8 * SizeOf(inner) - 1); ++bits) {
        const double value = Decode(inner, bits);
        all = all && (!std::isfinite(value) || RoundTo(FormatOf(outer), value) == value);
      }
      EXPECT_EQ(Holds(ArithmeticOf(outer), ArithmeticOf(inner)), all)
          << Name(outer) << " " << Name(inner);
    }
  }
  EXPECT_TRUE(Holds(Arithmetic::f64, Arithmetic::f32));
  EXPECT_FALSE(Holds(Arithmetic::f32, Arithmetic::f64));
  EXPECT_TRUE(Holds(Arithmetic::dd, Arithmetic::f64));
  EXPECT_FALSE(Holds(Arithmetic::f64, Arithmetic::dd));
  EXPECT_TRUE(Holds(Arithmetic::exact, Arithmetic::dd));
  EXPECT_FALSE(Holds(Arithmetic::dd, Arithmetic::exact));
}

}  // namespace
}  // namespace posgauge
