#include "posgauge/properties/cape.h"

#include <cmath>

#include <gtest/gtest.h>

#include "attention_values.h"
#include "given_rows_checks.h"
#include "posgauge/fast/turns.h"
#include "posgauge/reference/exact_addition.h"

namespace posgauge::cape {
namespace {

using Q = EquationQuantity;
using Settings = std::vector<std::string>;

Scheme Cape(const Settings& settings) { return ParseScheme("cape", settings); }

NamedInputs InputsAt(const std::vector<double>& positions, std::vector<double> local_shift) {
  return {{{"positions", List(positions)}, {"local_shift", List(std::move(local_shift))}}};
}

std::vector<double> RowsAt(const Settings& settings, const std::vector<double>& positions,
                           const std::vector<double>& local_shift) {
  return ExactEquations(Cape(settings))
      .Evaluate(Q::table, InputsAt(positions, local_shift), Dtype::f64)
      .values;
}

// Thirty digits by mpmath at 60 digits, from the binary64 numbers given: t = (c n - m + g + l) e^s,
// sin and cos of t f base^(-2k/width).
TEST(cape, WorkedRows) {
  ExpectPrinted(Cape({"width=4", "length=4", "global_shift=0.25", "log_scale=0.1"}), Q::table,
                InputsAt({3}, {0, 0, 0, -0.1}),
                {"-0.333200232617435061727609848206", "-0.942856089222362271313804455045",
                 "0.0348058525091181574576979115699", "0.999394092753761234309293897576"});
  // Not scaled: 3.125 exactly.
  ExpectPrinted(Cape({"width=4", "length=4", "global_shift=0.25"}), Q::table,
                InputsAt({3}, {0, 0, 0, -0.125}),
                {"0.0165918922293479043199048023892", "-0.999862345081686584378233812202",
                 "0.0312449139853260787395811212575", "0.999511758485136369241229325396"});
  // An odd width, base 100, everything at once.
  ExpectPrinted(Cape({"width=5", "length=8", "position_scale=2", "mean=3", "global_shift=-0.5",
                      "log_scale=-0.25", "base=100"}),
                Q::table, InputsAt({7}, {9, 9, 9, 9, 9, 9, 9, 0.25}),
                {"0.868748420374771617254162123925", "-0.495253654298824027524948123157",
                 "0.970401965037259945656177063499", "0.24149539592262318332464120988",
                 "0.20875120236787379900766013737"});
  // Speech: a token every 0.03 s, frequencies 30 times as high.
  std::vector<double> local(1001, 0);
  local[1000] = 0x1p-6;
  ExpectPrinted(Cape({"width=4", "length=1001", "position_scale=0.03", "mean=22.5",
                      "global_shift=-12.5", "log_scale=0.0625", "frequency_scale=30"}),
                Q::table, InputsAt({1000}, local),
                {"-0.86544518288818002972512886617", "-0.501003628146188797899589209217",
                 "-0.999780440626760207246869903915", "-0.0209540101212442878699089804811"});
}

// The same with the shift -0.1 and the logarithm 0.1 as exact decimals, by mpmath. Their nearest
// binary64 numbers are within 2^-57, and so t = 3.15 e^0.1 within e^0.1 (1 + 3.15) 2^-57 < 5 2^-57.
TEST(cape, WorkedRowOfDecimals) {
  const EnclosedEach row =
      ExactEquations(Cape({"width=4", "length=4", "global_shift=0.25", "log_scale=0.1"}))
          .Enclose(Q::table, InputsAt({3}, {0, 0, 0, -0.1}));
  const std::vector<const char*> decimals = {
      "-0.333200232617435049291242196187", "-0.942856089222362275708749390901",
      "0.0348058525091181573258768149167", "0.9993940927537612343138848249"};
  for (size_t i = 0; i < decimals.size(); ++i) {
    const Real<38> moved = abs(Real<38>(decimals[i]) - Sum(row.values[i]));
    EXPECT_LE(moved, (i < 2 ? 5 : 0.05) * 0x1p-57) << i;
    EXPECT_GT(moved, 0x1p-75) << i;  // and they are other numbers
  }
}

// CAPE without augmentation is the paper's sinusoid, also of an odd width and at other frequencies.
TEST(cape, PlainIsSinusoidal) {
  const std::vector<double> positions = {0, 1, 77, 4095};
  for (const char* width : {"width=2", "width=5", "width=16"}) {
    const ExactAddition sinusoidal(
        ParseScheme("sinusoidal", {width, "odd_width=extra_sine", "scale=2.5", "base=500"}));
    const RoundedValues want = sinusoidal.Rows(positions, Dtype::f64);
    const RoundedValues got =
        ExactEquations(Cape({width, "length=4096", "frequency_scale=2.5", "base=500"}))
            .Evaluate(Q::table, InputsAt(positions, std::vector<double>(4096, 0)), Dtype::f64);
    EXPECT_EQ(got.values, want.values) << width;
    EXPECT_EQ(got.distances, want.distances) << width;
  }
}

// (2 n - 3 - 1 + 4) = 2 n, and t/2 at twice the frequencies.
TEST(cape, ShiftsCancelAndScalesMultiply) {
  const std::vector<double> none(9, 0), four(9, 4);
  EXPECT_EQ(RowsAt({"width=6", "length=9", "position_scale=2", "mean=3", "global_shift=-1"},
                   {1, 4, 8}, four),
            RowsAt({"width=6", "length=9", "position_scale=2"}, {1, 4, 8}, none));
  EXPECT_EQ(RowsAt({"width=6", "length=9", "position_scale=2"}, {1, 4, 8}, none),
            RowsAt({"width=6", "length=9", "frequency_scale=2"}, {1, 4, 8}, none));
}

// The scale multiplies what is shifted already: 0 wherever it was, and e^(ln 2) = 2 nearly.
TEST(cape, ScaleComesAfterTheShifts) {
  const RoundedValues zero =
      ExactEquations(Cape({"width=3", "length=2", "mean=0.75", "log_scale=0.7"}))
          .Evaluate(Q::table, InputsAt({1}, {0, -0.25}), Dtype::f64);
  EXPECT_EQ(zero.values, (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(zero.counts.exact, 3);
  const RoundedValues twice = ExactEquations(Cape({"width=2", "length=2", "global_shift=1",
                                                   "log_scale=0.6931471805599453"}))
                                  .Evaluate(Q::table, InputsAt({1}, {0, 0}), Dtype::f32);
  // sin 4 and cos 4, by mpmath.
  EXPECT_EQ(twice.values, (std::vector<double>{static_cast<float>(-0.756802495307928251),
                                               static_cast<float>(-0.653643620863611915)}));
}

TEST(cape, PositionsWithoutALocalShiftAreRefused) {
  const auto refused = [&](double position) {
    return Refusal([&] { RowsAt({"width=4", "length=3"}, {position}, {0, 0, 0}); });
  };
  EXPECT_EQ(refused(2), "");
  EXPECT_EQ(refused(3), "positions must be in 0..2, got 3");
  EXPECT_EQ(refused(-1), "positions must be in 0..2, got -1");
  EXPECT_EQ(refused(0.5), "positions must be whole numbers below 2^53, got 0.5");
  EXPECT_EQ(Refusal([&] {
              RowsAt({"width=4", "length=3"}, {0}, {0, 0});
            }),
            "input local_shift must have shape [3], got [2]");
  EXPECT_EQ(Refusal([&] {
              ExactEquations(Cape({"length=1"}))
                  .Evaluate(Q::table, {{{"positions", List({0})}}}, Dtype::f64);
            }),
            "input local_shift is missing");
  EXPECT_EQ(Refusal([&] {
              RowsAt({"width=4", "length=1"}, {0}, {HUGE_VAL});
            }),
            "input local_shift must hold finite numbers in "
            "-1099511627776..1099511627776, got inf");
}

TEST(cape, ParametersThatMeanNothingAreRefused) {
  const auto refused = [](const Settings& settings) { return Refusal([&] { Cape(settings); }); };
  EXPECT_EQ(refused({"width=0"}), "cape.width must be in 1..65536, got 0");
  EXPECT_EQ(refused({"length=0"}), "cape.length must be in 1..2147483648, got 0");
  EXPECT_EQ(refused({"position_scale=0"}), "cape.position_scale must be in 1e-06..1000000, got 0");
  EXPECT_EQ(refused({"mean=1e13"}),
            "cape.mean must be in -1099511627776..1099511627776, got 10000000000000");
  EXPECT_EQ(refused({"global_shift=-1e13"}),
            "cape.global_shift must be in -1099511627776..1099511627776, got -10000000000000");
  EXPECT_EQ(refused({"log_scale=15"}), "cape.log_scale must be in -14..14, got 15");
  EXPECT_EQ(refused({"frequency_scale=-1"}),
            "cape.frequency_scale must be in 1e-06..1000000, got -1");
  EXPECT_EQ(refused({"base=0.5"}), "cape.base must be a number in 1..1e30, got 0.5");
}

// |high + low| in units of 2^-64, to nearest: by integers of 128 bits.
TEST(cape, TurnPositionOfTwoDoubles) {
  using fast::TurnPositionOf;
  using fast::Wide;
  const auto check = [](Wide position, uint32_t whole, uint64_t fraction, bool negative) {
    const fast::TurnPosition at = TurnPositionOf(position);
    EXPECT_EQ(at.whole, whole) << position.high << " + " << position.low;
    EXPECT_EQ(at.fraction, fraction) << position.high << " + " << position.low;
    EXPECT_EQ(at.negative, negative) << position.high << " + " << position.low;
  };
  check({3, 0}, 3, 0, false);
  check({3, 0x1p-60}, 3, 16, false);
  check({3, -0x1p-60}, 2, uint64_t{0} - 16, false);
  check({-3, 0x1p-60}, 2, uint64_t{0} - 16, true);
  check({-3.5, -0x1p-64}, 3, (uint64_t{1} << 63) + 1, true);
  check({3.5, -0x1p-64}, 3, (uint64_t{1} << 63) - 1, false);
  check({1, -0x1p-66}, 1, 0, false);  // rounded up to a whole token
  check({0x1p-64, 0}, 0, 1, false);
  check({0x1.8p-66, 0}, 0, 0, false);
  check({0x1p31 + 0.75, -0x1p-30}, uint32_t{1} << 31, (uint64_t{3} << 62) - (uint64_t{1} << 34),
        false);
  check({fast::kLargestPosition, -0x1p-40}, 0xfffffffe, uint64_t{0} - (uint64_t{1} << 24), false);
  check(Wide(-0.1), 0, TurnPositionOf(0.1).fraction, true);
  EXPECT_THROW(TurnPositionOf(Wide(0x1p32)), ParameterError);
  EXPECT_THROW(TurnPositionOf(Wide(std::nan(""))), ParameterError);
}

// Angles of 10^9 radians, every term at work: within what the contract allows, sines good to 2 ulp
// of f64, of which the worst ones use a good part.
TEST(cape, FarRowsUseTheirBoundAndNoMore) {
  const Scheme scheme =
      Cape({"width=64", "length=512", "position_scale=999999.25", "mean=268435456.5",
            "global_shift=-0.3", "log_scale=0.6", "frequency_scale=1.9"});
  CheckPlan plan;
  for (double p = 0; p < 512; ++p) plan.positions.push_back(p);
  std::vector<Subject> subjects;
  for (const char* name : {"fast.rows.cape.f64", "fast.rows.cape.f32", "fast.embed.cape.f64"}) {
    subjects.emplace_back(AnyKernel(name), scheme);
  }
  const std::vector<KernelCheck> checks = CheckKernels(subjects, plan);
  for (size_t i = 0; i < subjects.size(); ++i) {
    const Verdict& verdict = checks[i].keeps_contract;
    EXPECT_EQ(verdict.outcome, Outcome::pass) << Line(verdict);
    EXPECT_EQ(checks[i].blind, 0u);
    if (subjects[i].io() == Dtype::f64) {
      EXPECT_GT(verdict.use.max(), 0.25) << Line(verdict);
    }
  }
}

TEST(cape, PositionsBeyondTheKernelsAreRefusedByThem) {
  const Scheme scheme =
      Cape({"width=4", "length=4", "position_scale=1000000", "log_scale=8", "mean=1"});
  const Subject subject(AnyKernel("fast.rows.cape.f64"), scheme);
  EXPECT_NO_THROW(subject.Evaluate(InputsAt({1}, {0, 0, 0, 0})));
  EXPECT_THROW(subject.Evaluate(InputsAt({2}, {0, 0, 0, 0})), Unsupported);
}

TEST(cape, GoodKernelsKeepTheirContractsAndLaws) {
  for (const Settings& settings :
       std::vector<Settings>{{"width=24", "length=40"},
                             {"width=7", "length=30", "position_scale=0.03", "mean=0.435",
                              "frequency_scale=30", "global_shift=-12.5", "log_scale=0.1"},
                             {"width=1", "length=5", "mean=3", "base=1"},
                             {"width=16", "length=12", "global_shift=50000.3", "log_scale=-0.4"}}) {
    ExpectGoodKernels(Cape(settings));
  }
}

TEST(cape, FaultyKernelsAreFound) {
  const Scheme scheme = Cape({"width=16", "length=37", "position_scale=1.5", "mean=27",
                              "global_shift=2.25", "log_scale=0.3", "frequency_scale=1.25"});
  ExpectFound(scheme, {{"unstable", "determinism"},
                       {"row_behind", "contract sinusoidal origin"},
                       {"positions_alike", "contract rows sinusoidal"},
                       {"clamps", "refusal"},
                       {"scale_ignored", "contract sinusoidal"},
                       {"log_scale_ignored", "contract"},
                       {"scaled_before_shifts", "contract"},
                       {"mean_added", "contract origin shifts"},
                       {"global_shift_ignored", "contract shifts"},
                       {"local_shifts_ignored", "contract shifts"},
                       {"local_shift_behind", "contract shifts"},
                       {"local_shifts_add_up", "contract local"},
                       {"halves", "contract sinusoidal origin"},
                       {"position_scale_ignored", "contract rescaled"},
                       {"global_shift_drifts", "contract turn"},
                       {"not_unit", "contract unit origin"}});
}

TEST(cape, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(AnyParams())); }

TEST(cape, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge::cape
