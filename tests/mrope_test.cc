#include "posgauge/properties/mrope.h"

#include <gtest/gtest.h>

#include <numeric>

#include "faulty_kernels.h"
#include "law_checks.h"
#include "posgauge/golden/generate.h"
#include "posgauge/golden/plan.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/atomic_file.h"
#include "posgauge/verify/case_file.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/plan.h"
#include "posgauge/verify/repro.h"
#include "posgauge/verify/safetensors.h"
#include "temporary_folder.h"
#include "worked_values.h"

namespace posgauge {
namespace {

using Axis = std::vector<int64_t>;

Axis AxesOfPairs(const Settings& settings) {
  return AxesOf(ParseScheme("mrope", settings)).of_pair;
}

Axis CountsOf(const Axis& axes, int64_t count) {
  Axis counts(static_cast<size_t>(count), 0);
  for (int64_t axis : axes) ++counts[static_cast<size_t>(axis)];
  return counts;
}

TEST(mrope, BlocksFollowTheSections) {
  Axis expected(16, 0);
  expected.insert(expected.end(), 24, 1);
  expected.insert(expected.end(), 24, 2);
  EXPECT_EQ(AxesOfPairs({"section=[16,24,24]"}), expected);
  EXPECT_EQ(CountsOf(AxesOfPairs({"section=[16,16,16,16]"}), 4), Axis(4, 16));
  EXPECT_EQ(AxesOfPairs({"rotary_dim=8", "section=[0,0,4]"}), Axis(4, 2));
}

// Qwen3-VL: height at 1, 4, ... 58, width at 2, 5, ... 59, all else time.
TEST(mrope, InterleavedDealsHeightAndWidthAndLeavesTheRestToTime) {
  const Axis axes = AxesOfPairs({"section=[24,20,20]", "order=interleaved"});
  EXPECT_EQ(CountsOf(axes, 3), (Axis{24, 20, 20}));
  EXPECT_EQ(Axis(axes.begin(), axes.begin() + 6), (Axis{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(Axis(axes.begin() + 57, axes.end()), (Axis{0, 1, 2, 0, 0, 0, 0}));
}

// The pattern ends at the last pair: 3 * 24 > 64.
TEST(mrope, InterleavedCountsAreNotTheSectionsWhereThePatternDoesNotFit) {
  EXPECT_EQ(CountsOf(AxesOfPairs({"section=[16,24,24]", "order=interleaved"}), 3),
            (Axis{22, 21, 21}));
}

// ggml sends the two pairs that follow the pattern to its fourth position, which llama.cpp sets to
// 0 for text; the model turns them by 0.108 and 0.085 radians at its last position.
TEST(mrope, GgmlLeavesTwoPairsOfQwen3VlToTheFourthAxis) {
  const Settings settings = {"base=5000000", "section=[24,20,20,0]", "order=interleaved_ggml"};
  const Axis axes = AxesOfPairs(settings);
  EXPECT_EQ(CountsOf(axes, 4), (Axis{22, 20, 20, 2}));
  EXPECT_EQ(axes[61], 3);
  EXPECT_EQ(axes[62], 3);
  const ExactRotation exact(ParseScheme("mrope", settings));
  const std::vector<double> text = {262143, 262143, 262143, 0};
  const RoundedTable table = exact.Table(text, Dtype::f64);
  for (size_t pair : {61, 62}) {
    EXPECT_EQ(table.cos.values[pair], 1);
    EXPECT_EQ(table.sin.values[pair], 0);
    EXPECT_EQ(table.sin.proofs[pair], Proof::exact);
  }
  // 262143 * 5e6^(-122/128) and (-124/128), by mpmath.
  const RoundedValues frequencies = exact.Frequencies(Dtype::f64);
  EXPECT_EQ(fmt::format("{:.6f}", 262143 * frequencies.values[61]), "0.108039");
  EXPECT_EQ(fmt::format("{:.6f}", 262143 * frequencies.values[62]), "0.084901");
}

TEST(mrope, ErnieAlternatesHeightAndWidthBeforeTime) {
  const Axis axes = AxesOfPairs({"section=[22,22,20]", "order=ernie"});
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(axes[i], i >= 44 ? 0 : i % 2 == 0 ? 1 : 2) << i;
}

// get_mrope_interleaved_id_list of vLLM's mrope_interleaved.py for (2, 2), (2, 3, 3), (16, 24, 24)
// and (4, 1).
TEST(mrope, OpenPanguDealsToTheSmallestShareAndEndsWithTime) {
  const auto deal = [](const std::string& width, const std::string& section) {
    return AxesOfPairs({"rotary_dim=" + width, "section=" + section, "order=openpangu"});
  };
  EXPECT_EQ(deal("8", "[2,2]"), (Axis{0, 1, 0, 1}));
  EXPECT_EQ(deal("16", "[2,3,3]"), (Axis{0, 1, 2, 1, 2, 1, 2, 0}));
  EXPECT_EQ(deal("128", "[16,24,24]"),
            (Axis{0, 1, 2, 1, 2, 0, 1, 2, 1, 2, 0, 1, 2, 0, 1, 2, 1, 2, 0, 1, 2, 0,
                  1, 2, 1, 2, 0, 1, 2, 1, 2, 0, 1, 2, 0, 1, 2, 1, 2, 0, 1, 2, 0, 1,
                  2, 1, 2, 0, 1, 2, 1, 2, 0, 1, 2, 0, 1, 2, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(deal("10", "[4,1]"), (Axis{0, 1, 0, 0, 0}));
  EXPECT_EQ(CountsOf(deal("128", "[40,24]"), 2), (Axis{40, 24}));
  EXPECT_EQ(deal("2", "[1,0,0]"), (Axis{0}));
  EXPECT_EQ(RefusalOf("mrope", {"section=[0,32,32]", "order=openpangu"}),
            "mrope.section[0] must be at least 1 in the order openpangu, whose last pair counts "
            "time");
}

TEST(mrope, FrequenciesAreThoseOfRope) {
  ExpectSameFrequencies(ParseScheme("mrope", {"base=1e6", "section=[16,24,24]"}),
                        ParseScheme("rope", {"base=1e6", "head_dim=128"}));
}

TEST(mrope, RefusesSectionsThatDoNotFit) {
  EXPECT_EQ(RefusalOf("mrope", {"section=[16,24,23]"}),
            "mrope.section must sum to 64 (rotary_dim/2), got 63 (16 + 24 + 23)");
  EXPECT_EQ(RefusalOf("mrope", {"section=[32,32]"}),
            "mrope.section must have 3..4 entries (pairs of each axis), got 2");
  EXPECT_EQ(RefusalOf("mrope", {"section=[16,16,16,16]", "order=interleaved"}),
            "mrope.section must have 3 entries (pairs of each axis), got 4");
  EXPECT_EQ(RefusalOf("mrope", {"section=[16,24,24]", "order=interleaved_ggml"}),
            "mrope.section must have 4 entries (pairs of each axis), got 3");
  EXPECT_EQ(RefusalOf("mrope", {"section=[22,21,21]", "order=ernie"}),
            "mrope.section must begin with two equal entries (height, width, time) in the order "
            "ernie, got 22 and 21");
  EXPECT_EQ(RefusalOf("mrope", {"section=[-1,33,32]"}),
            "mrope.section[0] must be in 0..64 (rotary_dim/2), got -1");
  EXPECT_EQ(RefusalOf("mrope", {"section=[16.5,24,24]"}),
            "mrope.section[0] must be an integer, got 16.5");
  EXPECT_EQ(RefusalOf("mrope", {"section=64"}), "mrope.section must be a list of integers, got 64");
}

TEST(mrope, SectionsTravelAsAList) {
  const Scheme scheme = ParseScheme("mrope", {"section=[24,20,20]", "order=interleaved"});
  EXPECT_EQ(ListsOf(scheme), (std::vector<NamedList>{{"section", {24, 20, 20}}}));
  EXPECT_EQ(SchemeFromScalars("mrope", ScalarsOf(scheme), ListsOf(scheme)), scheme);
  EXPECT_EQ(SchemeFromJson(ToJson(scheme)), scheme);
  EXPECT_THROW(SchemeFromScalars("mrope", ScalarsOf(scheme)), ParameterError);
  const std::vector<NamedList> half = {{"section", {24, 20.5, 19.5}}};
  EXPECT_THROW(SchemeFromScalars("mrope", ScalarsOf(scheme), half), ParameterError);
}

// One-dimensional tables of the same frequencies, a column of each at a time.
TEST(mrope, EveryPairIsRopeAtThePositionOnItsAxis) {
  const std::vector<double> positions = {0,  5, 7, 1.5, -3,     131071, 2147483647, 4294967296.0,
                                         -2, 9, 9, 9,   0x1p60, 0.125,  1,          65536};
  for (const char* order :
       {"contiguous", "interleaved", "interleaved_ggml", "ernie", "openpangu"}) {
    const bool four = order == std::string("interleaved_ggml");
    const size_t count = four ? 4 : 3;
    const Scheme scheme =
        ParseScheme("mrope", {"head_dim=64", "direction=clockwise", fmt::format("order={}", order),
                              four ? "section=[12,10,10,0]" : "section=[10,10,12]"});
    const Positions some = std::span(positions).first(positions.size() / count * count);
    const ExactRotation exact(scheme),
        rope(ParseScheme("rope", {"head_dim=64", "direction=clockwise"}));
    const Axes axes = AxesOf(scheme);
    for (Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16}) {
      const RoundedTable table = exact.Table(some, dtype);
      ASSERT_EQ(table.cos.values.size(), some.size() / count * 32);
      for (size_t token = 0; token < some.size() / count; ++token) {
        for (size_t pair = 0; pair < 32; ++pair) {
          const double position = some[token * count + static_cast<size_t>(axes.of_pair[pair])];
          const RoundedTable one = rope.Table(std::span(&position, 1), dtype);
          EXPECT_EQ(table.cos.values[token * 32 + pair], one.cos.values[pair]) << order;
          EXPECT_EQ(table.sin.values[token * 32 + pair], one.sin.values[pair]) << order;
          EXPECT_EQ(table.cos.proofs[token * 32 + pair], one.cos.proofs[pair]) << order;
        }
      }
    }
  }
}

// Enough tokens that rows are products in double-double.
TEST(mrope, LongTablesAreRopeWhereAxesAgree) {
  const ExactRotation exact(ParseScheme("mrope", {"head_dim=32", "section=[4,6,6]"}));
  const ExactRotation rope(ParseScheme("rope", {"head_dim=32"}));
  std::vector<double> positions, everywhere;
  for (int64_t p = -3000; p < 3000; ++p) {
    positions.push_back(static_cast<double>(p));
    everywhere.insert(everywhere.end(), 3, static_cast<double>(p));
  }
  const RoundedTable table = exact.Table(everywhere, Dtype::f64);
  const RoundedTable want = rope.Table(positions, Dtype::f64);
  EXPECT_EQ(table.cos.values, want.cos.values);
  EXPECT_EQ(table.sin.values, want.sin.values);
  EXPECT_EQ(table.cos.distances, want.cos.distances);
  EXPECT_EQ(table.sin.counts.undecided, 0);
  const EnclosedTable enclosed = exact.EncloseTable(everywhere);
  EXPECT_EQ(enclosed.radius, rope.EncloseTable(positions).radius);
}

TEST(mrope, PositionsMustBeWholeTokens) {
  const ExactRotation exact(ParseScheme("mrope", {}));
  const std::vector<double> four(4, 1.0);
  EXPECT_THROW(exact.Table(four, Dtype::f64), ParameterError);
  EXPECT_THROW(exact.Rotate(four, {}, 0, Dtype::f64), ParameterError);
}

// <R(p) q, R(t) k> where all that differ count no pair is the plain product, rounded once.
TEST(mrope, ScoresDependOnTheOffsetOfEachAxis) {
  const ExactRotation exact(ParseScheme("mrope", {"head_dim=8", "section=[2,1,1]"}));
  const std::vector<double> q = {1, 0.5, -2, 3, 0.25, -1, 1.5, 0.75},
                            k = {2, -1, 0.5, 1, 3, 1, -1, 2};
  const auto score = [&](std::vector<double> at, std::vector<double> to) {
    return exact.Scores(at, to, q, k, 1, 1, Dtype::f64);
  };
  const double plain = std::inner_product(q.begin(), q.end(), k.begin(), 0.0);
  EXPECT_EQ(score({3, 5, 7}, {3, 5, 7}).values[0], plain);
  EXPECT_EQ(score({3, 5, 7}, {3, 5, 7}).proofs[0], Proof::exact);
  const double moved = score({3, 5, 7}, {1, 5, 9}).values[0];
  EXPECT_EQ(score({1003, 25, 7}, {1001, 25, 9}).values[0], moved);
  EXPECT_NE(score({3, 5, 7}, {5, 5, 9}).values[0], moved);
  EXPECT_NE(moved, plain);
  // Only pair 3 counts width.
  const ExactRotation blind(ParseScheme("mrope", {"head_dim=8", "section=[0,0,4]"}));
  const std::vector<double> at = {1, 2, 9}, to = {3, 4, 9};
  const RoundedValues same = blind.Scores(at, to, q, k, 1, 1, Dtype::f64);
  EXPECT_EQ(same.values[0], plain);
  EXPECT_EQ(same.proofs[0], Proof::exact);
}

TEST(mrope, PlannedPositionsAreEqualAloneOrDrawn) {
  const Axes axes = AxesOf(ParseScheme("mrope", {}));
  const std::vector<double> planned = PlanPositions(400, 131071, {}, 1);
  const std::vector<double> placed = PlaceOnAxes(axes, planned, 1);
  ASSERT_EQ(placed.size(), 3 * planned.size());
  EXPECT_EQ(axes.Farthest(placed), planned);
  size_t equal = 0, alone = 0, drawn = 0;
  for (size_t token = 0; token < planned.size(); ++token) {
    const Positions row = axes.Row(placed, token);
    const auto zeros = std::ranges::count(row, 0.0);
    if (row[0] == row[1] && row[1] == row[2])
      ++equal;
    else if (zeros == 2)
      ++alone;
    else
      ++drawn;
  }
  EXPECT_GT(equal, 50u);
  EXPECT_GT(alone, 50u);
  EXPECT_GT(drawn, 100u);
  EXPECT_EQ(PlaceOnAxes(axes, planned, 1), placed);
  EXPECT_NE(PlaceOnAxes(axes, planned, 2), placed);
  EXPECT_EQ(PlaceOnAxes({}, planned, 1), planned);
}

TEST(mrope, KernelsOfOneAxisAreNotAsked) {
  posgauge_kernel kernel = *FaultyKernel("honest.rotate.f32").kernel;
  kernel.inputs = "x:f32 positions:i64,f64";
  const Scheme scheme = ParseScheme("mrope", {});
  EXPECT_EQ(KernelInfo(kernel).WhyNot(scheme), "takes positions of one axis: it has no input axis");
  EXPECT_TRUE(KernelInfo(kernel).Serves(ParseScheme("rope", {})));
  kernel.schemes = "mrope";  // knows what it is asked
  EXPECT_TRUE(KernelInfo(kernel).Serves(scheme));
}

TEST(mrope, GoodKernelsKeepTheirContractsAndFaultyOnesDoNot) {
  const Scheme scheme = ParseScheme("mrope", {"head_dim=64", "section=[8,12,12]"});
  const CheckPlan plan{.positions = PlanPositions(200, 131071, {}, 1), .heads = 4};
  for (const std::string& name : GoodKernelsOf(scheme)) {
    const KernelCheck check = CheckKernels({Subject(AnyKernel(name), scheme)}, plan)[0];
    EXPECT_EQ(check.keeps_contract.outcome, Outcome::pass) << Line(check.keeps_contract);
  }
  for (const char* fault : {"first_axis", "axes_reversed", "neighbours_axis", "axis_series"}) {
    for (const char* form : {"rotate", "rotate_backward", "table"}) {
      const Subject subject(FaultyKernel(fmt::format("faulty.{}.{}.f32", fault, form)), scheme);
      const Verdict verdict = CheckKernels({subject}, plan)[0].keeps_contract;
      EXPECT_EQ(verdict.outcome, Outcome::fail) << Line(verdict);
      EXPECT_NE(verdict.first_failure->where.find(" on axis "), std::string::npos)
          << verdict.first_failure->where;
    }
  }
}

TEST(mrope, CaseFilesHoldEveryAxis) {
  const TemporaryFolder folder;
  const Scheme scheme = ParseScheme("mrope", {"head_dim=8", "section=[2,1,1]"});
  const std::vector<double> positions = {3, 5, 7, 0, -1, 0.5};
  Tensor x(Dtype::f32, {2, 1, 8});
  WriteCaseFile(folder / "good", {scheme, "rotate", positions, x, {}});
  const CaseFile read = ReadCaseFile(folder / "good");
  EXPECT_EQ(read.positions, positions);
  EXPECT_EQ(read.scheme, scheme);
  WriteCaseFile(folder / "flat", {ParseScheme("rope", {"head_dim=8"}), "table", positions, {}, {}});
  Safetensors flat = ReadSafetensors(folder / "flat");
  flat.metadata["posgauge_case"] =
      nlohmann::json{{"scheme", nlohmann::json(ToJson(scheme))}, {"quantity", "table"}}.dump();
  WriteSafetensors(folder / "flat", flat);
  try {
    ReadCaseFile(folder / "flat");
    ADD_FAILURE() << "a list of numbers was accepted";
  } catch (const FormatError& error) {
    EXPECT_EQ(error.what(), (folder / "flat").string() + ": needs a tensor positions [tokens, 3]");
  }
}

TEST(mrope, ReproIdsNameTheFarthestCoordinate) {
  const std::string text =
      "contract/fast.rotate.bf16/mrope,section=24:20:20,order=interleaved/p131071/h4/s1";
  const ReproId id = ReproId::Parse(text);
  EXPECT_EQ(id.scheme, ParseScheme("mrope", {"section=[24,20,20]", "order=interleaved"}));
  EXPECT_EQ(id.Text(), text);
  EXPECT_EQ(id.Positions(), std::vector<double>{131071});
}

TEST(mrope, PlansListEveryTokensAxes) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& positions) -> std::string {
    WriteFileAtomically(
        folder / "mrope.json",
        R"({"scheme": "mrope", "manifests": [{"name": "a", "comment": "", "parameters": {}, "cases":
            [{"id": "a", "quantity": "table", "comment": "", "flags": ["Known"], "positions": )" +
            positions + "}]}]}");
    try {
      golden::ReadPlan(folder / "mrope.json", folder.path(), {{"Known", {"none", "x", {}}}});
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal("[[1, 2, 3], [0, 0, 0.5]]"), "accepted");
  EXPECT_NE(refusal("[[1, 2]]").find("must be 3 numbers, one an axis, got 2"), std::string::npos)
      << refusal("[[1, 2]]");
  EXPECT_NE(refusal("[1, 2, 3]").find("must be a list"), std::string::npos) << refusal("[1, 2, 3]");
}

TEST(mrope, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(mrope::AnyParams())); }

TEST(mrope, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*mrope::AnyParams()).Validate(); }));
}

TEST(mrope, PlannedVectorsAreProven) {
  const std::string golden = POSGAUGE_SOURCE_DIR "/golden";
  for (auto& planned : golden::ReadPlan(golden + "/mrope.json", golden + "/models",
                                        golden::ReadNotes(golden + "/flags.json"))) {
    golden::Compute(planned.manifest);
    for (const auto& golden_case : planned.manifest.cases) {
      for (const auto& [output, roundings] : golden_case.outputs) {
        for (const auto& [dtype, rounding] : roundings) EXPECT_EQ(rounding.proof.undecided, 0);
      }
    }
  }
}

}  // namespace
}  // namespace posgauge
