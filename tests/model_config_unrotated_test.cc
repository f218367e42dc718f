// Configs of models that rotate nothing: what they mean, and what is refused.

#include "model_config_reading.h"

namespace posgauge::config_test {
namespace {

TEST(UnrotatedConfig, BloomMultipliesSlopesByTheKeyPosition) {
  const ModelConfig model = Model("bloom-176b");
  EXPECT_EQ(Only(model), Scheme(alibi::Params{.attention = {.heads = 112, .head_dim = 128},
                                              .form = alibi::Form::key}));
  EXPECT_EQ(model.num_attention_heads, 112);
  EXPECT_EQ(model.num_hidden_layers, 70);
  EXPECT_EQ(model.max_position, 2048);
}

TEST(UnrotatedConfig, MptHasAnExponentRangeOfItsOwn) {
  const ModelConfig model = Model("mpt-7b-storywriter");
  EXPECT_EQ(Only(model), Scheme(alibi::Params{.attention = {.heads = 32, .head_dim = 128},
                                              .max_bias = 16,
                                              .form = alibi::Form::key_from_last}));
  EXPECT_EQ(model.max_position, 65536);
}

TEST(UnrotatedConfig, FalconScalesTheBiasToo) {
  EXPECT_EQ(Only(Model("falcon-rw-1b")),
            Scheme(alibi::Params{.attention = {.heads = 32, .head_dim = 64},
                                 .form = alibi::Form::key,
                                 .before_scale = true}));
  const json rotating = {{"model_type", "falcon"},
                         {"alibi", false},
                         {"hidden_size", 4544},
                         {"num_attention_heads", 71},
                         {"max_position_embeddings", 2048}};
  EXPECT_EQ(Name(Only(Read(rotating.dump()))), "rope");
}

TEST(UnrotatedConfig, BaichuanIsToldByItsWidth) {
  const ModelConfig model = Model("baichuan2-13b");
  EXPECT_EQ(Only(model), Scheme(alibi::Params{.attention = {.heads = 40, .head_dim = 128},
                                              .form = alibi::Form::key}));
  EXPECT_TRUE(HasNote(model, "ALiBi, not rotation, because hidden_size is not 4096"));
  const json small = {{"model_type", "baichuan"},
                      {"hidden_size", 4096},
                      {"num_attention_heads", 32},
                      {"max_position_embeddings", 4096}};
  EXPECT_EQ(Name(Only(Read(small.dump()))), "rope");
}

TEST(UnrotatedConfig, T5HasOtherBucketsInTheDecoder) {
  const ModelConfig model = Model("t5-base");
  ASSERT_EQ(model.groups.size(), 2u);
  const Attention encoder = {
      .heads = 12, .head_dim = 64, .causal = false, .scale = ScoreScale::one};
  Attention decoder = encoder;
  decoder.causal = true;
  EXPECT_EQ(model.groups[0].kind, "encoder");
  EXPECT_EQ(model.groups[0].scheme, Scheme(t5::Params{.attention = encoder}));
  EXPECT_EQ(model.groups[1].kind, "decoder");
  EXPECT_EQ(model.groups[1].scheme,
            Scheme(t5::Params{.attention = decoder, .bidirectional = false}));
  EXPECT_TRUE(HasNote(model, "relative_attention_max_distance is not in the config: 128"));
}

TEST(UnrotatedConfig, TransformerXlClampsOffsets) {
  EXPECT_EQ(
      Only(Model("transfo-xl-wt103")),
      Scheme(transformer_xl::Params{
          .attention = {.heads = 16, .head_dim = 64}, .model_width = 1024, .clamp_length = 1000}));
}

TEST(UnrotatedConfig, XlnetReadsClampAndSameLengthAsTransformerXlDoes) {
  json xlnet = {{"model_type", "xlnet"}, {"n_head", 12},     {"d_model", 768},
                {"attn_type", "uni"},    {"clamp_len", 100}, {"same_length", true}};
  const ModelConfig model = Read(xlnet.dump());
  EXPECT_EQ(Only(model), Scheme(transformer_xl::Params{.attention = {.heads = 12, .head_dim = 64},
                                                       .model_width = 768,
                                                       .clamp_length = 100}));
  const std::string note = "same_length: every query sees as many keys, which is the mask's affair";
  EXPECT_TRUE(HasNote(model, note));
  const json older = {
      {"model_type", "transfo-xl"}, {"n_head", 12},       {"d_head", 64}, {"d_model", 768},
      {"clamp_len", 100},           {"same_length", true}};
  EXPECT_EQ(Only(Read(older.dump())), Only(model));
  EXPECT_TRUE(HasNote(Read(older.dump()), note));
  xlnet["same_length"] = false;
  EXPECT_FALSE(HasNote(Read(xlnet.dump()), note));
  xlnet["attn_type"] = "bi";
  EXPECT_EQ(Refusal(xlnet.dump()),
            "config.json: clamp_len is not supported where attn_type is bi: it clamps offsets of "
            "both signs");
}

TEST(UnrotatedConfig, MarianHasAllSinesFirst) {
  EXPECT_EQ(Only(Model("opus-mt-en-de")),
            Scheme(sinusoidal::Params{.width = 512,
                                      .layout = sinusoidal::Layout::halves,
                                      .odd_width = sinusoidal::OddWidth::extra_sine}));
}

TEST(UnrotatedConfig, FairseqTablesStartAfterThePaddingRow) {
  const json config = {{"model_type", "m2m_100"}, {"d_model", 1024}, {"pad_token_id", 1}};
  EXPECT_EQ(Only(Read(config.dump())),
            Scheme(sinusoidal::Params{.width = 1024,
                                      .layout = sinusoidal::Layout::halves,
                                      .frequency_shift = 1,
                                      .odd_width = sinusoidal::OddWidth::zero,
                                      .start = 2,
                                      .padding_index = 1}));
}

TEST(UnrotatedConfig, TablesOfLearnedRows) {
  EXPECT_EQ(Only(Model("gpt2")), Scheme(learned::Params{.width = 768, .rows = 1024}));
  EXPECT_EQ(Only(Model("bert-base")), Scheme(learned::Params{.width = 768, .rows = 512}));
  EXPECT_EQ(Only(Model("opt-1.3b")),
            Scheme(learned::Params{.width = 2048, .rows = 2050, .offset = 2}));
  const ModelConfig roberta = Model("roberta-base");
  EXPECT_EQ(Only(roberta), Scheme(learned::Params{.width = 768, .rows = 514, .offset = 2}));
  EXPECT_TRUE(HasNote(roberta, "padding has the row 1: 512 positions are left of 514 rows"));
  const json albert = {{"model_type", "albert"},
                       {"embedding_size", 128},
                       {"hidden_size", 768},
                       {"max_position_embeddings", 512}};
  EXPECT_EQ(Only(Read(albert.dump())), Scheme(learned::Params{.width = 128, .rows = 512}));
  json distilbert = {{"model_type", "distilbert"}, {"dim", 768}, {"max_position_embeddings", 512}};
  EXPECT_EQ(Only(Read(distilbert.dump())), Scheme(learned::Params{.width = 768, .rows = 512}));
  distilbert["sinusoidal_pos_embds"] = true;
  EXPECT_EQ(Only(Read(distilbert.dump())), Scheme(sinusoidal::Params{.width = 768}));
}

TEST(UnrotatedConfig, WhisperAddsWavesInTheEncoderAndATableInTheDecoder) {
  const ModelConfig model = Model("whisper-small");
  ASSERT_EQ(model.groups.size(), 2u);
  EXPECT_EQ(model.groups[0].scheme,
            Scheme(sinusoidal::Params{
                .width = 768, .layout = sinusoidal::Layout::halves, .frequency_shift = 1}));
  EXPECT_EQ(model.groups[0].positions, 1500);
  EXPECT_EQ(model.groups[1].scheme, Scheme(learned::Params{.width = 768, .rows = 448}));
}

TEST(UnrotatedConfig, AModelOfWhichNothingIsKnownIsToldSo) {
  const json beit = {{"model_type", "beit"}, {"hidden_size", 768}, {"num_attention_heads", 12}};
  EXPECT_EQ(Refusal(beit.dump()),
            "config.json: model_type \"beit\" is not known, and no key of the config tells of its "
            "positions: give --scheme NAME, or --pairing half or interleaved if it rotates");
}

TEST(UnrotatedConfig, DebertaHasBucketsAndTermsAsItsKeysSay) {
  json config = {{"model_type", "deberta-v2"},    {"hidden_size", 768},
                 {"num_attention_heads", 12},     {"max_position_embeddings", 512},
                 {"relative_attention", true},    {"max_relative_positions", -1},
                 {"position_buckets", 256},       {"pos_att_type", "p2c|c2p"},
                 {"position_biased_input", false}};
  deberta::Params params{.attention = {.heads = 12, .head_dim = 64, .causal = false},
                         .far = deberta::Far::bucket};
  EXPECT_EQ(Only(Read(config.dump())), Scheme(params));
  config["pos_att_type"] = {"c2p"};
  params.p2c = false;
  EXPECT_EQ(Only(Read(config.dump())), Scheme(params));
  config["model_type"] = "deberta";
  params.position_buckets = 0;
  EXPECT_EQ(Only(Read(config.dump())), Scheme(params));
  config["position_biased_input"] = true;
  const ModelConfig both = Read(config.dump());
  ASSERT_EQ(both.groups.size(), 2u);
  EXPECT_EQ(both.groups[1].kind, "embeddings");
  EXPECT_EQ(both.groups[1].scheme, Scheme(learned::Params{.width = 768, .rows = 512}));
  config["relative_attention"] = false;
  EXPECT_EQ(Name(Only(Read(config.dump()))), "learned");
  config["position_biased_input"] = false;
  EXPECT_EQ(Refusal(config.dump()),
            "config.json: relative_attention and position_biased_input are both false: the model "
            "has no positions");
}

// DebertaV2Config splits a string at "|", in lower case and without spaces.
TEST(UnrotatedConfig, DebertaNamesItsTermsInAStringOrAList) {
  json config = {{"model_type", "deberta-v2"}, {"hidden_size", 768},
                 {"num_attention_heads", 12},  {"max_position_embeddings", 512},
                 {"relative_attention", true}, {"position_biased_input", false}};
  const std::string none = "pos_att_type names neither c2p nor p2c: scores hold content alone";
  const auto expect = [&](const json& value, bool c2p, bool p2c) {
    config["pos_att_type"] = value;
    const ModelConfig model = Read(config.dump());
    const auto& params = std::get<deberta::Params>(Only(model));
    EXPECT_EQ(params.c2p, c2p) << value;
    EXPECT_EQ(params.p2c, p2c) << value;
    EXPECT_EQ(HasNote(model, none), !c2p && !p2c) << value;
  };
  expect("c2p|p2c", true, true);
  expect("C2P | p2c", true, true);
  expect("p2c", false, true);
  expect({"p2c", "c2p"}, true, true);
  for (const json& nothing : {json(nullptr), json(""), json::array()}) {
    expect(nothing, false, false);
  }
  const auto refusal = [&](const json& value) {
    config["pos_att_type"] = value;
    return Refusal(config.dump());
  };
  const std::string supported = " is not supported; supported: c2p, p2c";
  EXPECT_EQ(refusal("c2p|p2p"), "config.json: pos_att_type \"p2p\"" + supported);
  EXPECT_EQ(refusal({"c2p", "p2pc2p"}), "config.json: pos_att_type \"p2pc2p\"" + supported);
  EXPECT_EQ(refusal("c2p,p2c"), "config.json: pos_att_type \"c2p,p2c\"" + supported);
  EXPECT_EQ(refusal(3), "config.json: pos_att_type must be a string or a list of strings, got 3");
  EXPECT_EQ(refusal({3}), "config.json: pos_att_type[0] must be a string, got 3");
}

TEST(UnrotatedConfig, XposOfTorchscale) {
  json config = {{"decoder_attention_heads", 12},
                 {"decoder_embed_dim", 768},
                 {"xpos_rel_pos", true},
                 {"xpos_scale_base", 256}};
  const xpos::Params params{.attention = {.heads = 12, .head_dim = 64}, .scale_base = 256};
  EXPECT_EQ(Only(Read(config.dump())), Scheme(params));
}

TEST(UnrotatedConfig, NoEncodingIsAScheme) {
  EXPECT_EQ(Name(Only(ReadLlama({{"position_embedding_type", "nope"}}))), "none");
  EXPECT_EQ(Name(Only(ReadLlama({{"use_rope", false}}))), "none");
}

TEST(UnrotatedConfig, SaysWhatWhereAndWhatWouldBeRight) {
  const auto refusal = [](const json& config) { return Refusal(config.dump()); };
  const json mpt = {{"model_type", "mpt"},
                    {"d_model", 4096},
                    {"n_heads", 32},
                    {"attn_config", {{"alibi", true}}}};
  EXPECT_EQ(refusal(mpt).substr(0, 7), "read as");
  const auto with = [&](const char* key, const json& value) {
    json changed = mpt;
    changed["attn_config"][key] = value;
    return refusal(changed);
  };
  EXPECT_EQ(with("alibi", false), "config.json: max_seq_len is missing");
  EXPECT_EQ(with("softmax_scale", 0.5),
            "config.json: attn_config.softmax_scale is not supported; supported: null "
            "(1/sqrt(head_dim))");
  EXPECT_EQ(with("prefix_lm", true),
            "config.json: attn_config.prefix_lm is not supported: which keys are visible then "
            "depends on the prompt");
  EXPECT_EQ(with("alibi_bias_max", 0),
            "config.json: alibi.max_bias must be above 0 and at most 1024, got 0");
  EXPECT_EQ(refusal({{"model_type", "bloom"}, {"n_embed", 100}, {"n_head", 3}}),
            "config.json: n_embed must be a multiple of 3 heads, got 100");
  EXPECT_EQ(refusal({{"model_type", "bloom"}, {"n_embed", 128}}), "config.json: n_head is missing");
  EXPECT_EQ(refusal({{"model_type", "transfo-xl"}, {"attn_type", 2}}),
            "config.json: attn_type must be 0, got 2");
  EXPECT_EQ(refusal({{"model_type", "unheard"}, {"relative_attention", true}}),
            "config.json: the model (model_type \"unheard\") has DeBERTa's relative positions, and "
            "its config does not tell in which form: give --scheme deberta");
  EXPECT_EQ(refusal({{"model_type", "mamba"}}),
            "config.json: the model (model_type \"mamba\") has neither attention nor a position "
            "encoding, which is not served");
  EXPECT_EQ(LlamaRefusal({{"alibi", true}}),
            "config.json: the model (model_type \"llama\") has ALiBi biases on the scores, and its "
            "config does not tell in which form: give --scheme alibi");
  EXPECT_EQ(LlamaRefusal({{"position_embedding_type", "relative_key"}}),
            "config.json: position_embedding_type \"relative_key\" is not supported; supported: "
            "rope, nope");
}

}  // namespace
}  // namespace posgauge::config_test
