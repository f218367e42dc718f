#include "posgauge/properties/sincos2d.h"

#include <gtest/gtest.h>

#include "attention_values.h"
#include "given_rows_checks.h"

namespace posgauge::sincos2d {
namespace {

using Q = EquationQuantity;

RoundedValues RowsAt(const Scheme& scheme, const std::vector<double>& positions) {
  return ExactEquations(scheme).Evaluate(Q::table, {{{"positions", List(positions)}}}, Dtype::f64);
}

// Width 8, row 1, column 2: sin and cos of 2 and 0.02, then of 1 and 0.01, by mpmath.
TEST(sincos2d, WorkedRow) {
  ExpectPrinted(ParseScheme("sincos2d", {"width=8", "grid_h=3", "grid_w=4"}), Q::table,
                {{{"positions", List({1 * 4 + 2})}}},
                {"0.909297426825681695396019865912", "0.019998666693333079366490294693",
                 "-0.416146836547142386997568229501", "0.999800006666577778412695590837",
                 "0.84147098480789650665250232163", "0.0099998333341666646825424382691",
                 "0.540302305868139717400936607443", "0.999950000416665277780257933752"});
}

TEST(sincos2d, FirstAxisSwapsTheHalves) {
  const std::vector<std::string> grid = {"width=8", "grid_h=3", "grid_w=4"};
  std::vector<std::string> rows_first = grid;
  rows_first.push_back("first_axis=row");
  const auto a = RowsAt(ParseScheme("sincos2d", grid), {6}).values;
  const auto b = RowsAt(ParseScheme("sincos2d", rows_first), {6}).values;
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(a[i], b[(i + 4) % 8]) << i;
}

TEST(sincos2d, PrefixIsZerosAndTheFirstPatchIsExact) {
  const RoundedValues rows =
      RowsAt(ParseScheme("sincos2d", {"width=4", "grid_h=2", "grid_w=2", "prefix=1"}), {0, 1});
  EXPECT_EQ(rows.values, (std::vector<double>{0, 0, 0, 0, 0, 1, 0, 1}));
  EXPECT_EQ(rows.counts.exact, 8);
}

// diffusers: (index / (grid/base_size)) / interpolation_scale; a grid of 4 as over 16, halved,
// counts in twos.
TEST(sincos2d, ScaledCoordinatesCountInOtherSteps) {
  const Scheme scaled = ParseScheme(
      "sincos2d", {"width=8", "grid_h=4", "grid_w=4", "base_size=16", "interpolation_scale=2"});
  const Scheme plain = ParseScheme("sincos2d", {"width=8", "grid_h=16", "grid_w=16"});
  EXPECT_EQ(RowsAt(scaled, {1 * 4 + 3}).values, RowsAt(plain, {2 * 16 + 6}).values);
}

// sin and cos of x = (2/(6/16))/3 = 16/9 and x/100, then of the row's 8/9, to thirty digits.
TEST(sincos2d, WorkedScaledRow) {
  ExpectPrinted(ParseScheme("sincos2d", {"width=8", "grid_h=6", "grid_w=6", "base_size=16",
                                         "interpolation_scale=3"}),
                Q::table, {{{"positions", List({1 * 6 + 2})}}},
                {"0.978655704465837032916523581877", "0.017776841349960316989783161631",
                 "-0.205506720368157899778344233914", "0.999841979470565309117323087817",
                 "0.776371921300660479965230087671", "0.00888877183402439694653858163275",
                 "0.630275050922945108852873209155", "0.999960494087282757468138168345"});
}

TEST(sincos2d, PositionsBeyondTheGridAreRefused) {
  const Scheme scheme = ParseScheme("sincos2d", {"width=4", "grid_h=2", "grid_w=3", "prefix=1"});
  const auto refused = [&](double position) {
    return Refusal([&] { RowsAt(scheme, {position}); });
  };
  EXPECT_EQ(refused(6), "");
  EXPECT_EQ(refused(7), "positions must be in 0..6, got 7");
  EXPECT_EQ(refused(-1), "positions must be in 0..6, got -1");
}

TEST(sincos2d, ParametersThatMeanNothingAreRefused) {
  const auto refused = [](const std::vector<std::string>& settings) {
    return Refusal([&] { ParseScheme("sincos2d", settings); });
  };
  EXPECT_EQ(refused({"width=6"}), "sincos2d.width must be a multiple of 4, got 6");
  EXPECT_EQ(refused({"grid_h=0"}), "sincos2d.grid_h must be in 1..4096, got 0");
  EXPECT_EQ(refused({"prefix=-1"}), "sincos2d.prefix must be in 0..4096, got -1");
  EXPECT_EQ(refused({"interpolation_scale=0"}),
            "sincos2d.interpolation_scale must be in 1e-06..1000000, got 0");
}

TEST(sincos2d, GoodKernelsKeepTheirContractsAndLaws) {
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"width=24", "grid_h=5", "grid_w=7"},
           {"width=4", "grid_h=16", "grid_w=3", "prefix=1", "first_axis=row"},
           {"width=32", "grid_h=9", "grid_w=9", "base_size=16", "interpolation_scale=0.3"},
           {"width=8", "grid_h=2", "grid_w=4096"}}) {
    ExpectGoodKernels(ParseScheme("sincos2d", settings));
  }
}

TEST(sincos2d, FaultyKernelsAreFound) {
  const Scheme scheme = ParseScheme("sincos2d", {"width=16", "grid_h=5", "grid_w=7", "prefix=1",
                                                 "base_size=4", "interpolation_scale=3"});
  ExpectFound(scheme, {{"unstable", "determinism"},
                       {"row_behind", "contract origin axes"},
                       {"positions_alike", "contract rows"},
                       {"axes_swapped", "contract axes"},
                       {"column_major", "contract axes"},
                       {"scale_ignored", "contract"},
                       {"cosines_first", "contract origin"},
                       {"not_unit", "contract unit origin"}});
}

TEST(sincos2d, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(AnyParams())); }

TEST(sincos2d, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge::sincos2d
