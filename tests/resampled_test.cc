#include "posgauge/properties/resampled.h"

#include <gtest/gtest.h>

#include "attention_values.h"
#include "given_rows_checks.h"

namespace posgauge::resampled {
namespace {

using Q = EquationQuantity;
using Settings = std::vector<std::string>;

// One row of patches, no prefix, width 1.
Scheme Line(int64_t grid, int64_t target, const Settings& more) {
  Settings settings = {"width=1",
                       "grid_h=1",
                       "target_h=1",
                       "prefix=0",
                       fmt::format("grid_w={}", grid),
                       fmt::format("target_w={}", target)};
  settings.insert(settings.end(), more.begin(), more.end());
  return ParseScheme("resampled", settings);
}

NamedInputs All(const std::vector<double>& values, int64_t positions) {
  return {{{"positions", Consecutive(positions)},
           {"table", {{static_cast<int64_t>(values.size()), 1}, values}}}};
}

void ExpectLine(const std::vector<double>& values, const Settings& settings,
                const std::vector<std::string>& printed) {
  const auto target = static_cast<int64_t>(printed.size());
  ExpectPrinted(Line(static_cast<int64_t>(values.size()), target, settings), Q::table,
                All(values, target), printed);
}

// A table that is 1 at one row and 0 elsewhere shows its weight: target 3 of 8 lies at 3.5/2 - 1/2
// = 1.25 of 4.
TEST(resampled, WorkedWeights) {
  const std::vector<std::pair<std::string, std::vector<double>>> worked = {
      {"cubic=-0.75", {-0.10546875, 0.87890625, 0.26171875, -0.03515625}},
      {"cubic=-0.5", {-0.0703125, 0.8671875, 0.2265625, -0.0234375}}};
  for (const auto& [cubic, weights] : worked) {
    for (size_t tap = 0; tap < 4; ++tap) {
      std::vector<double> table(4);
      table[tap] = 1;
      const RoundedValues values =
          ExactEquations(Line(4, 8, {cubic})).Evaluate(Q::table, All(table, 8), Dtype::f64);
      EXPECT_EQ(values.values[3], weights[tap]) << cubic << " " << tap;
      EXPECT_EQ(values.proofs[3], Proof::exact);
    }
  }
}

TEST(resampled, WorkedLines) {
  const std::vector<double> table = {1, 2, 4, 8};
  ExpectLine(table, {"cubic=-0.75"},
             {"0.913194444444444444444444444444", "1.3125", "2.30439814814814814814814814815",
              "3.38310185185185185185185185185", "6.1875", "8.34722222222222222222222222222"});
  ExpectLine(table, {"cubic=-0.5"},
             {"0.94212962962962962962962962963", "1.375", "2.25231481481481481481481481481",
              "3.53935185185185185185185185185", "6.125", "8.23148148148148148148148148148"});
}

// Step 4/(6 + 0.1), 0.1 the decimal: the binary64 number next to it moves the seventeenth digit, so
// the printed numbers of the decimal are held to fifteen.
TEST(resampled, WorkedOffset) {
  const std::vector<std::string> of_decimal = {"0.911520264912041", "1.30040207109846",
                                               "2.26271458293866",  "3.27466051673929",
                                               "5.98287659539785",  "8.25517499262053"};
  const EnclosedEach values =
      ExactEquations(Line(4, 6, {"offset=0.1"})).Enclose(Q::table, All({1, 2, 4, 8}, 6));
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(RoundedLike(of_decimal[i], values.values[i]), DigitsOf(of_decimal[i])) << i;
  }
  ExpectLine({1, 2, 4, 8}, {"offset=0.1"},
             {"0.911520264912041095861171158675", "1.30040207109846198515494288105",
              "2.26271458293866006170989425636", "3.27466051673928654258503528328",
              "5.98287659539785267243958082933", "8.25517499262052770338294737342"});
}

// By Python's fractions, from the formulas of Keys and of Pillow's resampling.
TEST(resampled, WorkedAntialias) {
  const std::vector<double> table = {1, 2, 4, 8, 3};
  ExpectLine(table, {"cubic=-0.5", "antialias=true"},
             {"1.23076923076923076923076923077", "4.64186046511627906976744186047",
              "5.26153846153846153846153846154"});
  ExpectLine(table, {"filter=bilinear", "antialias=true"},
             {"1.42857142857142857142857142857", "4.44444444444444444444444444444",
              "5.14285714285714285714285714286"});
  // Where the grid grows, only the edges differ: they are left out, not repeated.
  ExpectLine(table, {"cubic=-0.5", "antialias=true"},
             {"0.941747572815533980582524271845", "1.4265927977839335180055401662",
              "2.44023323615160349854227405248", "4.0", "7.45481049562682215743440233236",
              "6.0637119113573407202216066482", "2.70873786407766990291262135922"});
}

TEST(resampled, WorkedBilinear) {
  const std::vector<double> table = {1, 2, 4, 8, 3};
  ExpectLine(table, {"filter=bilinear", "align_corners=true"},
             {"1.0", "2.66666666666666666666666666667", "6.66666666666666666666666666667", "3.0"});
  ExpectLine(table, {"filter=bilinear"},
             {"1.33333333333333333333333333333", "4.0", "4.66666666666666666666666666667"});
}

// A table h + 10 w on 2 x 3, to 4 x 6: step 1/2 in both, weights (3/4, 1/4) inside, and the prefix
// as it is.
TEST(resampled, TwoAxesAndAPrefix) {
  const Scheme scheme = ParseScheme("resampled", {"width=1", "grid_h=2", "grid_w=3", "target_h=4",
                                                  "target_w=6", "filter=bilinear"});
  const std::vector<double> table = {-7, 0, 10, 20, 1, 11, 21};
  const RoundedValues values =
      ExactEquations(scheme).Evaluate(Q::table, All(table, 25), Dtype::f64);
  const std::vector<double> h = {0, 0.25, 0.75, 1}, w = {0, 2.5, 7.5, 12.5, 17.5, 20};
  EXPECT_EQ(values.values[0], -7);
  for (size_t i = 0; i < 24; ++i) EXPECT_EQ(values.values[1 + i], h[i / 6] + w[i % 6]) << i;
  EXPECT_EQ(values.counts.exact, 25);
}

// Thirds of 3 + 3 2^-24: the sum 1 + 2^-24 is halfway between two numbers of binary32, though its
// weights are no binary numbers. With 0.1 in the step, thousands of bits would not tell by chance.
TEST(resampled, TiesOfRationalWeightsAreDecided) {
  for (const char* offset : {"offset=0", "offset=0.1"}) {
    const double tie = 1 + 0x1p-24;
    const RoundedValues values = ExactEquations(Line(3, 5, {offset}))
                                     .Evaluate(Q::table, All({tie, tie, tie}, 5), Dtype::f32);
    EXPECT_EQ(values.counts.undecided, 0);
    EXPECT_EQ(values.values, std::vector<double>(5, 1));
  }
}

// The scale that DINOv2's program hands over, (6 + 0.1)/4, rounded twice: it parts from the offset
// at the sixteenth digit.
TEST(resampled, WorkedScale) {
  ExpectLine({1, 2, 4, 8}, {fmt::format("scale_w={}", 6.1 / 4)},
             {"0.911520264912041101684601754772", "1.30040207109846202740730825324",
              "2.26271458293866021435140154909", "3.27466051673928690842136922199",
              "5.98287659539785340467905349711", "8.25517499262052809239475649026"});
}

TEST(resampled, SameGridIsTheTableItself) {
  for (const Settings& settings : std::vector<Settings>{{"cubic=-0.75"},
                                                        {"filter=bilinear"},
                                                        {"align_corners=true"},
                                                        {"cubic=-0.5", "antialias=true"}}) {
    const RoundedValues values =
        ExactEquations(Line(4, 4, settings)).Evaluate(Q::table, All({1, 2, 4, 8}, 4), Dtype::f64);
    EXPECT_EQ(values.values, (std::vector<double>{1, 2, 4, 8}));
    EXPECT_EQ(values.counts.exact, 4);
  }
}

TEST(resampled, ParametersThatMeanNothingAreRefused) {
  const auto refused = [](const Settings& settings) {
    return Refusal([&] { ParseScheme("resampled", settings); });
  };
  EXPECT_EQ(refused({"cubic=0.5"}), "resampled.cubic must be in -1..0, got 0.5");
  EXPECT_EQ(refused({"offset=1"}), "resampled.offset must be at least 0 and below 1, got 1");
  EXPECT_EQ(refused({"align_corners=true", "antialias=true"}),
            "resampled.align_corners goes with neither antialias nor offset nor scales");
  EXPECT_EQ(refused({"scale_h=1.3"}), "resampled.scale_h makes 18 of 14, but the target is 16");
  EXPECT_EQ(refused({"target_w=0"}), "resampled.target_w must be in 1..4096, got 0");
}

TEST(resampled, GoodKernelsKeepTheirContractsAndLaws) {
  const Settings grid = {"width=12", "grid_h=4", "grid_w=6", "target_h=7", "target_w=5"};
  for (const Settings& more : std::vector<Settings>{{"cubic=-0.75"},
                                                    {"filter=bilinear", "prefix=0"},
                                                    {"cubic=-0.5", "antialias=true"},
                                                    {"filter=bilinear", "antialias=true"},
                                                    {"align_corners=true", "prefix=2"},
                                                    {"offset=0.1"},
                                                    {"scale_h=1.775", "scale_w=0.85"},
                                                    {"target_h=4", "target_w=6"}}) {
    Settings settings = grid;
    settings.insert(settings.end(), more.begin(), more.end());
    ExpectGoodKernels(ParseScheme("resampled", settings));
  }
}

TEST(resampled, FaultyKernelsAreFound) {
  const Settings grid = {"width=8", "grid_h=4", "grid_w=6", "target_h=7", "target_w=5", "prefix=2"};
  ExpectFound(ParseScheme("resampled", grid), {{"unstable", "determinism"},
                                               {"row_behind", "contract prefix mirror"},
                                               {"positions_alike", "contract rows"},
                                               {"corners_swapped", "contract"},
                                               {"not_normalised", "contract constant"},
                                               {"prefix_resampled", "contract prefix"},
                                               {"other_cubic", "contract"}});
  Settings corners = grid, wide = grid;
  corners.push_back("align_corners=true");
  ExpectFound(ParseScheme("resampled", corners), {{"corners_swapped", "contract corners"}});
  wide.push_back("antialias=true");
  ExpectFound(ParseScheme("resampled", wide), {{"antialias_ignored", "contract"}});
}

TEST(resampled, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(AnyParams())); }

TEST(resampled, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge::resampled
