// What the published configs in golden/models mean.

#include "model_config_reading.h"
#include "posgauge/reference/exact_addition.h"
#include "posgauge/reference/exact_equations.h"

namespace posgauge::config_test {
namespace {

TEST(PublishedConfig, Llama2) {
  const ModelConfig model = Model("llama-2-7b");
  EXPECT_EQ(Only(model), Scheme(rope::Params{}));
  EXPECT_EQ(model.pairing_source, "model_type llama");
  EXPECT_EQ(model.num_attention_heads, 32);
  EXPECT_EQ(model.num_key_value_heads, 32);
  EXPECT_EQ(model.max_position, 4096);
  EXPECT_EQ(model.groups[0].kind, "all");
  EXPECT_EQ(model.groups[0].layers.size(), 32u);
  EXPECT_TRUE(HasNote(model, "rope_theta is not in the config: 10000"));
}

TEST(PublishedConfig, Llama31) {
  EXPECT_EQ(Only(Model("llama-3.1-8b")), Scheme(llama3::Params{.rotary = {.base = 500000},
                                                               .factor = 8,
                                                               .low_frequency_factor = 1,
                                                               .high_frequency_factor = 4,
                                                               .original_length = 8192}));
  EXPECT_TRUE(Model("llama-3.1-8b").notes.empty());
}

TEST(PublishedConfig, Mistral7B) {
  EXPECT_EQ(Only(Model("mistral-7b-v0.3")), Scheme(rope::Params{.rotary = {.base = 1e6}}));
}

TEST(PublishedConfig, Qwen3WidthIsHeadDimNotHiddenOverHeads) {
  EXPECT_EQ(Only(Model("qwen3-0.6b")), Scheme(rope::Params{.rotary = {.base = 1e6}}));
}

TEST(PublishedConfig, PythiaRotatesAQuarterOfTheHead) {
  EXPECT_EQ(Only(Model("pythia-12b")), Scheme(rope::Params{.rotary = {.rotary_dim = 32}}));
}

TEST(PublishedConfig, StableLmRotatesAQuarterOfTheHead) {
  EXPECT_EQ(Only(Model("stablelm-2-zephyr-1.6b")),
            Scheme(rope::Params{.rotary = {.head_dim = 64, .rotary_dim = 16}}));
}

TEST(PublishedConfig, GptJIsInterleavedWithItsOwnKeys) {
  const ModelConfig model = Model("gpt-j-6b");
  EXPECT_EQ(Only(model),
            Scheme(rope::Params{
                .rotary = {.head_dim = 256, .rotary_dim = 64, .pairing = Pairing::interleaved}}));
  EXPECT_EQ(model.max_position, 2048);
}

TEST(PublishedConfig, GptOssDoesNotTruncate) {
  const ModelConfig model = Model("gpt-oss-120b");
  EXPECT_EQ(Only(model),
            Scheme(yarn::Params{.rotary = {.head_dim = 64, .rotary_dim = 64, .base = 150000},
                                .factor = 32,
                                .original_length = 4096,
                                .truncate = false}));
  EXPECT_TRUE(HasNote(model, "MLX and ggml round"));
}

TEST(PublishedConfig, DeepSeekRotatesASuffixInterleaved) {
  const Rotary rotary{
      .head_dim = 192, .rotary_dim = 64, .rotary_offset = 128, .pairing = Pairing::interleaved};
  yarn::Params params{.rotary = rotary,
                      .factor = 40,
                      .original_length = 4096,
                      .magnitude = yarn::Magnitude::deepseek,
                      .mscale = 1,
                      .mscale_all_dim = 1};
  EXPECT_EQ(Only(Model("deepseek-v3")), Scheme(params));
  params.mscale = params.mscale_all_dim = 0.707;
  EXPECT_EQ(Only(Model("deepseek-v2-lite")), Scheme(params));
  EXPECT_TRUE(HasNote(Model("deepseek-v3"), "multi-head latent attention"));
}

TEST(PublishedConfig, KimiK2) {
  EXPECT_EQ(Only(Model("kimi-k2")), Scheme(yarn::Params{.rotary = {.head_dim = 192,
                                                                   .rotary_dim = 64,
                                                                   .rotary_offset = 128,
                                                                   .pairing = Pairing::interleaved,
                                                                   .base = 50000},
                                                        .factor = 32,
                                                        .original_length = 4096,
                                                        .beta_fast = 1,
                                                        .magnitude = yarn::Magnitude::deepseek,
                                                        .mscale = 1,
                                                        .mscale_all_dim = 1}));
}

TEST(PublishedConfig, InternLm25NeedsALength) {
  EXPECT_EQ(Only(Model("internlm2.5-7b", {.pairing = {}, .length = 65536})),
            Scheme(ntk::Params{.rotary = {.base = 1e6},
                               .form = ntk::Form::dynamic,
                               .factor = 2,
                               .trained_length = 32768,
                               .length = 65536}));
  EXPECT_THROW(Model("internlm2.5-7b"), ParameterError);
}

TEST(PublishedConfig, Llama2With32kIsLinear) {
  EXPECT_EQ(Only(Model("llama-2-7b-32k")), Scheme(linear::Params{.rotary = {}, .factor = 8}));
}

TEST(PublishedConfig, Gemma3LocalAndGlobalLayersDiffer) {
  for (const bool scaled : {false, true}) {
    const ModelConfig model = Model(scaled ? "gemma-3-27b" : "gemma-3-1b");
    ASSERT_EQ(model.groups.size(), 2u);
    const LayerGroup &global = model.groups[0], &local = model.groups[1];
    EXPECT_EQ(global.kind, "full_attention");
    EXPECT_EQ(local.kind, "sliding_attention");
    Rotary rotary{.base = 1e6};
    if (!scaled) rotary.head_dim = rotary.rotary_dim = 256;
    EXPECT_EQ(global.scheme, scaled ? Scheme(linear::Params{.rotary = rotary, .factor = 8})
                                    : Scheme(rope::Params{.rotary = rotary}));
    rotary.base = 10000;
    EXPECT_EQ(local.scheme, Scheme(rope::Params{.rotary = rotary}));
    for (int64_t layer : global.layers) EXPECT_EQ((layer + 1) % 6, 0);
    for (int64_t layer : local.layers) EXPECT_NE((layer + 1) % 6, 0);
    EXPECT_EQ(static_cast<int64_t>(global.layers.size() + local.layers.size()),
              *model.num_hidden_layers);
    EXPECT_EQ(model.max_position, scaled ? 131072 : 32768);
  }
}

TEST(PublishedConfig, Ministral3NewStyle) {
  const ModelConfig model = Model("ministral-3-3b");
  EXPECT_EQ(Only(model), Scheme(yarn::Params{.rotary = {.base = 1e6},
                                             .factor = 16,
                                             .original_length = 16384,
                                             .mscale = 1,
                                             .mscale_all_dim = 1}));
  EXPECT_TRUE(HasNote(model, "queries are also multiplied by 1 + 0.1 ln"));
  EXPECT_TRUE(HasNote(model, "only text_config is read"));
}

TEST(PublishedConfig, Llama4DoesNotRotateEveryFourthLayer) {
  const ModelConfig model = Model("llama-4-scout");
  EXPECT_EQ(Only(model),
            Scheme(llama3::Params{.rotary = {.pairing = Pairing::interleaved, .base = 500000},
                                  .factor = 16,
                                  .low_frequency_factor = 1,
                                  .high_frequency_factor = 1,
                                  .original_length = 8192}));
  EXPECT_EQ(model.groups[0].layers.size(), 36u);
  for (int64_t layer : model.groups[0].layers) EXPECT_NE((layer + 1) % 4, 0);
  ASSERT_EQ(model.unrotated.size(), 1u);
  EXPECT_EQ(model.unrotated[0].kind, "nope");
  EXPECT_EQ(model.unrotated[0].layers.size(), 12u);
  for (int64_t layer : model.unrotated[0].layers) EXPECT_EQ((layer + 1) % 4, 0);
  EXPECT_EQ(model.unrotated[0].scheme,
            Scheme(none::Params{.attention = {.heads = 40, .head_dim = 128},
                                .temperature_floor_scale = 8192,
                                .temperature_scale = 0.1}));
  EXPECT_TRUE(HasNote(model, "low_freq_factor equals high_freq_factor"));
}

TEST(PublishedConfig, HunyuanAlphaIsStatic) {
  const ModelConfig model = Model("hunyuan-a13b");
  EXPECT_EQ(Only(model), Scheme(ntk::Params{.rotary = {}, .factor = 1000}));
  EXPECT_TRUE(HasNote(model, "rope_scaling.alpha: static NTK"));
  EXPECT_TRUE(HasNote(model, "rope_scaling.factor has no effect"));
}

TEST(PublishedConfig, Phi4MiniHasAFactorForEveryPairOfThreeQuartersOfTheHead) {
  const ModelConfig model = Model("phi-4-mini", {.pairing = {}, .length = 4097});
  const auto& params = std::get<longrope::Params>(Only(model));
  EXPECT_EQ(params.rotary, (Rotary{.head_dim = 128, .rotary_dim = 96}));
  EXPECT_EQ(params.short_factor, std::vector<double>(48, 1));
  ASSERT_EQ(params.long_factor->size(), 48u);
  EXPECT_EQ(params.long_factor->front(), 1);
  EXPECT_EQ(params.long_factor->back(), 47.77);
  EXPECT_EQ(params.original_length, 4096);
  EXPECT_EQ(params.length, 4097);
  EXPECT_EQ(params.factor, 32);
  EXPECT_TRUE(HasNote(model, "beyond the original length 4096: the long factors"));
  EXPECT_THROW(Model("phi-4-mini"), ParameterError);
}

TEST(PublishedConfig, Gemma4TurnsAQuarterOfItsWiderGlobalHeads) {
  const ModelConfig model = Model("gemma-4-12b");
  ASSERT_EQ(model.groups.size(), 2u);
  const Rotary global{.head_dim = 512, .rotary_dim = 512, .base = 1e6};
  const Rotary local{.head_dim = 256, .rotary_dim = 256};
  EXPECT_EQ(model.groups[0].scheme,
            Scheme(proportional::Params{.rotary = global, .proportion = 0.25}));
  EXPECT_EQ(model.groups[0].layers.size(), 8u);
  for (int64_t layer : model.groups[0].layers) EXPECT_EQ((layer + 1) % 6, 0);
  EXPECT_EQ(model.groups[1].scheme, Scheme(rope::Params{.rotary = local}));
}

TEST(PublishedConfig, SmolLm3DoesNotRotateEveryFourthLayer) {
  const ModelConfig model = Model("smollm3-3b");
  EXPECT_EQ(Only(model), Scheme(rope::Params{.rotary = {.base = 5e6}}));
  EXPECT_EQ(model.groups[0].layers.size(), 27u);
  ASSERT_EQ(model.unrotated.size(), 1u);
  EXPECT_EQ(model.unrotated[0].layers, (std::vector<int64_t>{3, 7, 11, 15, 19, 23, 27, 31, 35}));
  EXPECT_FALSE(model.unrotated[0].scheme.has_value());
}

TEST(PublishedConfig, Qwen7BScalesByItsLength) {
  const ModelConfig model = Model("qwen-7b", {.pairing = {}, .length = 16384});
  EXPECT_EQ(Only(model),
            Scheme(ntk::Params{
                .rotary = {}, .form = ntk::Form::qwen, .trained_length = 8192, .length = 16384}));
  EXPECT_TRUE(HasNote(model, "use_logn_attn: queries beyond seq_length"));
}

// Of what a scheme is made from: frequencies, slopes, or nothing.
int64_t Undecided(const Scheme& scheme) {
  if (IsRotary(scheme)) return ExactRotation(scheme).Frequencies(Dtype::f64).counts.undecided;
  if (!HasEquations(scheme)) return ExactAddition(scheme).Frequencies(Dtype::f64).counts.undecided;
  const ExactEquations exact(scheme);
  if (!exact.Yields(EquationQuantity::slopes)) return 0;
  return exact.Evaluate(EquationQuantity::slopes, {}, Dtype::f64).counts.undecided;
}

TEST(PublishedConfig, EveryFileInTheFolderIsReadAndHasAProvenReference) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ModelPath("x").parent_path())) {
    if (entry.path().extension() != ".json") continue;
    ++count;
    // Where no frequency depends on the length it has no effect.
    const ConfigOverrides overrides{.pairing = {}, .length = 65536};
    for (const LayerGroup& group : ReadModelConfig(entry.path(), overrides).groups) {
      EXPECT_EQ(Undecided(group.scheme), 0) << entry.path();
    }
  }
  EXPECT_GE(count, 34);
}

}  // namespace
}  // namespace posgauge::config_test
