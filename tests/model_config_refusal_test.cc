// What is not understood is refused in one line: what, where, what would be right.

#include "model_config_reading.h"

namespace posgauge::config_test {
namespace {

TEST(ConfigRefusal, RopeTypesThatAreNotServed) {
  const std::string supported =
      " is not supported; supported: default, linear, dynamic, ntk, yarn, dynamic-yarn, llama3, "
      "longrope, proportional, mrope, openpangu, xdrope";
  for (const std::string type : {"mllama4", "Longrope"}) {
    EXPECT_EQ(LlamaRefusal({{"rope_scaling", {{"rope_type", type}, {"factor", 2}}}}),
              "config.json: rope type '" + type + "'" + supported);
  }
  EXPECT_EQ(
      LlamaRefusal({{"rope_scaling", {{"type", "xdrope"}, {"xdrope_section", {16, 16, 16, 16}}}}}),
      "config.json: rope_scaling.alpha is missing");
  EXPECT_EQ(LlamaRefusal({{"rope_scaling", {{"rope_type", "a\nb"}}}}),
            "config.json: rope type 'a\\nb'" + supported);
}

struct Case {
  json changes;
  std::string message;
};

TEST(ConfigRefusal, SaysWhatWhereAndWhatWouldBeRight) {
  const std::string missing_length =
      "rope_scaling.original_max_position_embeddings is missing: implementations fill in "
      "max_position_embeddings, 4096 or 2048, so it must be given";
  const json yarn = Yarn(json::object())["rope_scaling"];
  const auto yarn_with = [](const json& changes) { return Yarn(changes); };
  const auto block = [](const json& value) { return json{{"rope_scaling", value}}; };
  json no_factor = yarn, no_original = yarn;
  no_factor.erase("factor");
  no_original.erase("original_max_position_embeddings");
  const std::vector<Case> cases = {
      // Blocks
      {block(8), "rope_scaling must be a JSON object, got 8"},
      {block("linear"), "rope_scaling must be a JSON object, got \"linear\""},
      {block({{"factor", 2}}),
       "rope_scaling.rope_type is missing, and the block scales something (it has \"factor\")"},
      {block({{"type", 3}}), "rope_scaling.type must be a string, got 3"},
      {block({{"type", "linear"}, {"rope_type", "yarn"}}),
       "rope_scaling.rope_type \"yarn\" and rope_scaling.type \"linear\" disagree"},
      {block({{"type", "linear"}}), "rope_scaling.factor is missing"},
      {block({{"type", "linear"}, {"factor", nullptr}}), "rope_scaling.factor is missing"},
      {block({{"type", "linear"}, {"factor", "8"}}),
       "rope_scaling.factor must be a finite number, got \"8\""},
      {block({{"type", "linear"}, {"factor", true}}),
       "rope_scaling.factor must be a finite number, got true"},
      {block({{"type", "linear"}, {"factor", {8}}}),
       "rope_scaling.factor must be a finite number, got a list"},
      {block({{"type", "linear"}, {"factor", 0}}),
       "linear.factor must be in 1e-06..1000000, got 0"},
      {block({{"type", "linear"}, {"factor", -8}}),
       "linear.factor must be in 1e-06..1000000, got -8"},
      {block({{"type", "linear"}, {"factor", 8}, {"alpha", 2}}),
       "rope_scaling.alpha is not understood for rope type 'linear' and may change the rotation; "
       "it reads factor"},
      {block({{"type", "default"}, {"factor", 8}}),
       "rope_scaling.factor is not understood for rope type 'default' and may change the rotation; "
       "it reads rope_theta, partial_rotary_factor"},
      {{{"rope_scaling", {{"type", "linear"}, {"factor", 8}}},
        {"rope_parameters", {{"rope_type", "linear"}, {"factor", 4}}}},
       "rope_scaling and rope_parameters disagree: keep one"},
      {{{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 500000}}}},
       "rope_parameters.rope_theta 500000 and rope_theta 10000 disagree, and frameworks differ on "
       "which counts: keep one"},
      {{{"rope_parameters", {{"full_attention", {{"rope_theta", 1}}}, {"factor", 4}}}},
       "rope_parameters mixes blocks of layer kinds with values of its own"},
      {{{"rope_parameters", {{"attention", {{"rope_theta", 1}}}}}},
       "rope_parameters.attention is not a known kind of layer: full_attention, "
       "sliding_attention, chunked_attention"},
      {{{"rope_parameters", {{"full_attention", {{"rope_type", "default"}}}}}},
       "rope_parameters.full_attention.rope_theta is missing"},
      {{{"rope_parameters", {{"full_attention", {{"rope_theta", 1e4}}}}},
        {"layer_types",
         {"full_attention", "sliding_attention", "full_attention", "sliding_attention"}}},
       "rope_parameters has no block for the kind sliding_attention of layer_types"},
      // Dynamic
      {block({{"type", "dynamic"}, {"factor", 2}}),
       "rope type 'dynamic' depends on the current length in tokens: give --length N (largest "
       "position + 1)"},
      {{{"rope_scaling", {{"type", "dynamic"}, {"factor", 2}}},
        {"max_position_embeddings", nullptr}},
       "max_position_embeddings is missing: rope type 'dynamic' scales beyond it"},
      {block({{"type", "dynamic"}, {"alpha", 1000}, {"gamma", 1}}),
       "rope_scaling.gamma is not understood for rope type 'dynamic with alpha' and may change the "
       "rotation; it reads alpha"},
      // NTK by lengths of Qwen-1
      {{{"model_type", "qwen"}, {"use_dynamic_ntk", true}}, "seq_length is missing"},
      {{{"model_type", "qwen"}, {"use_dynamic_ntk", true}, {"seq_length", 8192}},
       "use_dynamic_ntk depends on the current length in tokens: give --length N (largest position "
       "+ 1)"},
      {{{"model_type", "qwen"}, {"use_dynamic_ntk", true}, {"rope_scaling", yarn}},
       "use_dynamic_ntk and the rope block both scale: keep one"},
      // NTK fixed and mixed
      {block({{"type", "ntk"}, {"factor", 4}, {"mixed_b", 3}}),
       "ntk.mixed_exponent must be in 0..2, got 3"},
      {block({{"type", "ntk"}}), "rope_scaling.factor is missing"},
      // Dynamic YaRN
      {block({{"type", "dynamic-yarn"}, {"factor", 4}}),
       "rope_scaling.original_max_position_embeddings is missing"},
      {block({{"type", "dynamic-yarn"}, {"original_max_position_embeddings", 4096}}),
       "rope type 'dynamic-yarn' depends on the current length in tokens: give --length N (largest "
       "position + 1)"},
      // LongRoPE
      {block({{"type", "su"}, {"short_factor", {1}}, {"long_factor", {1}}}),
       "rope_scaling.original_max_position_embeddings is missing: it chooses between the short and "
       "the long factors"},
      {block({{"type", "longrope"}, {"original_max_position_embeddings", 1}}),
       "rope_scaling.original_max_position_embeddings must be in 2..1099511627776 tokens, got 1"},
      {block({{"type", "longrope"}, {"original_max_position_embeddings", 4096}}),
       "rope type 'longrope' depends on the current length in tokens: give --length N (largest "
       "position + 1)"},
      // Several axes
      {block({{"type", "mrope"}}), "rope_scaling.mrope_section is missing"},
      {block({{"type", "mrope"}, {"mrope_section", {16, 24}}}),
       "mrope.section must have 3..4 entries (pairs of each axis), got 2"},
      {block({{"type", "default"}, {"mrope_section", {16, 24, 23}}}),
       "mrope.section must sum to 64 (rotary_dim/2), got 63 (16 + 24 + 23)"},
      {block({{"type", "mrope"}, {"mrope_section", "16"}}),
       "rope_scaling.mrope_section must be a list of integers, got \"16\""},
      {block({{"mrope_section", {16, 24, 24}}, {"mrope_interleaved", true}}),
       "rope_scaling.mrope_interleaved is true, but model_type llama has the order contiguous"},
      {block({{"type", "yarn"}, {"factor", 4}, {"mrope_section", {16, 24, 24}}}),
       "rope_scaling.mrope_section with rope type 'yarn' is not supported: frameworks scale it "
       "differently"},
      {block({{"type", "mrope"}, {"mrope_section", {16, 24, 24}}, {"factor", 2}}),
       "rope_scaling.factor is not understood for rope type 'mrope' and may change the rotation; "
       "it reads mrope_section, mrope_interleaved"},
      {{{"rope_3d", true}},
       "rope_3d is not understood for a model_type other than ernie4_5_moe_vl, whose own code has "
       "it"},
      {{{"model_type", "ernie4_5_moe_vl"}, {"rope_3d", true}}, "freq_allocation is missing"},
      {{{"model_type", "ernie4_5_moe_vl"}, {"rope_3d", true}, {"freq_allocation", 21}},
       "freq_allocation must leave an even number of the 64 pairs, got 21"},
      {{{"model_type", "ernie4_5_moe_vl"}, {"rope_3d", true}, {"rope_scaling", yarn}},
       "rope_3d and a rope block without mrope_section: keep one"},
      // Proportional
      {block({{"type", "proportional"}, {"partial_rotary_factor", 1.5}}),
       "proportional.proportion must be in 0..1, got 1.5"},
      {{{"global_head_dim", 512}},
       "global_head_dim is given, but rope_parameters has no block for the kind full_attention "
       "alone"},
      // YaRN
      {block(no_original), missing_length},
      {block(no_factor), "rope_scaling.factor is missing"},
      {yarn_with({{"factor", nullptr}}),
       "rope_scaling.factor is null and there is no max_position_embeddings to derive it from"},
      {yarn_with({{"factor", 0.5}}), "yarn.factor must be in 1..1000000, got 0.5"},
      {yarn_with({{"beta_fast", 0.5}}), "yarn.beta_fast must be at least beta_slow 1, got 0.5"},
      {yarn_with({{"truncate", "no"}}), "rope_scaling.truncate must be true or false, got \"no\""},
      {yarn_with({{"original_max_position_embeddings", 0}}),
       "rope_scaling.original_max_position_embeddings must be in 1..1099511627776 tokens, got 0"},
      {yarn_with({{"original_max_position_embeddings", 4096.5}}),
       "rope_scaling.original_max_position_embeddings must be an integer, got 4096.5"},
      {yarn_with({{"attention_factor", 0}}),
       "yarn.attention_factor must be in 1e-06..1000000, got 0"},
      {yarn_with({{"alpha", 1}}),
       "rope_scaling.alpha is not understood for rope type 'yarn' and may change the rotation; it "
       "reads factor, original_max_position_embeddings, beta_fast, beta_slow, truncate, "
       "attention_factor, attn_factor, extrapolation_factor, mscale, mscale_all_dim, "
       "apply_yarn_scaling, llama_4_scaling_beta"},
      {{{"rope_theta", 1}, {"rope_scaling", yarn}},
       "yarn.base must be above 1 for YaRN's ramp over pairs (it divides by ln base), got 1"},
      // Llama 3
      {block({{"type", "llama3"}, {"factor", 8}}), "rope_scaling.low_freq_factor is missing"},
      {block({{"type", "llama3"}, {"factor", 8}, {"low_freq_factor", 1}, {"high_freq_factor", 4}}),
       "rope_scaling.original_max_position_embeddings is missing"},
      {block({{"type", "llama3"},
              {"factor", 8},
              {"low_freq_factor", 4},
              {"high_freq_factor", 1},
              {"original_max_position_embeddings", 8192}}),
       "llama3.high_frequency_factor must be at least low_frequency_factor 4, got 1"},
      // Widths
      {{{"hidden_size", 4097}},
       "hidden_size must be a multiple of num_attention_heads 32 where head_dim is not given, got "
       "4097"},
      {{{"hidden_size", nullptr}}, "head_dim is missing, and so is hidden_size to derive it from"},
      {{{"head_dim", 0}}, "head_dim must be at least 1, got 0"},
      {{{"head_dim", 1e18}}, "head_dim must be an integer, got 1e+18"},
      {{{"head_dim", 100000}}, "head_dim must be at most 65536, got 100000"},
      {{{"head_dim", 128.5}}, "head_dim must be an integer, got 128.5"},
      {{{"head_dim", 63}},
       "partial_rotary_factor 1 of head_dim 63 gives a rotary width of 63, which must be even and "
       "positive"},
      {{{"partial_rotary_factor", 0.3}, {"head_dim", 90}},
       "partial_rotary_factor 0.3 of head_dim 90 gives a rotary width of 27, which must be even "
       "and positive"},
      {{{"partial_rotary_factor", 0.001}},
       "partial_rotary_factor 0.001 of head_dim 128 gives a rotary width of 0, which must be even "
       "and positive"},
      {{{"partial_rotary_factor", 1.5}},
       "partial_rotary_factor must be above 0 and at most 1, got 1.5"},
      {{{"partial_rotary_factor", 0.5}, {"rotary_pct", 0.25}},
       "partial_rotary_factor 0.5 and rotary_pct 0.25 mean the same and disagree"},
      {{{"partial_rotary_factor", 0.5}, {"rotary_dim", 32}},
       "rotary_dim 32 and partial_rotary_factor 0.5 (which gives 64) disagree"},
      {{{"rotary_dim", 130}}, "rotary_dim must be even and in 2..128 (head_dim), got 130"},
      {{{"rotary_dim", 33}}, "rotary_dim must be even and in 2..128 (head_dim), got 33"},
      {{{"model_type", "gptj"}}, "rotary_dim is missing, which model_type gptj needs"},
      {{{"model_type", "deepseek_v3"}},
       "qk_rope_head_dim is missing, which model_type deepseek_v3 needs"},
      {{{"qk_rope_head_dim", 64}}, "qk_nope_head_dim is missing"},
      {{{"qk_rope_head_dim", 63}, {"qk_nope_head_dim", 128}},
       "qk_rope_head_dim must be even and positive and qk_nope_head_dim not negative, got 63 and "
       "128"},
      // Base
      {{{"rope_theta", 0}}, "rope.base must be a positive number in 1e-30..1e30, got 0"},
      {{{"rope_theta", -10000}}, "rope.base must be a positive number in 1e-30..1e30, got -10000"},
      {{{"rope_theta", "1e4"}}, "rope_theta must be a finite number, got \"1e4\""},
      {{{"rope_theta", 1e4}, {"rotary_emb_base", 2e4}},
       "rope_theta 10000 and rotary_emb_base 20000 mean the same and disagree"},
      {{{"rope_theta", nullptr}, {"model_type", "mixtral"}},
       "rope_theta is missing, and model_type \"mixtral\" has no known default"},
      // Layers
      {{{"num_hidden_layers", 0}}, "num_hidden_layers must be in 1..65536, got 0"},
      {{{"num_hidden_layers", 1000000000}},
       "num_hidden_layers must be in 1..65536, got 1000000000"},
      {{{"layer_types", {"full_attention"}}}, "layer_types must have one entry a layer (4), got 1"},
      {{{"layer_types", {"full_attention", "full_attention", "full_attention", "bogus"}}},
       "layer_types names \"bogus\"; known are full_attention, sliding_attention, "
       "chunked_attention, linear_attention, conv, mamba"},
      {{{"no_rope_layers", {1, 1, 1, 2}}}, "no_rope_layers must hold 0 and 1, got 2"},
      {{{"no_rope_layers", {0, 0, 0, 0}}}, "no layer rotates"},
      {{{"no_rope_layer_interval", 0}}, "no_rope_layer_interval must be at least 1, got 0"},
      {{{"no_rope_layer_interval", 1}}, "no layer rotates"},
      // Heads and lengths
      {{{"num_key_value_heads", 5}},
       "num_attention_heads must be a multiple of num_key_value_heads 5, got 32"},
      {{{"num_key_value_heads", 0}}, "num_key_value_heads must be in 1..65536, got 0"},
      {{{"max_position_embeddings", -1}},
       "max_position_embeddings must be in 1..1099511627776, got -1"},
      {{{"max_position_embeddings", 1e300}},
       "max_position_embeddings must be an integer, got 1e+300"},
      // Keys about rotation that are not understood
      {{{"rope_ratio", 500}}, "rope_ratio is not understood and may change the rotation"},
      {{{"rotary_emb_scale_base", 512}},
       "rotary_emb_scale_base is not understood and may change the rotation"},
      {{{"rotary_value", true}}, "rotary_value is not supported: the values rotate too"},
      {{{"use_dynamic_ntk", true}},
       "use_dynamic_ntk is not understood for a model_type other than qwen, whose own code has it"},
      {{{"dual_chunk_attention_config", {{"chunk_size", 262144}}}},
       "dual_chunk_attention_config.local_size is missing"},
      // The whole
      {{{"text_config", 3}}, "text_config must be a JSON object, got 3"},
      {{{"text_config", {{"model_type", "llama"}}}},
       "text_config.head_dim is missing, and so is hidden_size to derive it from"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(LlamaRefusal(c.changes), "config.json: " + c.message) << c.changes;
  }
}

TEST(ConfigRefusal, LongRopeListsThatDoNotFit) {
  const auto refusal = [](const json& short_factor, const json& long_factor) {
    return LlamaRefusal(
        {{"head_dim", 8},
         {"original_max_position_embeddings", 4096},
         {"rope_scaling",
          {{"type", "longrope"}, {"short_factor", short_factor}, {"long_factor", long_factor}}}},
        {.pairing = {}, .length = 4096});
  };
  const json four = {1, 2, 3, 4};
  EXPECT_EQ(refusal(four, {1, 2, 3}),
            "config.json: longrope.long_factor must have 4 entries (rotary_dim/2), got 3");
  EXPECT_EQ(refusal(json::array(), four),
            "config.json: longrope.short_factor must have 4 entries (rotary_dim/2), got 0");
  EXPECT_EQ(refusal(nullptr, four), "config.json: rope_scaling.short_factor is missing");
  EXPECT_EQ(refusal({1, 2, 0, 4}, four),
            "config.json: longrope.short_factor[2] must be in 1e-06..1000000, got 0");
  EXPECT_EQ(refusal(four, {1, 2, "3", 4}),
            "config.json: rope_scaling.long_factor[2] must be a finite number, got \"3\"");
  EXPECT_EQ(refusal(four, 4),
            "config.json: rope_scaling.long_factor must be a list of numbers, "
            "got 4");
}

TEST(ConfigRefusal, UnknownModelsThatMixLayerKinds) {
  EXPECT_EQ(LlamaRefusal(
                {{"model_type", "bespoke"},
                 {"layer_types",
                  {"full_attention", "sliding_attention", "full_attention", "sliding_attention"}}},
                {.pairing = Pairing::half, .length = {}}),
            "config.json: layer_types mixes full_attention, sliding_attention and model_type "
            "\"bespoke\" is not known: which of them rotate, and how, is not in the config");
}

// Keys of a model's own code: none is read beside another, nor where layers differ.
TEST(ConfigRefusal, SchemesOfAModelsOwnCodeStandAlone) {
  const json chunks = {{"dual_chunk_attention_config", {{"chunk_size", 64}, {"local_size", 8}}}};
  const json dynamic = {{"model_type", "qwen"}, {"use_dynamic_ntk", true}, {"seq_length", 8192}};
  const json axes = {{"model_type", "ernie4_5_moe_vl"}, {"rope_3d", true}, {"freq_allocation", 20}};
  const ConfigOverrides at_length = {.pairing = {}, .length = 16384};
  const auto refusal = [&](json changes, const json& more) {
    changes.update(more);
    return LlamaRefusal(changes, at_length);
  };
  const json kinds = {{"rope_parameters", {{"full_attention", {{"rope_theta", 1e4}}}}}};
  const json local = {{"rope_local_base_freq", 1e4}};
  for (const auto& [key, config] :
       {std::pair("dual_chunk_attention_config", chunks), std::pair("use_dynamic_ntk", dynamic),
        std::pair("rope_3d", axes)}) {
    EXPECT_EQ(refusal(config, json::object()).substr(0, 7), "read as") << key;
    for (const json& layers : {kinds, local}) {
      EXPECT_EQ(refusal(config, layers),
                fmt::format("config.json: {} is not supported with a block for each kind of layer "
                            "or a local base",
                            key));
    }
  }
  // Gemma 3's code has a local base, whatever the config says.
  EXPECT_EQ(refusal(chunks, {{"model_type", "gemma3_text"}}),
            "config.json: dual_chunk_attention_config is not supported with a block for each kind "
            "of layer or a local base");
  const std::string both = " both say how positions turn: keep one";
  EXPECT_EQ(refusal(chunks, dynamic),
            "config.json: dual_chunk_attention_config and use_dynamic_ntk" + both);
  EXPECT_EQ(refusal(dynamic, {{"rope_3d", true}}),
            "config.json: use_dynamic_ntk and rope_3d" + both);
  EXPECT_EQ(refusal(chunks, axes), "config.json: dual_chunk_attention_config and rope_3d" + both);
}

TEST(ConfigRefusal, WordsAboutRotationAreWholeWords) {
  EXPECT_EQ(Only(ReadLlama({{"property", 1}, {"europe", true}})), Scheme(rope::Params{}));
}

}  // namespace
}  // namespace posgauge::config_test
