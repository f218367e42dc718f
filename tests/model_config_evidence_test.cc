// Small inputs from public threads about configs that were misread; the URL stands at each.
#include <array>
#include <cmath>

#include "model_config_reading.h"

namespace posgauge::config_test {
namespace {

// A value printed to as many digits as the thread gives.
std::string Printed(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

// https://github.com/sgl-project/sglang/pull/33558: the attention factor is applied once.
TEST(ConfigEvidence, AttentionFactorIsTheMagnitude) {
  EXPECT_EQ(
      Printed(MagnitudeOf(ReadLlama(Yarn({{"factor", 128}, {"attention_factor", 1.485203}}))), 6),
      "1.485203");
  EXPECT_EQ(Printed(MagnitudeOf(ReadLlama(Yarn({{"factor", 128}}))), 7), "1.4852030");
}

// https://github.com/youssofal/MTPLX/pull/394: mscale without mscale_all_dim.
TEST(ConfigEvidence, MscaleAlone) {
  const ModelConfig model = ReadLlama(Yarn({{"factor", 128}, {"mscale", 1.0}}));
  EXPECT_EQ(Printed(MagnitudeOf(model), 7), "1.4852030");
  EXPECT_TRUE(HasNote(model, "only one of mscale and mscale_all_dim"));
}

// https://github.com/kekzl/imp/pull/880: equal mscales cancel on cos and sin.
// https://github.com/onnxruntime/mobius/pull/548: and multiply the softmax.
TEST(ConfigEvidence, EqualMscalesOfDeepSeek) {
  const ModelConfig lite = Model("deepseek-v2-lite"), v3 = Model("deepseek-v3");
  EXPECT_EQ(MagnitudeOf(lite), 1);
  EXPECT_EQ(Printed(SoftmaxOf(lite), 7), "1.5896262");
  EXPECT_EQ(MagnitudeOf(v3), 1);
  EXPECT_EQ(Printed(SoftmaxOf(v3), 7), "1.8738542");
}

// https://github.com/vllm-project/vllm/issues/41236: at the trained length nothing is scaled.
TEST(ConfigEvidence, DynamicAtTheTrainedLength) {
  const json changes = {{"max_position_embeddings", 2048},
                        {"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}}};
  const auto read = [&](int64_t length) {
    return FrequenciesOf(Only(ReadLlama(changes, {.pairing = {}, .length = length})));
  };
  EXPECT_EQ(read(2048), FrequenciesOf(rope::Params{}));
  EXPECT_NE(read(2049), FrequenciesOf(rope::Params{}));
}

// The base that NTK scaling grows to, from the second frequency: b' = frequency_1^(-d/2).
double GrownBase(double alpha) {
  const json block = {{"type", "dynamic"}, {"alpha", alpha}, {"factor", 1.0}};
  return std::pow(FrequenciesOf(Only(ReadLlama({{"rope_scaling", block}})))[1], -64);
}

// https://github.com/onnxruntime/mobius/pull/293: alpha, not factor.
TEST(ConfigEvidence, AlphaGrowsTheBase) { EXPECT_EQ(Printed(GrownBase(1000), 1), "11158839.9"); }

// https://github.com/turboderp/exllama/issues/126: with the exponent d/(d-2).
TEST(ConfigEvidence, AlphaOfTwo) { EXPECT_EQ(Printed(GrownBase(2), 4), "20221.2617"); }

// https://github.com/lablup/mlxcel/issues/1355: the block must reach the frequencies.
TEST(ConfigEvidence, Llama31Bands) {
  const std::vector<double> scaled = FrequenciesOf(Only(Model("llama-3.1-8b")));
  const std::vector<double> plain = FrequenciesOf(rope::Params{.rotary = {.base = 500000}});
  for (size_t i = 0; i < 64; ++i) {
    if (i < 29) {
      EXPECT_EQ(scaled[i], plain[i]) << i;
    } else if (i < 35) {
      EXPECT_LT(scaled[i], plain[i]) << i;
      EXPECT_GT(scaled[i], plain[i] / 8) << i;
    } else {
      EXPECT_EQ(scaled[i], plain[i] / 8) << i;
    }
  }
}

// https://github.com/jagmarques/nexusquant/pull/12: proportional is not a prefix. 64 pairs turn,
// with partner i + 256, by 1e6^(-2i/512).
TEST(ConfigEvidence, ProportionalIsNotReadAsPartial) {
  const Scheme scheme = Only(ReadLlama(
      {{"rope_parameters",
        {{"rope_type", "proportional"}, {"partial_rotary_factor", 0.25}, {"rope_theta", 1e6}}},
       {"rope_theta", nullptr},
       {"head_dim", 512}}));
  EXPECT_EQ(RotaryOf(scheme).Channels(63), (std::array<int64_t, 2>{63, 63 + 256}));
  const std::vector<double> frequencies = FrequenciesOf(scheme);
  const std::vector<double> plain =
      FrequenciesOf(rope::Params{.rotary = {.head_dim = 512, .rotary_dim = 512, .base = 1e6}});
  ASSERT_EQ(frequencies.size(), 256u);
  for (size_t i = 0; i < 256; ++i) EXPECT_EQ(frequencies[i], i < 64 ? plain[i] : 0) << i;
}

// https://github.com/apple/coreai-models/pull/246: 131072 over 4096 has the magnitude 1.1902381.
// https://github.com/unslothai/unsloth/pull/10681: lengths 4095, 4096, 4097 are short, short, long.
TEST(ConfigEvidence, LongRopeIsNotDroppedAndSwitchesBeyondTheOriginalLength) {
  for (const std::string type : {"longrope", "su"}) {
    const json changes = {
        {"head_dim", 4},
        {"max_position_embeddings", 131072},
        {"original_max_position_embeddings", 4096},
        {"rope_scaling", {{"type", type}, {"short_factor", {1, 1.5}}, {"long_factor", {2, 64}}}}};
    for (const int64_t length : {4095, 4096, 4097}) {
      const ModelConfig model = ReadLlama(changes, {.pairing = {}, .length = length});
      EXPECT_EQ(Printed(MagnitudeOf(model), 7), "1.1902381");
      EXPECT_EQ(FrequenciesOf(Only(model))[0], length <= 4096 ? 1 : 0.5) << length;
      EXPECT_TRUE(HasNote(model, length <= 4096 ? "the short factors" : "the long factors"));
    }
  }
}

// https://github.com/NovaSky-AI/SkyRL/issues/1709,
// https://github.com/OpenMOSS/MOSS-TTS-Nano/issues/28
TEST(ConfigEvidence, PlainFrequencies) {
  const std::vector<double> narrow = FrequenciesOf(Only(ReadLlama({{"head_dim", 64}})));
  const std::vector<double> wide = FrequenciesOf(Only(ReadLlama({{"rope_theta", 1e6}})));
  const std::array narrow_printed = {"1.000000", "0.749894", "0.562341", "0.421697", "0.316228"};
  const std::array wide_printed = {"1.0000000", "0.8058422", "0.6493816", "0.5232991", "0.4216965"};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(Printed(narrow[i], 6), narrow_printed[i]);
    EXPECT_EQ(Printed(wide[i], 7), wide_printed[i]);
  }
}

// https://github.com/huggingface/transformers/issues/45902: the partial factor in the new block.
TEST(ConfigEvidence, PartialFactorInTheBlock) {
  const Scheme scheme = Only(ReadLlama(
      {{"head_dim", 256},
       {"rope_theta", nullptr},
       {"rope_parameters",
        {{"rope_type", "default"}, {"rope_theta", 1e7}, {"partial_rotary_factor", 0.25}}}}));
  EXPECT_EQ(RotaryOf(scheme).rotary_dim, 64);
  EXPECT_EQ(Printed(FrequenciesOf(scheme)[6], 9), "0.048696753");
}

// https://github.com/Blaizzy/mlx-vlm/pull/1709: the linear factor is on global layers, and there.
TEST(ConfigEvidence, LinearOnGlobalLayersOnly) {
  const ModelConfig model = Model("gemma-3-27b");
  EXPECT_EQ(2916 * FrequenciesOf(model.groups.at(0).scheme)[0], 364.5);
  EXPECT_EQ(2916 * FrequenciesOf(model.groups.at(1).scheme)[0], 2916);
}

}  // namespace
}  // namespace posgauge::config_test
