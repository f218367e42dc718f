#include "posgauge/properties/axial.h"

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "law_checks.h"
#include "posgauge/fast/axial.h"
#include "posgauge/golden/generate.h"
#include "posgauge/golden/plan.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/frequency_error.h"
#include "posgauge/verify/plan.h"
#include "worked_values.h"

namespace posgauge {
namespace {

// FLUX.1, axes_dim [16, 56, 56]: 10000^(-2j/16) and 10000^(-2j/56), digits by mpmath, truncated.
TEST(axial, SeriesBeginAnewOnEveryAxis) {
  ExpectFrequencies("axial", {"head_dim=128", "section=[8,28,28]", "pairing=interleaved"},
                    {{0, "1"},
                     {1, "0.3162277660168379331998893"},
                     {7, "0.0003162277660168379331998893"},
                     {8, "1"},
                     {9, "0.7196856730011520199287864"},
                     {35, "0.0001389495494373137637129985"},
                     {36, "1"},
                     {63, "0.0001389495494373137637129985"}});
}

// Qwen2-VL's vision tower and Llama 4's: the exponent is over half of the head.
TEST(axial, TwoAxesHaveExponentsOverHalfOfTheHead) {
  ExpectFrequencies("axial", {"head_dim=80", "section=[20,20]"},
                    {{1, "0.6309573444801932494343601"}, {21, "0.6309573444801932494343601"}});
  ExpectFrequencies(
      "axial", {"head_dim=88", "section=[22,22]", "pairing=interleaved"},
      {{21, "0.0001519911082952933717104033"}, {43, "0.0001519911082952933717104033"}});
}

TEST(axial, AxesTakeTurnsInOneSeries) {
  const RoundedValues pixtral =
      ExactRotation(
          ParseScheme("axial", {"head_dim=64", "section=[16,16]", "frequency_index=alternating"}))
          .Frequencies(Dtype::f64);
  const RoundedValues rope =
      ExactRotation(ParseScheme("rope", {"head_dim=64"})).Frequencies(Dtype::f64);
  for (size_t j = 0; j < 16; ++j) {
    EXPECT_EQ(pixtral.values[j], rope.values[2 * j]);
    EXPECT_EQ(pixtral.values[16 + j], rope.values[2 * j + 1]);
  }
}

// Gemma 4's vision: the series of each axis' channels with base 100; digits by mpmath, truncated.
TEST(axial, Gemma4VisionHasBase100OverHalfOfTheHead) {
  ExpectFrequencies("axial",
                    {"head_dim=72", "section=[18,18]", "base=100", "pairing=half_per_axis"},
                    {{0, "1"},
                     {1, "0.774263682681127059726679451536"},
                     {17, "0.0129154966501488387541007554647"},
                     {18, "1"},
                     {31, "0.0359381366380462730218816722903"}});
}

// apply_multidimensional_rope of transformers' gemma4: rotate_half within each part of the head.
TEST(axial, HalvesPerAxisPairWithinTheAxisChannels) {
  const Rotary layout =
      RotaryOf(ParseScheme("axial", {"head_dim=20", "rotary_dim=16", "rotary_offset=3",
                                     "section=[3,0,5]", "pairing=half_per_axis"}));
  const std::vector<std::array<int64_t, 2>> expected = {{3, 6},   {4, 7},   {5, 8},   {9, 14},
                                                        {10, 15}, {11, 16}, {12, 17}, {13, 18}};
  for (size_t pair = 0; pair < expected.size(); ++pair) {
    EXPECT_EQ(layout.Channels(static_cast<int64_t>(pair)), expected[pair]) << pair;
  }
}

TEST(axial, HalvesPerAxisAreOfSchemesWithBlocks) {
  const std::string refusal =
      ".pairing half_per_axis is of axial, whose axes have blocks of channels: it must be half or "
      "interleaved";
  for (const char* name : {"rope", "mrope", "yarn", "xpos", "rerope"}) {
    EXPECT_EQ(RefusalOf(name, {"pairing=half_per_axis"}), name + refusal);
  }
}

TEST(axial, RefusesSectionsThatDoNotFit) {
  EXPECT_EQ(RefusalOf("axial", {"head_dim=128", "section=[8,28,27]"}),
            "axial.section must sum to 64 (rotary_dim/2), got 63 (8 + 28 + 27)");
  EXPECT_EQ(RefusalOf("axial", {"section=[64]"}),
            "axial.section must have 2..8 entries (pairs of each axis), got 1");
  EXPECT_EQ(RefusalOf("axial", {"section=[30,34]", "frequency_index=alternating"}),
            "axial.section must have equal entries where frequencies alternate, got 30, 34");
  EXPECT_EQ(RefusalOf("axial", {"section=[80,-16]"}),
            "axial.section[0] must be in 0..64 (rotary_dim/2), got 80");
}

// Each block is rope over its own channels: rows of two heads side by side.
void ExpectAHeadForEachAxis(const std::string& pairing, const std::string& of_heads) {
  const ExactRotation exact(ParseScheme("axial", {"head_dim=16", "section=[3,5]", pairing}));
  const ExactRotation first(ParseScheme("rope", {"head_dim=6", of_heads}));
  const ExactRotation second(ParseScheme("rope", {"head_dim=10", of_heads}));
  const std::vector<double> x = {1,    -0.5, 2,   0.25, 3,     -1.5,  0.75, 1.25,
                                 -2.5, 0.5,  1.5, -3,   0.125, 0.625, -1,   2.25};
  const std::vector<double> position = {1234, -0.75}, h = {1234}, w = {-0.75};
  for (bool backward : {false, true}) {
    const auto rotate = [&](const ExactRotation& rotation, const std::vector<double>& at,
                            std::span<const double> row) {
      return backward ? rotation.RotateBackward(at, row, 1, Dtype::f64).values
                      : rotation.Rotate(at, row, 1, Dtype::f64).values;
    };
    std::vector<double> want = rotate(first, h, std::span(x).first(6));
    const std::vector<double> rest = rotate(second, w, std::span(x).last(10));
    want.insert(want.end(), rest.begin(), rest.end());
    EXPECT_EQ(rotate(exact, position, x), want);
  }
}
TEST(axial, AHeadIsARopeForEachAxis) {
  ExpectAHeadForEachAxis("pairing=interleaved", "pairing=interleaved");
  ExpectAHeadForEachAxis("pairing=half_per_axis", "pairing=half");
}

// Our kernels against the same: bit for bit what they make of each axis alone.
TEST(axial, KernelsOfHalvesPerAxisAreThoseOfHalves) {
  const Scheme scheme = ParseScheme("axial", {"head_dim=26", "rotary_dim=22", "rotary_offset=2",
                                              "section=[4,7]", "pairing=half_per_axis"});
  for (const char* name : {"fast.rotate.f64", "fast.rotate_backward.f32", "fast.rotate.bf16.bf16",
                           "fast.rotate_positions.bf16", "fast.rotate_positions.f32"}) {
    const KernelInfo info = AnyKernel(name);
    const Subject subject(info, scheme);
    const std::vector<double> positions = {3, 5, 131071, 0, 0, 7, 12, 9};
    std::vector<double> values(4 * 3 * 26);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(i * 37 % 64) / 16 - 2;
    const Tensor x = Tensor::FromValues(info.io(), {4, 3, 26}, values);
    const Tensor out = subject.Rotate(positions, x);
    for (size_t axis : {0, 1}) {
      const size_t width = axis == 0 ? 8 : 14, begin = axis == 0 ? 2 : 10;
      const Subject alone(info, ParseScheme("rope", {fmt::format("head_dim={}", width)}));
      Tensor own(info.io(), {4, 3, static_cast<int64_t>(width)});
      for (size_t i = 0; i < own.size(); ++i) {
        own.SetBits(i, x.Bits(i / width * 26 + begin + i % width));
      }
      const std::vector<double> on_axis = {positions[axis], positions[2 + axis],
                                           positions[4 + axis], positions[6 + axis]};
      const Tensor want = alone.Rotate(on_axis, own);
      for (size_t i = 0; i < own.size(); ++i) {
        EXPECT_EQ(out.Bits(i / width * 26 + begin + i % width), want.Bits(i)) << name << " " << i;
      }
    }
    for (size_t head = 0; head < 12; ++head) {
      for (size_t channel : {0, 1, 24, 25}) {
        EXPECT_EQ(out.Bits(head * 26 + channel), x.Bits(head * 26 + channel)) << name;
      }
    }
  }
}

// fast/rotation.h: relative errors at most 2^-90; the enclosure adds its own radius.
TEST(axial, KernelFrequenciesAreAccurate) {
  for (const char* index : {"restarting", "alternating"}) {
    const Scheme scheme = ParseScheme(
        "axial", {"head_dim=96", "section=[16,16,16]", fmt::format("frequency_index={}", index)});
    const EnclosedValues exact = ExactRotation(scheme).EncloseFrequencies();
    const FastRotation fast = Frequencies(std::get<axial::Params>(scheme));
    ASSERT_EQ(fast.frequency.size(), exact.values.size());
    for (size_t i = 0; i < exact.values.size(); ++i) {
      const DoubleDouble a = fast.frequency[i], b = exact.values[i];
      EXPECT_LE(std::fabs((a.high - b.high) + (a.low - b.low)), (0x1p-90 + exact.radius) * b.high)
          << i;
    }
  }
}

// The first pair of every axis is a power of exponent 0: no error of the quotient.
TEST(axial, FrequencyErrorsRestartWithTheSeries) {
  const Scheme scheme = ParseScheme("axial", {"head_dim=128", "section=[8,28,28]"});
  const std::vector<double> frequencies = ExactRotation(scheme).Frequencies(Dtype::f64).values;
  for (const char* formula : {"pow", "exp", "recurrence"}) {
    const Contract contract =
        Contract::Parse(fmt::format("frequency=f32:{} store=f32:rne", formula), Dtype::f32);
    const std::vector<double> errors = FrequencyErrors(contract, scheme, frequencies);
    EXPECT_EQ(errors[8], errors[0]) << formula;
    EXPECT_EQ(errors[36], errors[0]) << formula;
    EXPECT_EQ(errors[36 + 27], errors[8 + 27]) << formula;
    // As rope over the axis' own channels.
    const Scheme rope = ParseScheme("rope", {"head_dim=56"});
    const std::vector<double> alone =
        FrequencyErrors(contract, rope, ExactRotation(rope).Frequencies(Dtype::f64).values);
    EXPECT_EQ(std::vector<double>(errors.begin() + 8, errors.begin() + 36), alone) << formula;
  }
}

TEST(axial, KernelsThatKnowNoHalvesPerAxisAreNotAsked) {
  posgauge_kernel kernel = *FaultyKernel("honest.rotate.f32").kernel;
  kernel.pairings = "half interleaved";
  const Scheme scheme = ParseScheme("axial", {"pairing=half_per_axis"});
  EXPECT_EQ(KernelInfo(kernel).WhyNot(scheme), "does not pair channels by half_per_axis");
  EXPECT_TRUE(KernelInfo(kernel).Serves(ParseScheme("axial", {})));
}

TEST(axial, HalvesAcrossTheHeadAreNotThoseOfTheAxes) {
  const Scheme scheme =
      ParseScheme("axial", {"head_dim=64", "section=[16,16]", "pairing=half_per_axis"});
  const CheckPlan plan{.positions = PlanPositions(50, 1023, {}, 1), .heads = 2};
  for (const std::string& name : GoodKernelsOf(scheme)) {
    const KernelCheck check = CheckKernels({Subject(AnyKernel(name), scheme)}, plan)[0];
    EXPECT_EQ(check.keeps_contract.outcome, Outcome::pass) << Line(check.keeps_contract);
  }
  const Subject across(FaultyKernel("faulty.pairing_swapped.rotate.f32"), scheme);
  EXPECT_EQ(CheckKernels({across}, plan)[0].keeps_contract.outcome, Outcome::fail);
}

TEST(axial, GoodKernelsKeepTheirContractsAndFaultyOnesDoNot) {
  const Scheme scheme = ParseScheme("axial", {"head_dim=64", "section=[8,8,16]"});
  const CheckPlan plan{.positions = PlanPositions(200, 131071, {}, 1), .heads = 4};
  for (const std::string& name : GoodKernelsOf(scheme)) {
    const KernelCheck check = CheckKernels({Subject(AnyKernel(name), scheme)}, plan)[0];
    EXPECT_EQ(check.keeps_contract.outcome, Outcome::pass) << Line(check.keeps_contract);
  }
  for (const char* fault : {"first_axis", "axes_reversed", "neighbours_axis", "axis_series"}) {
    const Subject subject(FaultyKernel(fmt::format("faulty.{}.rotate.f32", fault)), scheme);
    const Verdict verdict = CheckKernels({subject}, plan)[0].keeps_contract;
    EXPECT_EQ(verdict.outcome, Outcome::fail) << Line(verdict);
  }
}

TEST(axial, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(axial::AnyParams())); }

TEST(axial, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*axial::AnyParams()).Validate(); }));
}

TEST(axial, PlannedVectorsAreProven) {
  const std::string golden = POSGAUGE_SOURCE_DIR "/golden";
  for (auto& planned : golden::ReadPlan(golden + "/axial.json", golden + "/models",
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
