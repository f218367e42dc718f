// Small inputs with their right answers from public issue and pull-request threads, each with its
// source. The wrong value that the thread reports is refuted where it can be told apart. Not here:
// records of schemes that posgauge does not have, of indices and configs, and the device-dependent
// errors of https://github.com/kekzl/imp/pull/1325.
#include <cmath>

#include <gtest/gtest.h>

#include "decimal_text.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/reference/yarn.h"
#include "posgauge/verify/pipeline.h"

namespace posgauge {
namespace {

RoundedTable TableAt(const Scheme& scheme, double position, Dtype dtype) {
  return ExactRotation(scheme).Table(std::span(&position, 1), dtype);
}

std::vector<double> Rotated(const Scheme& scheme, double position, const std::vector<double>& x,
                            Dtype dtype = Dtype::f64) {
  return ExactRotation(scheme).Rotate(std::span(&position, 1), x, 1, dtype).values;
}

std::vector<double> Frequencies(const std::string& name, const std::vector<std::string>& settings) {
  return ExactRotation(ParseScheme(name, settings)).Frequencies(Dtype::f64).values;
}

// `value` with as many significant digits as `printed`, rounded.
std::string Printed(double value, int significant) {
  return fmt::format("{:.{}g}", value, significant);
}

// https://github.com/EleutherAI/gpt-neox/pull/1016
TEST(public_values, GptNeox1016Bf16PositionsMerge256And257) {
  const Scheme scheme = ParseScheme("rope", {});
  const Pipeline bf16(Contract::Parse("position=bf16 frequency=exact angle=exact", Dtype::f32),
                      scheme);
  const std::vector<double> positions = {256, 257};
  const std::vector<double> errors = bf16.AngleErrors(positions);
  EXPECT_EQ(errors[0], 0);
  EXPECT_EQ(errors[64], 1);  // 257 is taken for 256
  EXPECT_NE(TableAt(scheme, 256, Dtype::f64).cos.values[0],
            TableAt(scheme, 257, Dtype::f64).cos.values[0]);
}

// https://github.com/huggingface/candle/pull/3520, whose own numbers (-0.547, neighbour 15968) do
// not hold: bf16 is spaced by 64 there.
TEST(public_values, Candle3520PositionInBf16) {
  const Scheme scheme = ParseScheme("rope", {});
  EXPECT_EQ(Printed(TableAt(scheme, 15962, Dtype::f64).cos.values[0], 9), "-0.908015901");
  EXPECT_EQ(RoundTo(FormatOf(Dtype::bf16), 15962), 15936);
  EXPECT_EQ(Printed(TableAt(scheme, 15936, Dtype::f64).cos.values[0], 9), "-0.267950071");
}

// https://github.com/huggingface/transformers/issues/25681
TEST(public_values, Transformers25681CosineOfAnAngleInThreeFormats) {
  const Scheme scheme = ParseScheme("rope", {});
  EXPECT_EQ(Printed(TableAt(scheme, 0.1032, Dtype::f32).cos.values[0], 7), "0.9946796");
  EXPECT_EQ(Printed(TableAt(scheme, 0.1032, Dtype::f16).cos.values[0], 8), "0.99462891");
  EXPECT_EQ(TableAt(scheme, 0.1032, Dtype::bf16).cos.values[0], 0.99609375);
}

// https://github.com/sgl-project/sglang/pull/33558
TEST(public_values, Sglang33558MagnitudeIsAppliedOnce) {
  const Scheme scheme = ParseScheme("yarn", {"factor=128", "head_dim=2"});
  const std::vector<double> y = Rotated(scheme, 0, {1, 0});
  EXPECT_EQ(fmt::format("{:.7f}", y[0]), "1.4852030");
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(fmt::format("{:.7f}", y[0] * y[0]), "2.2058280");  // the thread's wrong value
}

// https://github.com/youssofal/MTPLX/pull/394
TEST(public_values, Mtplx394MscaleWithoutAllDim) {
  for (const std::string rule : {"huggingface", "deepseek"}) {
    const ExactRotation exact(ParseScheme("yarn", {"factor=128", "mscale=1", "magnitude=" + rule}));
    EXPECT_EQ(fmt::format("{:.7f}", exact.Magnitude(Dtype::f64).values[0]), "1.4852030");
  }
}

// https://github.com/kekzl/imp/pull/880 and https://github.com/onnxruntime/mobius/pull/548
TEST(public_values, Imp880AndMobius548EqualMscalesCancel) {
  const auto softmax = [](const std::string& mscale) {
    const ExactRotation exact(ParseScheme(
        "yarn",
        {"factor=40", "magnitude=deepseek", "mscale=" + mscale, "mscale_all_dim=" + mscale}));
    EXPECT_TRUE(exact.IsPure());
    return fmt::format("{:.7f}", exact.SoftmaxMultiplier(Dtype::f64).values[0]);
  };
  EXPECT_EQ(softmax("0.707"), "1.5896262");
  EXPECT_EQ(softmax("1"), "1.8738542");
  // imp's factor inside the engine undoes 1 + 0.1 ln 40; the wrong magnitude is that of 0.707
  // alone.
  const ExactRotation plain(ParseScheme("yarn", {"factor=40"}));
  EXPECT_EQ(fmt::format("{:.4f}", 1 / plain.Magnitude(Dtype::f64).values[0]), "0.7305");
  const ExactRotation half(
      ParseScheme("yarn", {"factor=40", "magnitude=deepseek", "mscale=0.707"}));
  EXPECT_EQ(fmt::format("{:.7f}", half.Magnitude(Dtype::f64).values[0]), "1.2608038");
}

// https://github.com/keras-team/keras-hub/pull/2981: the upper clamp is d - 1, not d/2 - 1.
TEST(public_values, KerasHub2981UpperClamp) {
  struct Case {
    int64_t dim, length;
    std::string raw;
    double high, wrong;
  };
  const std::vector<Case> cases = {{64, 131072, "34.55464", 35, 31},
                                   {128, 131072, "69.10928", 70, 63},
                                   {64, 4096, "22.51344", 23, 23}};
  for (const Case& c : cases) {
    const yarn::Params params{.rotary = {.head_dim = c.dim, .rotary_dim = c.dim},
                              .original_length = c.length};
    using I = Interval<38>;
    EXPECT_EQ(fmt::format("{:.5f}", yarn::PairOfTurns<I>(params, 1).lo().convert_to<double>()),
              c.raw);
    const double high = yarn::RampOf<I>(params).high.lo().convert_to<double>();
    EXPECT_EQ(high, c.high);
    EXPECT_EQ(high == c.wrong, c.length == 4096);  // the control
  }
}

// https://github.com/apache/tvm/pull/18576: where a pair is interpolated its frequency is divided.
TEST(public_values, Tvm18576InterpolatedPairsAreDivided) {
  const std::vector<double> scaled = Frequencies("yarn", {"factor=32"});
  const std::vector<double> plain = Frequencies("rope", {});
  EXPECT_EQ(scaled[0], plain[0]);
  EXPECT_EQ(scaled[63] / plain[63], 0.03125);
}

// https://github.com/vllm-project/vllm/issues/41236
TEST(public_values, Vllm41236DynamicNtkAtTheTrainedLengthChangesNothing) {
  const auto at = [](int64_t length) {
    return Frequencies("ntk", {"form=dynamic", "factor=2", "trained_length=2048",
                               fmt::format("length={}", length)});
  };
  EXPECT_EQ(at(2048), Frequencies("rope", {}));
  // The wrong alpha, 3, is that of twice the length.
  EXPECT_EQ(at(4096), Frequencies("ntk", {"factor=3"}));
}

// https://github.com/onnxruntime/mobius/pull/293 (base and d assumed) and
// https://github.com/turboderp/exllama/issues/126: the base that the frequencies are powers of.
TEST(public_values, Mobius293AndExllama126BaseOfNtk) {
  const auto base = [](const std::string& factor) {
    const ExactRotation exact(ParseScheme("ntk", {"factor=" + factor}));
    const Real<38> frequency = Sum(exact.EncloseFrequencies().values[1]);
    return Digits(1 / pow(frequency, 64), 9);
  };
  EXPECT_EQ(base("1000"), "111588399");  // 11158839.9
  EXPECT_EQ(base("2"), "202212616");     // 20221.2617 to four places
}

// https://github.com/lablup/mlxcel/issues/1355 (d and base assumed)
TEST(public_values, Mlxcel1355BandsOfLlama3) {
  const std::vector<double> scaled = Frequencies("llama3", {}),
                            plain = Frequencies("rope", {"base=500000"});
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(scaled[i] == plain[i], i < 29) << i;
    EXPECT_EQ(scaled[i] * 8 == plain[i], i >= 35) << i;
  }
}

// https://github.com/ml-explore/mlx-examples/pull/907: at a wavelength of L/high the ratio is 1,
// not 1/factor. A wavelength is never exactly that (pi), so high is the pair's turns as a binary64
// number, within 2^-52 of them: sigma is 1 to within 2^-52 high/(high - low), and the ratio to
// within (1 - 1/factor) times that.
TEST(public_values, MlxExamples907UpperEdgeOfLlama3IsContinuous) {
  const double plain = Frequencies("rope", {"base=500000"})[20];
  const double turns = 8192 * plain / (2 * std::numbers::pi);
  const double at_edge =
      Frequencies("llama3", {fmt::format("high_frequency_factor={}", turns)})[20];
  EXPECT_LE(std::fabs(at_edge / plain - 1), 0x1p-50 * turns / (turns - 1));
}

// https://github.com/vllm-project/vllm-metal/pull/44
TEST(public_values, VllmMetal44PositionZeroIsTheIdentity) {
  const std::vector<double> x = {0, 1, 2, 3, 4, 5, 6, 7};
  for (const std::string pairing : {"interleaved", "half"}) {
    EXPECT_EQ(Rotated(ParseScheme("rope", {"head_dim=8", "pairing=" + pairing}), 0, x, Dtype::f32),
              x);
  }
}

// https://github.com/ohdearquant/lattice/pull/96
TEST(public_values, Lattice96HalfSplitPairsChannelsZeroAnd32) {
  std::vector<double> x(64, 0);
  x[0] = 1;
  const std::vector<double> y =
      Rotated(ParseScheme("rope", {"head_dim=64", "base=10000000"}), 5, x);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(y[i] != 0, i == 0 || i == 32) << i;
  EXPECT_EQ(Printed(y[0], 7), "0.2836622");
  EXPECT_EQ(Printed(y[32], 7), "-0.9589243");
}

// https://github.com/NVIDIA/TensorRT-LLM/pull/16378: rotated once, the angle is m f and the norm A;
// twice it would be 2 m f and A^2.
TEST(public_values, TensorRtLlm16378RotatedOnce) {
  const Scheme scheme = ParseScheme("yarn", {"factor=40", "head_dim=2"});
  const double m = 11;
  const std::vector<double> once = Rotated(scheme, m, {1, 0}), twice = Rotated(scheme, m, once);
  const double a = ExactRotation(scheme).Magnitude(Dtype::f64).values[0];
  // Two roundings of the pair, one of a: 3 u of the norm, and u of hypot.
  EXPECT_LE(std::fabs(std::hypot(once[0], once[1]) - a), 4 * 0x1p-53 * a);
  EXPECT_GT(std::hypot(twice[0], twice[1]), 1.3 * a);
  EXPECT_EQ(once[0], TableAt(scheme, m, Dtype::f64).cos.values[0]);
  EXPECT_EQ(once[1], TableAt(scheme, m, Dtype::f64).sin.values[0]);
}

// https://github.com/OpenMOSS/MOSS-TTS-Nano/issues/28,
// https://github.com/NovaSky-AI/SkyRL/issues/1709 (base inferred),
// https://github.com/huggingface/transformers/issues/45902 (r and base assumed)
TEST(public_values, FirstFrequenciesOfThreeModels) {
  const auto first = [](const std::string& dim, const std::string& base, int places) {
    std::string text;
    for (const double f : Frequencies("rope", {"head_dim=" + dim, "base=" + base})) {
      text += fmt::format("{:.{}f} ", f, places);
    }
    return text;
  };
  EXPECT_TRUE(first("64", "10000", 6).starts_with("1.000000 0.749894 0.562341 0.421697 0.316228 "));
  EXPECT_TRUE(
      first("128", "1000000", 7).starts_with("1.0000000 0.8058422 0.6493816 0.5232991 0.4216965 "));
  EXPECT_EQ(fmt::format("{:.9f}", Frequencies("rope", {"head_dim=64", "base=10000000"})[6]),
            "0.048696753");
}

// https://github.com/Blaizzy/mlx-vlm/pull/1709: position 2916 under factor 8 is 364.5.
TEST(public_values, MlxVlm1709LinearScalingPerLayer) {
  const Scheme global = ParseScheme("linear", {"factor=8"}), local = ParseScheme("rope", {});
  const auto cos = [](const Scheme& scheme, double position) {
    return TableAt(scheme, position, Dtype::f64).cos.values;
  };
  EXPECT_EQ(cos(global, 2916), cos(local, 364.5));
  EXPECT_NE(cos(global, 2916)[0], cos(local, 2916)[0]);
}

}  // namespace
}  // namespace posgauge
