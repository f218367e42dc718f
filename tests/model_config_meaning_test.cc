// What the keys of a config mean, alone and together.

#include "model_config_reading.h"

namespace posgauge::config_test {
namespace {

TEST(ModelConfig, NoBlockNullBlockAndDefaultBlocksAreUnscaled) {
  const std::vector<json> changes = {
      json::object(),
      {{"rope_scaling", nullptr}},
      {{"rope_scaling", json::object()}},
      {{"rope_scaling", {{"type", "default"}}}},
      {{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 10000.0}}}},
      {{"rope_parameters", {{"rope_theta", 10000}}}},
      {{"rope_parameters", {{"rope_type", "default"}}}, {"rope_scaling", {{"type", "default"}}}},
  };
  for (const json& change : changes) {
    EXPECT_EQ(Only(ReadLlama(change)), Scheme(rope::Params{})) << change;
  }
}

TEST(ModelConfig, NestedBlocksAreReadPerLayerKind) {
  const ModelConfig model = Read(R"({"model_type": "gemma3_text", "head_dim": 128,
      "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
      "rope_parameters": {
        "full_attention": {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0,
                           "original_max_position_embeddings": 8192, "truncate": false},
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000}}})");
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_EQ(model.groups[0].kind, "full_attention");
  EXPECT_EQ(model.groups[0].layers, (std::vector<int64_t>{2}));
  EXPECT_EQ(model.groups[0].scheme,
            Scheme(yarn::Params{
                .rotary = {.base = 1e6}, .factor = 4, .original_length = 8192, .truncate = false}));
  EXPECT_EQ(model.groups[1].layers, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(model.groups[1].scheme, Scheme(rope::Params{}));
  EXPECT_EQ(model.num_hidden_layers, 3);
  EXPECT_TRUE(HasNote(model, "truncate in a block of one layer kind"));
}

TEST(ModelConfig, NestedWithoutLayerTypesLeavesLayersOpen) {
  const ModelConfig model = ReadLlama(
      {{"rope_parameters",
        {{"full_attention", {{"rope_type", "linear"}, {"rope_theta", 1e6}, {"factor", 2}}},
         {"sliding_attention", {{"rope_theta", 1e4}}}}}});
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_TRUE(model.groups[0].layers.empty());
}

TEST(ModelConfig, TheNumberOfLayersHasOneListOfNames) {
  for (const char* key : {"num_hidden_layers", "n_layer", "n_layers", "num_layers"}) {
    json named = {{"num_hidden_layers", nullptr}};
    named[key] = 3;
    const ModelConfig model = ReadLlama(named);
    EXPECT_EQ(model.num_hidden_layers, 3) << key;
    EXPECT_EQ(model.groups.at(0).layers, (std::vector<int64_t>{0, 1, 2})) << key;
    json bloom = {{"model_type", "bloom"}, {"n_embed", 128}, {"n_head", 2}, {key, 3}};
    EXPECT_EQ(Read(bloom.dump()).num_hidden_layers, 3) << key;
    bloom[key] = 65537;
    EXPECT_EQ(Refusal(bloom.dump()),
              fmt::format("config.json: {} must be in 1..65536, got 65537", key));
    bloom[key] = {3, 3};
    EXPECT_EQ(Refusal(bloom.dump()),
              fmt::format("config.json: {} must be an integer, got a list", key));
  }
}

TEST(ModelConfig, ModernBertGlobalLayersComeFirst) {
  const ModelConfig model = Read(R"({"model_type": "modernbert", "hidden_size": 768,
      "num_attention_heads": 12, "num_hidden_layers": 22, "global_attn_every_n_layers": 3,
      "global_rope_theta": 160000.0, "local_rope_theta": 10000.0,
      "max_position_embeddings": 8192})");
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_EQ(model.groups[0].layers, (std::vector<int64_t>{0, 3, 6, 9, 12, 15, 18, 21}));
  EXPECT_EQ(RotaryOf(model.groups[0].scheme).base, 160000);
  EXPECT_EQ(RotaryOf(model.groups[1].scheme).base, 10000);
}

TEST(ModelConfig, NoRopeLayersHoldsOneForALayerThatRotates) {
  const json config = {{"model_type", "smollm3"},
                       {"hidden_size", 2048},
                       {"num_attention_heads", 16},
                       {"num_hidden_layers", 8}};
  json listed = config;
  listed["no_rope_layers"] = {1, 0, 1, 1, 1, 1, 1, 0};
  EXPECT_EQ(Read(config.dump()).groups[0].layers, (std::vector<int64_t>{0, 1, 2, 4, 5, 6}));
  EXPECT_EQ(Read(listed.dump()).groups[0].layers, (std::vector<int64_t>{0, 2, 3, 4, 5, 6}));
  const ModelConfig model = Read(listed.dump());
  ASSERT_EQ(model.unrotated.size(), 1u);
  EXPECT_EQ(model.unrotated[0].kind, "nope");
  EXPECT_EQ(model.unrotated[0].layers, (std::vector<int64_t>{1, 7}));
}

TEST(ModelConfig, CohereGlobalAndLinearAttentionLayersDoNotRotate) {
  const ModelConfig cohere = Read(R"({"model_type": "cohere2", "head_dim": 128,
      "num_hidden_layers": 8, "rope_theta": 50000, "sliding_window_pattern": 4})");
  EXPECT_EQ(cohere.groups.at(0).layers, (std::vector<int64_t>{0, 1, 2, 4, 5, 6}));
  ASSERT_EQ(cohere.unrotated.size(), 1u);
  EXPECT_EQ(cohere.unrotated[0].kind, "full_attention");
  EXPECT_EQ(cohere.unrotated[0].layers, (std::vector<int64_t>{3, 7}));
  const ModelConfig hybrid = ReadLlama(
      {{"layer_types", {"linear_attention", "conv", "full_attention", "linear_attention"}}});
  EXPECT_EQ(hybrid.groups.at(0).layers, (std::vector<int64_t>{2}));
  ASSERT_EQ(hybrid.unrotated.size(), 2u);
  EXPECT_EQ(hybrid.unrotated[0].kind, "linear_attention");
  EXPECT_EQ(hybrid.unrotated[0].layers, (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(hybrid.unrotated[1].kind, "conv");
}

TEST(ModelConfig, YarnKeysReachTheirParameters) {
  const ModelConfig model = ReadLlama(Yarn({{"beta_fast", 64},
                                            {"beta_slow", 2},
                                            {"truncate", false},
                                            {"attention_factor", 1.5},
                                            {"attn_factor", 1.25},
                                            {"extrapolation_factor", 0.5},
                                            {"mscale", 0.8},
                                            {"mscale_all_dim", 0.9},
                                            {"finetuned", true}}));
  EXPECT_EQ(Only(model), Scheme(yarn::Params{.rotary = {},
                                             .factor = 40,
                                             .original_length = 4096,
                                             .beta_fast = 64,
                                             .beta_slow = 2,
                                             .truncate = false,
                                             .extrapolation_factor = 0.5,
                                             .attention_multiplier = 1.25,
                                             .attention_factor = 1.5,
                                             .mscale = 0.8,
                                             .mscale_all_dim = 0.9}));
  EXPECT_TRUE(HasNote(model, "rope_scaling.finetuned has no effect"));
  EXPECT_TRUE(HasNote(model, "rope_scaling.attn_factor is read by vLLM and ggml"));
}

TEST(ModelConfig, YarnZeroBetaMeansTheDefault) {
  const ModelConfig model = ReadLlama(Yarn({{"beta_fast", 0}, {"beta_slow", 0}}));
  EXPECT_EQ(std::get<yarn::Params>(Only(model)).beta_fast, 32);
  EXPECT_EQ(std::get<yarn::Params>(Only(model)).beta_slow, 1);
  EXPECT_TRUE(HasNote(model, "rope_scaling.beta_fast is 0"));
}

TEST(ModelConfig, YarnNullFactorIsTheQuotientOfLengths) {
  json changes = Yarn({{"factor", nullptr}});
  changes["max_position_embeddings"] = 6144;
  EXPECT_EQ(std::get<yarn::Params>(Only(ReadLlama(changes))).factor, 1.5);
}

TEST(ModelConfig, YarnFactorThatDiffersFromTheQuotientIsNoted) {
  json changes = Yarn({{"factor", 4}});
  changes["max_position_embeddings"] = 4096;
  const ModelConfig model = ReadLlama(changes);
  EXPECT_EQ(std::get<yarn::Params>(Only(model)).factor, 4);
  EXPECT_TRUE(HasNote(model, "some releases of transformers use that quotient"));
}

TEST(ModelConfig, YarnWordsOfOtherFrameworks) {
  const auto magnitude = [](const std::string& word) {
    return std::get<yarn::Params>(Only(ReadLlama(Yarn({{"rope_type", word}})))).magnitude;
  };
  EXPECT_EQ(magnitude("yarn"), yarn::Magnitude::huggingface);
  EXPECT_EQ(magnitude("deepseek_yarn"), yarn::Magnitude::deepseek);
  EXPECT_EQ(magnitude("telechat3-yarn"), yarn::Magnitude::telechat3);
  EXPECT_EQ(MagnitudeOf(ReadLlama(Yarn({{"apply_yarn_scaling", false}}))), 1);
}

TEST(ModelConfig, NtkOfVllmIsFixedOrMixed) {
  json block = {{"type", "ntk"}, {"factor", 4}};
  EXPECT_EQ(Only(ReadLlama({{"rope_scaling", block}})),
            Scheme(ntk::Params{.rotary = {}, .form = ntk::Form::fixed, .factor = 4}));
  block["mixed_b"] = 0.625;
  EXPECT_EQ(Only(ReadLlama({{"rope_scaling", block}})),
            Scheme(ntk::Params{
                .rotary = {}, .form = ntk::Form::mixed, .factor = 4, .mixed_exponent = 0.625}));
}

TEST(ModelConfig, DynamicYarnTakesItsFactorFromTheLength) {
  json block = {
      {"type", "dynamic-yarn"}, {"factor", 4}, {"original_max_position_embeddings", 4096}};
  const auto read = [&](int64_t length) {
    return ReadLlama({{"rope_scaling", block}, {"max_position_embeddings", 16384}},
                     {.pairing = {}, .length = length});
  };
  const auto length_of = [](const ModelConfig& model) {
    return std::get<yarn::Params>(Only(model)).length;
  };
  EXPECT_EQ(Only(read(8192)),
            Scheme(yarn::Params{.rotary = {}, .original_length = 4096, .length = 8192}));
  EXPECT_TRUE(HasNote(read(8192), "leaves lengths up to max_position_embeddings 16384 unscaled"));
  EXPECT_TRUE(HasNote(read(8192), "rope_scaling.factor has no effect"));
  EXPECT_FALSE(HasNote(read(16385), "unscaled"));
  block["finetuned"] = true;
  EXPECT_EQ(length_of(read(100)), 16384);
  EXPECT_EQ(length_of(read(20000)), 20000);
}

TEST(ModelConfig, LongRopeMagnitudesOfTheRegimesAndFactors) {
  json block = {{"type", "longrope"},
                {"short_factor", {1, 1}},
                {"long_factor", {2, 4}},
                {"original_max_position_embeddings", 4096}};
  const auto read = [&](const json& more) {
    json whole = block;
    whole.update(more);
    return ReadLlama(
        {{"head_dim", 4}, {"rope_scaling", whole}, {"max_position_embeddings", 131072}},
        {.pairing = {}, .length = 4097});
  };
  EXPECT_EQ(std::get<longrope::Params>(Only(read(json::object()))).factor, 32);
  EXPECT_TRUE(HasNote(read(json::object()), "rope_scaling.factor is missing: 32 is"));
  EXPECT_EQ(std::get<longrope::Params>(Only(read({{"factor", 16}}))).factor, 16);
  EXPECT_TRUE(HasNote(read({{"factor", 16}}), "some releases of transformers use that quotient"));
  EXPECT_EQ(MagnitudeOf(read({{"short_mscale", 1.25}, {"long_mscale", 1.5}})), 1.5);
  EXPECT_TRUE(HasNote(read({{"long_mscale", 1.5}}), "transformers' own longrope ignores them"));
  EXPECT_EQ(MagnitudeOf(read({{"attention_factor", 1.125}})), 1.125);
}

TEST(ModelConfig, TheModelDecidesWhichPairsCountWhichAxis) {
  const json block = {{"rope_type", "default"}, {"mrope_section", {22, 22, 20}}};
  const auto order = [&](const std::string& model_type) {
    const json changes = {{"model_type", model_type}, {"rope_scaling", block}};
    return std::get<mrope::Params>(Only(ReadLlama(changes))).order;
  };
  EXPECT_EQ(order("qwen2_vl"), mrope::Order::contiguous);
  EXPECT_EQ(order("qwen3_vl_text"), mrope::Order::interleaved);
  EXPECT_EQ(order("ernie4_5_vl_moe_text"), mrope::Order::ernie);
  const json untold = {{"model_type", "of_tomorrow"}, {"rope_scaling", block}};
  EXPECT_EQ(LlamaRefusal(untold, {.pairing = Pairing::half, .length = {}}),
            "config.json: rope_scaling.mrope_interleaved is missing, and model_type "
            "\"of_tomorrow\" is not known: true or false tells which pairs count which axis");
  json contiguous = block;
  contiguous["mrope_interleaved"] = false;
  EXPECT_EQ(Only(ReadLlama({{"model_type", "of_tomorrow"}, {"rope_scaling", contiguous}},
                           {.pairing = Pairing::half})),
            Scheme(mrope::Params{.rotary = {}, .section = {22, 22, 20}}));
  json interleaved = block;
  interleaved["mrope_interleaved"] = true;
  const ModelConfig unknown = ReadLlama(
      {{"model_type", "of_tomorrow"}, {"rope_scaling", interleaved}}, {.pairing = Pairing::half});
  EXPECT_EQ(std::get<mrope::Params>(Only(unknown)).order, mrope::Order::interleaved);
  EXPECT_TRUE(HasNote(unknown, "ggml's IMROPE"));
  interleaved["mrope_section"] = {11, 11, 10};
  EXPECT_FALSE(HasNote(
      ReadLlama({{"model_type", "qwen3_vl_text"}, {"head_dim", 64}, {"rope_scaling", interleaved}}),
      "ggml's IMROPE"));
  // As transformers saves what it has read.
  const json both = {{"type", "mrope"}, {"rope_type", "default"}, {"mrope_section", {16, 24, 24}}};
  EXPECT_EQ(Only(ReadLlama({{"rope_scaling", both}})), Scheme(mrope::Params{.rotary = {}}));
}

TEST(ModelConfig, OpenPanguDealsPairsWhereItsConfigIsInterleaved) {
  const auto changed = [](const std::string& model_type, const json& more) {
    json block = {{"rope_type", "default"}, {"mrope_section", {16, 24, 24}}};
    block.update(more);
    return json{{"model_type", model_type}, {"rope_scaling", block}};
  };
  const auto order = [&](const std::string& model_type, const json& more) {
    return std::get<mrope::Params>(Only(ReadLlama(changed(model_type, more)))).order;
  };
  EXPECT_EQ(order("openpangu_vl", {{"mrope_interleaved", true}}), mrope::Order::openpangu);
  EXPECT_EQ(order("openpangu_vl_text", {{"mrope_interleaved", true}, {"rope_type", "openpangu"}}),
            mrope::Order::openpangu);
  EXPECT_EQ(order("openpangu_vl", {{"mrope_interleaved", false}}), mrope::Order::contiguous);
  const json two = {{"mrope_interleaved", true}, {"mrope_section", {40, 24}}};
  EXPECT_TRUE(HasNote(ReadLlama(changed("openpangu_vl", two)), "positions are (height, width);"));
  EXPECT_EQ(LlamaRefusal(changed("openpangu_vl", json::object())),
            "config.json: rope_scaling.mrope_interleaved is missing: true or false tells which "
            "pairs count which axis");
  const json word = {{"rope_type", "openpangu"}, {"mrope_interleaved", false}};
  EXPECT_EQ(LlamaRefusal(changed("openpangu_vl", word)),
            "config.json: rope_scaling.mrope_interleaved is false, which rope type 'openpangu' "
            "never is");
  EXPECT_EQ(LlamaRefusal(changed("qwen2_vl", {{"rope_type", "openpangu"}})),
            "config.json: rope type 'openpangu' is not that of model_type qwen2_vl");
}

// The base by mpmath: 10000 1000^(128/126) = 11158839.925...
TEST(ModelConfig, XdropeIsFourBlocksOverTheScaledBase) {
  const json block = {{"type", "xdrope"},      {"factor", 1.0},
                      {"alpha", 1000.0},       {"beta_fast", 32},
                      {"beta_slow", 1},        {"mscale", 1.0},
                      {"mscale_all_dim", 1.0}, {"xdrope_section", {16, 16, 16, 16}}};
  const json changes = {
      {"model_type", "hunyuan_vl"}, {"rope_theta", 10000.0}, {"rope_scaling", block}};
  const ModelConfig model = ReadLlama(changes);
  const auto params = std::get<mrope::Params>(Only(model));
  EXPECT_EQ(params.section, (std::vector<int64_t>{16, 16, 16, 16}));
  EXPECT_EQ(params.order, mrope::Order::contiguous);
  EXPECT_EQ(fmt::format("{:.3f}", params.rotary.base), "11158839.925");
  EXPECT_TRUE(HasNote(model, "rope_theta alpha^(d/(d - 2)) as the model's code forms it"));
  EXPECT_TRUE(HasNote(model, "positions are (running, width, height, time);"));
  const auto refusal = [&](const json& more) {
    json other = block;
    other.update(more);
    return LlamaRefusal({{"model_type", "hunyuan_vl"}, {"rope_scaling", other}});
  };
  EXPECT_NE(refusal({{"alpha", 0}}).find("rope_scaling.alpha must be"), std::string::npos);
  EXPECT_NE(refusal({{"alpha", 1e300}}).find("rope_scaling.alpha must be"), std::string::npos);
  EXPECT_NE(refusal({{"attention_factor", 2}}).find("is not understood"), std::string::npos);
  EXPECT_NE(refusal({{"type", "linear"}}).find("is not understood"), std::string::npos);
}

TEST(ModelConfig, FreqAllocationOfErnieIsTime) {
  const ModelConfig model =
      ReadLlama({{"model_type", "ernie4_5_moe_vl"}, {"rope_3d", true}, {"freq_allocation", 20}});
  EXPECT_EQ(Only(model), Scheme(mrope::Params{.rotary = {.pairing = Pairing::interleaved},
                                              .section = {22, 22, 20},
                                              .order = mrope::Order::ernie}));
}

TEST(ModelConfig, RopeRatioOfChatGlmMultipliesTheBase) {
  EXPECT_EQ(
      RotaryOf(Only(ReadLlama(
                   {{"model_type", "chatglm"}, {"rope_theta", nullptr}, {"rope_ratio", 500}})))
          .base,
      5e6);
}

TEST(ModelConfig, ProportionalDefaults) {
  const Scheme scheme =
      Only(ReadLlama({{"rope_scaling", {{"rope_type", "proportional"}, {"factor", 2}}}}));
  EXPECT_EQ(scheme, Scheme(proportional::Params{.rotary = {}, .proportion = 1, .factor = 2}));
}

TEST(ModelConfig, OriginalLengthBesideTheBlockOverridesTheOneInsideOnlyWhenFlat) {
  json changes = Yarn(json::object());
  changes["original_max_position_embeddings"] = 2048;
  const ModelConfig model = ReadLlama(changes);
  EXPECT_EQ(std::get<yarn::Params>(Only(model)).original_length, 2048);
  EXPECT_TRUE(HasNote(model, "original_max_position_embeddings 2048 overrides"));
  json block = changes["rope_scaling"];
  block["rope_theta"] = 1e4;
  const ModelConfig nested = ReadLlama({{"original_max_position_embeddings", 2048},
                                        {"rope_parameters", {{"full_attention", block}}}});
  EXPECT_EQ(std::get<yarn::Params>(Only(nested)).original_length, 4096);
}

TEST(ModelConfig, TheBaseHasOtherNames) {
  for (const std::string key : {"rope_theta", "rotary_emb_base"}) {
    const ModelConfig model =
        Read(R"({"model_type": "gpt_neox", "head_dim": 64, ")" + key + R"(": 123456.5})");
    EXPECT_EQ(RotaryOf(Only(model)).base, 123456.5) << key;
  }
}

TEST(ModelConfig, PartialWidthHasOtherNames) {
  for (const std::string key :
       {"partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_emb_fraction"}) {
    EXPECT_EQ(RotaryOf(Only(ReadLlama({{key, 0.25}}))).rotary_dim, 32) << key;
  }
  EXPECT_EQ(RotaryOf(Only(ReadLlama({{"rotary_dim", 48}}))).rotary_dim, 48);
  const ModelConfig by_default = ReadLlama({{"model_type", "stablelm"}});
  EXPECT_EQ(RotaryOf(Only(by_default)).rotary_dim, 32);
  EXPECT_TRUE(HasNote(by_default, "0.25 is what model_type stablelm fills in"));
}

TEST(ModelConfig, PartialWidthIsOneProductTruncated) {
  const auto width = [](int64_t head_dim, double factor) {
    return RotaryOf(Only(ReadLlama({{"head_dim", head_dim}, {"partial_rotary_factor", factor}})))
        .rotary_dim;
  };
  EXPECT_EQ(width(80, 0.4), 32);
  EXPECT_EQ(width(100, 0.29), 28);  // 28.999999999999996
  EXPECT_EQ(width(128, 0.75), 96);
}

TEST(ModelConfig, PairingIsKnownGivenOrStated) {
  const json unknown = {{"model_type", "bespoke"}};
  EXPECT_EQ(LlamaRefusal(unknown),
            "config.json: pairing is not in the config and model_type \"bespoke\" is not known: "
            "give --pairing half or interleaved");
  const ModelConfig given = ReadLlama(unknown, {.pairing = Pairing::interleaved, .length = {}});
  EXPECT_EQ(RotaryOf(Only(given)).pairing, Pairing::interleaved);
  EXPECT_EQ(given.pairing_source, "given");
  const ModelConfig stated = ReadLlama({{"model_type", "bespoke"}, {"rope_interleaved", true}});
  EXPECT_EQ(RotaryOf(Only(stated)).pairing, Pairing::interleaved);
  EXPECT_EQ(stated.pairing_source, "rope_interleaved");
  EXPECT_TRUE(HasNote(ReadLlama(json::object(), {.pairing = Pairing::interleaved, .length = {}}),
                      "the given pairing interleaved is not that of model_type llama, half"));
  EXPECT_EQ(LlamaRefusal({{"rope_interleaved", true}}),
            "config.json: rope_interleaved says interleaved, but model_type llama is half: give "
            "--pairing half or interleaved");
  json deepseek = ParseJson(R"({"model_type": "deepseek_v3", "qk_nope_head_dim": 128,
      "qk_rope_head_dim": 64, "rope_theta": 10000, "rope_interleave": false})",
                            "");
  EXPECT_EQ(RotaryOf(Only(Read(deepseek.dump()))).pairing, Pairing::half);
}

TEST(ModelConfig, RopeGptjIsInterleaved) {
  const json gptj = {{"model_type", "of_tomorrow"}, {"position_embedding_type", "rope_gptj"}};
  const ModelConfig model = ReadLlama(gptj);
  EXPECT_EQ(RotaryOf(Only(model)).pairing, Pairing::interleaved);
  EXPECT_EQ(model.pairing_source, "position_embedding_type");
  EXPECT_NE(
      LlamaRefusal({{"position_embedding_type", "rope_gptj"}}).find("model_type llama is half"),
      std::string::npos);
}

TEST(ModelConfig, LayerKeysOfAnUnknownModelAreWarnedOf) {
  const ConfigOverrides half = {.pairing = Pairing::half};
  for (const char* key : {"sliding_window_pattern", "full_attention_interval",
                          "global_attn_every_n_layers", "attn_layer_period"}) {
    const json unknown = {{"model_type", "of_tomorrow"}, {key, 2}};
    EXPECT_TRUE(HasNote(ReadLlama(unknown, half), fmt::format("warning: {} is not", key))) << key;
  }
  EXPECT_FALSE(HasNote(ReadLlama({{"model_type", "of_tomorrow"}}, half), "warning"));
}

TEST(ModelConfig, AShareThatTheModelIsNotKnownToReadIsWarnedOf) {
  EXPECT_TRUE(HasNote(ReadLlama({{"rotary_pct", 0.5}}), "warning: rotary_pct is taken for"));
  EXPECT_FALSE(HasNote(ReadLlama({{"partial_rotary_factor", 0.5}}), "warning"));
  EXPECT_FALSE(HasNote(ReadLlama({{"model_type", "gpt_neox"}, {"rotary_pct", 0.5}}), "warning"));
}

TEST(ModelConfig, AGivenLengthThatChangesNothingIsSaid) {
  EXPECT_TRUE(
      HasNote(ReadLlama(json::object(), {.pairing = {}, .length = 100}), "length has no effect"));
}

TEST(ModelConfig, CommentsAndNullsInABlockAreHarmless) {
  EXPECT_EQ(Only(ReadLlama(
                {{"rope_scaling",
                  {{"_comment", "x"}, {"type", "linear"}, {"factor", 8}, {"alpha", nullptr}}}})),
            Scheme(linear::Params{.rotary = {}, .factor = 8}));
}

}  // namespace
}  // namespace posgauge::config_test
