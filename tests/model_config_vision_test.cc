// Configs of vision models and the vision parts of multimodal ones.

#include "model_config_reading.h"

namespace posgauge::config_test {
namespace {

json Patches(const std::string& model_type, int64_t image, int64_t patch) {
  return {{"model_type", model_type}, {"hidden_size", 768},  {"num_attention_heads", 12},
          {"num_hidden_layers", 12},  {"image_size", image}, {"patch_size", patch}};
}

TEST(VisionConfig, TablesHaveARowAPatchAfterThoseOfThePrefix) {
  const auto rows = [](const std::string& model_type) {
    return std::get<learned::Params>(Only(Read(Patches(model_type, 224, 16).dump()))).rows;
  };
  EXPECT_EQ(rows("siglip_vision_model"), 196);
  EXPECT_EQ(rows("vit"), 197);
  EXPECT_EQ(rows("clip_vision_model"), 197);
  EXPECT_EQ(rows("deit"), 198);
}

TEST(VisionConfig, Dinov2ResamplesItsTable) {
  resampled::Params params{.grid_h = 37, .grid_w = 37, .target_h = 37, .target_w = 37};
  EXPECT_EQ(Only(Read(Patches("dinov2", 518, 14).dump())), Scheme(params));
  params.cubic = -0.5;
  params.antialias = true;
  const ModelConfig model = Read(Patches("dinov2_with_registers", 518, 14).dump());
  EXPECT_EQ(Only(model), Scheme(params));
  EXPECT_TRUE(HasNote(model, "--set target_h=N"));
}

TEST(VisionConfig, MaeAddsWavesInEncoderAndDecoder) {
  json config = Patches("vit_mae", 224, 16);
  config["decoder_hidden_size"] = 256;
  const ModelConfig model = Read(config.dump());
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_EQ(model.groups[0].scheme, Scheme(sincos2d::Params{.prefix = 1}));
  EXPECT_EQ(model.groups[1].scheme, Scheme(sincos2d::Params{.width = 256, .prefix = 1}));
  EXPECT_FALSE(HasNote(model, "decoder_hidden_size"));
  config.erase("decoder_hidden_size");
  const ModelConfig silent = Read(config.dump());
  EXPECT_EQ(silent.groups.at(1).scheme, Scheme(sincos2d::Params{.width = 512, .prefix = 1}));
  EXPECT_TRUE(HasNote(silent,
                      "decoder_hidden_size is not in the config: 512 is what model_type vit_mae "
                      "fills in"));
}

TEST(VisionConfig, AVisionPartIsAGroupOfItsOwn) {
  const json text = {{"model_type", "clip_text_model"},
                     {"hidden_size", 512},
                     {"max_position_embeddings", 77},
                     {"num_attention_heads", 8}};
  const json clip = {{"model_type", "clip"},
                     {"text_config", text},
                     {"vision_config", Patches("clip_vision_model", 224, 32)}};
  const ModelConfig model = Read(clip.dump());
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_EQ(model.groups[0].scheme, Scheme(learned::Params{.width = 512, .rows = 77}));
  EXPECT_EQ(model.groups[1].kind, "vision");
  EXPECT_EQ(model.groups[1].scheme, Scheme(learned::Params{.width = 768, .rows = 50}));
  EXPECT_EQ(model.num_attention_heads, 8);
}

json Tower(const std::string& model_type) {
  return {{"model_type", model_type}, {"hidden_size", 1280}, {"num_heads", 16}, {"depth", 2}};
}

TEST(VisionConfig, TowersOfQwenHaveRowsFirst) {
  const ModelConfig model = Read(Tower("qwen2_5_vl").dump());
  EXPECT_EQ(
      Only(model),
      Scheme(axial::Params{.rotary = {.head_dim = 80, .rotary_dim = 80, .section = {20, 20}}}));
  EXPECT_EQ(model.groups[0].layers, (std::vector<int64_t>{0, 1}));
  json third = Tower("qwen3_vl");
  third["num_position_embeddings"] = 2304;
  EXPECT_EQ(Read(third.dump()).groups.at(1).scheme,
            Scheme(resampled::Params{.width = 1280,
                                     .grid_h = 48,
                                     .grid_w = 48,
                                     .target_h = 48,
                                     .target_w = 48,
                                     .prefix = 0,
                                     .filter = resampled::Filter::bilinear,
                                     .align_corners = true}));
  third["num_position_embeddings"] = 2305;
  EXPECT_EQ(Refusal(third.dump()),
            "config.json: num_position_embeddings must be a square, got 2305");
  json odd = Tower("qwen2_5_vl");
  odd["hidden_size"] = 1296;
  EXPECT_EQ(Refusal(odd.dump()),
            "config.json: hidden_size must be a multiple of 4 times num_heads 16, got 1296");
}

TEST(VisionConfig, ATableThatIsResampledAsksForTheImagesGrid) {
  const std::string asks =
      "the table is resampled to the image's grid, which no config holds: give --set target_h=N "
      "--set target_w=N";
  json qwen = Tower("qwen3_vl");
  qwen["num_position_embeddings"] = 2304;
  json glm = Tower("glm4v");
  glm.update({{"image_size", 336}, {"patch_size", 14}});
  for (const json& config : {qwen, glm, Patches("dinov2", 518, 14)}) {
    EXPECT_TRUE(HasNote(Read(config.dump()), asks)) << config["model_type"];
  }
}

// As of the part about text.
TEST(VisionConfig, TheBaseOfATowerIsFilledInAloudAndNeverAGuess) {
  for (const std::string model_type : {"llama4_vision_model", "pixtral"}) {
    SCOPED_TRACE(model_type);
    const auto with = [&](const json& changes) {
      json config = Patches(model_type, 336, 14);
      config.update(changes);
      return config.dump();
    };
    const auto base = [&](const json& changes) {
      return std::get<axial::Params>(Read(with(changes)).groups.at(0).scheme).rotary.base;
    };
    const std::string filled_in =
        "rope_theta is not in the config: 10000 is what model_type " + model_type + " fills in";
    EXPECT_EQ(base(json::object()), 10000);
    EXPECT_TRUE(HasNote(Read(with(json::object())), filled_in));
    EXPECT_EQ(base({{"rope_theta", 500}}), 500);
    EXPECT_FALSE(HasNote(Read(with({{"rope_theta", 500}})), "fills in"));
    const auto block = [](const json& value) { return json{{"rope_parameters", value}}; };
    EXPECT_EQ(base(block({{"rope_type", "default"}, {"rope_theta", 500}})), 500);
    json both = block({{"rope_theta", 500}, {"partial_rotary_factor", 1}});
    both["rope_theta"] = 500;
    EXPECT_EQ(base(both), 500);
    both["rope_theta"] = 1e4;
    EXPECT_EQ(Refusal(with(both)),
              "config.json: rope_parameters.rope_theta 500 and rope_theta 10000 disagree, and "
              "frameworks differ on which counts: keep one");
    EXPECT_EQ(Refusal(with(block({{"rope_type", "linear"}, {"factor", 2}}))),
              "config.json: rope_parameters.rope_type \"linear\" is not supported in a vision "
              "tower; supported: default");
    EXPECT_EQ(Refusal(with(block({{"rope_type", "default"}, {"factor", 2}}))),
              "config.json: rope_parameters.factor is not understood for rope type 'default' and "
              "may change the rotation; it reads rope_theta");
    EXPECT_EQ(Refusal(with(block({{"partial_rotary_factor", 0.5}}))),
              "config.json: rope_parameters.partial_rotary_factor must be 1 in a vision tower, "
              "which turns whole heads, got 0.5");
    EXPECT_EQ(Refusal(with({{"rope_scaling", {{"type", "linear"}, {"factor", 2}}}})),
              "config.json: rope_scaling is not supported: a vision tower is not scaled");
  }
}

TEST(VisionConfig, Gemma4PairsHalvesOfTheChannelsOfEachAxis) {
  const auto with = [](const json& changes) {
    json config = Patches("gemma4_vision", 336, 16);
    config.update({{"head_dim", 64}, {"position_embedding_size", 10240}});
    config.update(changes);
    return config.dump();
  };
  const axial::Params params{.rotary = {.head_dim = 64,
                                        .rotary_dim = 64,
                                        .pairing = Pairing::half_per_axis,
                                        .base = 100,
                                        .section = {16, 16}}};
  const ModelConfig silent = Read(with(json::object()));
  EXPECT_EQ(Only(silent), Scheme(params));
  EXPECT_TRUE(HasNote(
      silent, "rope_theta is not in the config: 100 is what model_type gemma4_vision fills in"));
  EXPECT_TRUE(HasNote(silent, "positions are (column, row) of patches"));
  EXPECT_TRUE(HasNote(silent,
                      "position_embedding_size 10240: patches also get a learned row of their "
                      "column and one of their row, which is not read"));
  for (const char* word : {"default", "axial"}) {
    const json block = {{"rope_type", word}, {"rope_theta", 100}};
    EXPECT_EQ(Only(Read(with({{"rope_parameters", block}}))), Scheme(params));
  }
  EXPECT_EQ(Refusal(with({{"head_dim", 66}})),
            "config.json: head_dim must be a multiple of 4, got 66");
  EXPECT_EQ(Refusal(with({{"rope_parameters", {{"rope_type", "linear"}, {"factor", 2}}}})),
            "config.json: rope_parameters.rope_type \"linear\" is not supported in a vision "
            "tower; supported: default, axial");
}

TEST(VisionConfig, AxesOfFluxAreReadOrFilledIn) {
  json config = {{"_class_name", "FluxTransformer2DModel"}, {"attention_head_dim", 128}};
  axial::Params params{.rotary = {.pairing = Pairing::interleaved, .section = {8, 28, 28}}};
  EXPECT_EQ(Only(Read(config.dump())), Scheme(params));
  EXPECT_TRUE(HasNote(Read(config.dump()), "axes_dims_rope is not in the config: 16, 56, 56"));
  config["axes_dims_rope"] = {32, 48, 48};
  params.rotary.section = {16, 24, 24};
  EXPECT_EQ(Only(Read(config.dump())), Scheme(params));
  config["axes_dims_rope"] = {31, 49, 48};
  EXPECT_EQ(Refusal(config.dump()), "config.json: axes_dims_rope must be even numbers, got 31");
}

TEST(VisionConfig, OpenClipTellsOfBothPartsInWordsOfItsOwn) {
  json config = {{"text_cfg", {{"context_length", 77}, {"width", 512}}},
                 {"vision_cfg", {{"image_size", 224}, {"patch_size", 16}, {"width", 768}}}};
  const ModelConfig plain = Read(config.dump());
  ASSERT_EQ(plain.groups.size(), 2u);
  EXPECT_EQ(plain.groups[1].kind, "vision");
  EXPECT_EQ(plain.groups[1].scheme, Scheme(learned::Params{.width = 768, .rows = 197}));
  config["vision_cfg"].update(
      {{"rope", true}, {"head_width", 64}, {"intp_freq", true}, {"pt_hw_seq_len", 16}});
  config["vision_cfg"]["image_size"] = 336;
  const ModelConfig eva = Read(config.dump());
  ASSERT_EQ(eva.groups.size(), 3u);
  EXPECT_EQ(eva.groups[1].scheme, Scheme(axial::Params{.rotary = {.head_dim = 64,
                                                                  .rotary_dim = 64,
                                                                  .pairing = Pairing::interleaved,
                                                                  .section = {16, 16}}}));
  EXPECT_TRUE(HasNote(eva, "positions are (row, column) times 16/21"));
}

TEST(VisionConfig, WhatIsNotReadIsNotedAndTheTextIsRead) {
  const auto read = [](const json& vision) {
    return Read(json{{"text_config", Llama(json::object())}, {"vision_config", vision}}.dump());
  };
  const ModelConfig unknown = read({{"model_type", "beit"}});
  EXPECT_EQ(Only(unknown), Scheme(rope::Params{}));
  EXPECT_TRUE(HasNote(unknown, "vision_config is not read: its model_type \"beit\" is not known"));
  const ModelConfig incomplete = read({{"model_type", "siglip_vision_model"}});
  EXPECT_EQ(Only(incomplete), Scheme(rope::Params{}));
  EXPECT_TRUE(
      HasNote(incomplete, "vision_config is not read: vision_config.image_size is missing"));
}

TEST(VisionConfig, SizesThatMakeNoGridAreRefused) {
  const auto refusal = [](const json& image, const json& patch) {
    json config = Patches("vit", 224, 16);
    config["image_size"] = image;
    config["patch_size"] = patch;
    return Refusal(config.dump());
  };
  EXPECT_EQ(refusal({224, 224}, 16).substr(0, 7), "read as");
  EXPECT_EQ(refusal({224, 336}, 16),
            "config.json: image_size must be one number or two that are equal, got a list");
  EXPECT_EQ(refusal(8, 16), "config.json: image_size must be at least patch_size 16, got 8");
  EXPECT_EQ(refusal(0, 16), "config.json: image_size must be in 1..65536, got 0");
  EXPECT_EQ(refusal(224, "16"), "config.json: patch_size must be an integer, got \"16\"");
}

TEST(VisionConfig, StagesOfSwinHaveHeadsAndWindowsOfTheirOwn) {
  json config = {{"model_type", "swin"}, {"depths", {2, 1}}, {"num_heads", {3, 6}},
                 {"embed_dim", 96},      {"image_size", 40}, {"patch_size", 4},
                 {"window_size", 7}};
  const ModelConfig first = Read(config.dump());
  ASSERT_EQ(first.groups.size(), 2u);
  EXPECT_EQ(first.groups[0].layers, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(first.groups[0].scheme,
            Scheme(swin::Params{.attention = {.heads = 3, .head_dim = 32, .causal = false}}));
  EXPECT_EQ(first.groups[1].layers, (std::vector<int64_t>{2}));
  EXPECT_EQ(first.groups[1].scheme,
            Scheme(swin::Params{.attention = {.heads = 6, .head_dim = 32, .causal = false},
                                .window = {.h = 5, .w = 5}}));
  config["use_absolute_embeddings"] = true;
  EXPECT_EQ(Read(config.dump()).groups.at(2).scheme,
            Scheme(learned::Params{.width = 96, .rows = 100}));
  json squares = config;
  squares["image_size"] = {40, 40};
  squares["patch_size"] = {4, 4};
  EXPECT_EQ(Refusal(squares.dump()), Refusal(config.dump()));
  squares["image_size"] = {40, 44};
  EXPECT_EQ(Refusal(squares.dump()),
            "config.json: image_size must be one number or two that are equal, got a list");
  config["model_type"] = "swinv2";
  config["pretrained_window_sizes"] = {12, 0};
  const swin2::Params second{
      .attention = {.heads = 3, .head_dim = 32, .causal = false, .scale = ScoreScale::one},
      .window = {.h = 7, .w = 7},
      .pretrained_h = 12,
      .pretrained_w = 12};
  EXPECT_EQ(Read(config.dump()).groups.at(0).scheme, Scheme(second));
  config["num_heads"] = {3};
  EXPECT_EQ(Refusal(config.dump()),
            "config.json: depths and num_heads must have as many entries, at most 8, got 2 and 1");
  config["num_heads"] = {5, 6};
  EXPECT_EQ(Refusal(config.dump()),
            "config.json: embed_dim makes a width of 96, which is no multiple of 5 heads");
}

TEST(VisionConfig, RelativeKeysOfBertAndOffsetsOfXlnet) {
  const json bert = {{"model_type", "bert"},
                     {"hidden_size", 768},
                     {"num_attention_heads", 12},
                     {"max_position_embeddings", 512},
                     {"position_embedding_type", "relative_key"}};
  EXPECT_EQ(Only(Read(bert.dump())),
            Scheme(shaw::Params{.attention = {.heads = 12, .head_dim = 64, .causal = false},
                                .clip = 511,
                                .values = false,
                                .index = shaw::Index::query_minus_key}));
}

}  // namespace
}  // namespace posgauge::config_test
