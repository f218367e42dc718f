#include "posgauge/schemes/model/unrotated.h"

#include <array>

#include "posgauge/schemes/model/added_rows.h"
#include "posgauge/schemes/model/attention_heads.h"
#include "posgauge/schemes/model/known_type.h"
#include "posgauge/schemes/model/model_type.h"
#include "posgauge/schemes/model/relative_scores.h"
#include "posgauge/schemes/model/swin.h"

namespace posgauge {

namespace {

using Notes = std::vector<std::string>;
using Groups = std::vector<LayerGroup>;

// build_alibi_tensor of transformers models/bloom/modeling_bloom.py.
Groups ReadBloom(const Section& config, Notes& notes) {
  notes.emplace_back("positions count the tokens that the attention mask keeps: padding has none");
  return OneGroup(alibi::Params{
      .attention =
          ReadAttention(config, {"n_head", "num_attention_heads"}, {"hidden_size", "n_embed"}),
      .form = alibi::Form::key});
}

// models/falcon/modeling_falcon.py: (q k + alibi) * inv_norm_factor.
Groups ReadFalcon(const Section& config, Notes& notes) {
  if (!config.Find<bool>("alibi").value_or(false)) return {};
  notes.emplace_back(
      "the bias is added before the scale 1/sqrt(head_dim), which makes the slopes smaller by it");
  notes.emplace_back("transformers forms slopes and biases in bf16");
  return OneGroup(alibi::Params{
      .attention =
          ReadAttention(config, {"num_attention_heads", "n_head"}, {"hidden_size", "n_embed"}),
      .form = alibi::Form::key,
      .before_scale = true});
}

// models/bert/modeling_bert.py; albert and electra have narrower embeddings than layers. With
// relative_key every layer adds to the scores the query's product with a learned vector of
// i - j + max_position_embeddings - 1, scaled along with them (Shaw et al. 2018 without values);
// the absolute table is then not added.
Groups ReadBert(const Section& config, Notes&) {
  const std::string type = config.Find<std::string>("position_embedding_type").value_or("absolute");
  Require(type == "absolute" || type == "relative_key",
          "{} {} is not supported; supported: absolute, relative_key",
          config.Name("position_embedding_type"), Shown(type));
  if (type == "relative_key") {
    Attention attention = ReadAttention(config, {"num_attention_heads"}, {"hidden_size"});
    attention.causal = config.Find<bool>("is_decoder").value_or(false);
    return OneGroup(shaw::Params{.attention = attention,
                                 .clip = config.Get<int64_t>("max_position_embeddings") - 1,
                                 .values = false,
                                 .index = shaw::Index::query_minus_key});
  }
  return OneGroup(TableOf(config, {"embedding_size", "hidden_size"}, {"max_position_embeddings"}));
}

// build_mpt_alibi_tensor of models/mpt/modeling_mpt.py.
Groups ReadMpt(const Section& config, Notes&) {
  const Section section = config.GetSection("attn_config");
  Require(!section.Find<bool>("rope").value_or(false),
          "{} is not supported for model_type mpt: give --scheme rope", section.Name("rope"));
  if (!section.Find<bool>("alibi").value_or(false)) {
    Require(config.Find<bool>("learned_pos_emb").value_or(true),
            "{} and {} are both false: the model has no positions", section.Name("alibi"),
            config.Name("learned_pos_emb"));
    return OneGroup(TableOf(config, {"d_model"}, {"max_seq_len"}));
  }
  Require(!section.Has("softmax_scale"), "{} is not supported; supported: null (1/sqrt(head_dim))",
          section.Name("softmax_scale"));
  Require(!section.Find<bool>("prefix_lm").value_or(false),
          "{} is not supported: which keys are visible then depends on the prompt",
          section.Name("prefix_lm"));
  return OneGroup(alibi::Params{.attention = ReadAttention(config, {"n_heads"}, {"d_model"}),
                                .max_bias = section.Find<double>("alibi_bias_max").value_or(8),
                                .form = alibi::Form::key_from_last});
}

// The 7B model rotates, the 13B model has ALiBi, and neither config says so: vLLM's baichuan.py
// tells them apart by hidden_size 4096.
Groups ReadBaichuan(const Section& config, Notes& notes) {
  constexpr int64_t kRotatingWidth = 4096;
  if (config.Get<int64_t>("hidden_size") == kRotatingWidth || config.Has("rope_theta")) return {};
  notes.emplace_back(
      "ALiBi, not rotation, because hidden_size is not 4096: the config does not say which");
  return OneGroup(
      alibi::Params{.attention = ReadAttention(config, {"num_attention_heads"}, {"hidden_size"}),
                    .form = alibi::Form::key});
}

// Encoder bidirectional, decoder causal: transformers models/t5/modeling_t5.py, T5Attention.
Groups ReadT5(const Section& config, Notes& notes) {
  t5::Params encoder{
      .attention = {.heads =
                        config.Get<int64_t>(config.FirstOf({"num_heads", "num_attention_heads"})),
                    .head_dim = config.Get<int64_t>("d_kv"),
                    .causal = false,
                    .scale = ScoreScale::one},
      .num_buckets = config.Find<int64_t>("relative_attention_num_buckets").value_or(32),
      .max_distance = config.Find<int64_t>("relative_attention_max_distance").value_or(128)};
  if (!config.Has("relative_attention_max_distance")) {
    notes.emplace_back(
        "relative_attention_max_distance is not in the config: 128 is what the "
        "model's code fills in");
  }
  t5::Params decoder = encoder;
  decoder.attention.causal = true;
  decoder.bidirectional = false;
  return EncoderAndDecoder(encoder, decoder);
}

[[noreturn]] Groups RefuseOf(std::string_view model_type, std::string_view has) {
  throw ParameterError(fmt::format("the model (model_type {}) has {}, which is not served",
                                   Shown(std::string(model_type)), has));
}

// Its configs leave to the code what p2c is of and whether far distances are clamped.
[[noreturn]] Groups RefuseDisentangled(std::string_view model_type) {
  throw ParameterError(
      fmt::format("the model (model_type {}) has DeBERTa's relative positions, and its config does "
                  "not tell in which form: give --scheme deberta",
                  Shown(std::string(model_type))));
}

Groups RefuseRecurrent(const Section& config, Notes&) {
  RefuseOf(config.Find<std::string>("model_type").value_or(""),
           "neither attention nor a position encoding");
}

constexpr auto kKnown = std::to_array<KnownType>({
    {"albert", ReadBert},
    {"baichuan", ReadBaichuan},
    {"bert", ReadBert},
    {"bloom", ReadBloom},
    {"clip_text_model", ReadBert},
    {"deberta", ReadDeberta},
    {"deberta-v2", ReadDeberta},
    {"electra", ReadBert},
    {"falcon", ReadFalcon},
    {"longt5", ReadT5},
    {"mamba", RefuseRecurrent},
    {"mamba2", RefuseRecurrent},
    {"mpt", ReadMpt},
    {"mt5", ReadT5},
    {"rwkv", RefuseRecurrent},
    {"rwkv5", RefuseRecurrent},
    {"siglip_text_model", ReadBert},
    {"swin", ReadSwin},
    {"swinv2", ReadSwin2},
    {"switch_transformers", ReadT5},
    {"t5", ReadT5},
    {"transfo-xl", ReadTransformerXl},
    {"umt5", ReadT5},
    {"xlnet", ReadXlnet},
});

// xPos as torchscale has it: component/xpos_relative_position.py, architecture/config.py.
Groups ReadTorchscale(const Section& config, Notes& notes) {
  const bool encodes = config.Has("encoder_attention_heads");
  xpos::Params params{
      .attention = ReadAttention(config, {"decoder_attention_heads", "encoder_attention_heads"},
                                 {"decoder_embed_dim", "encoder_embed_dim"}),
      .scale_base = config.Find<double>("xpos_scale_base").value_or(512)};
  params.attention.causal = !encodes;
  notes.emplace_back(
      "torchscale counts exponents from the middle of the run, rounded up, others rounded down; it "
      "cancels where queries and keys are of one run");
  return OneGroup(params);
}

// Of a model whose code is not known, by what its keys say.
Groups ReadByKeys(const Section& config, std::string_view model_type, Notes& notes) {
  const auto refuse = [&](std::string_view has, std::string_view scheme) {
    throw ParameterError(
        fmt::format("the model (model_type {}) has {}, and its config does not tell in which form: "
                    "give --scheme {}",
                    Shown(std::string(model_type)), has, scheme));
  };
  std::string type = config.Find<std::string>("position_embedding_type").value_or("rope");
  if (type == "absolute" && FindModelType(model_type) != nullptr) {
    notes.push_back(fmt::format("{} absolute has no effect: a model of model_type {} rotates",
                                config.Name("position_embedding_type"), model_type));
    type = "rope";
  }
  if (config.Find<bool>("xpos_rel_pos").value_or(false)) return ReadTorchscale(config, notes);
  bool is_alibi = type == "alibi";
  for (std::string_view key : {"alibi", "use_alibi"}) {
    is_alibi = is_alibi || config.Find<bool>(key).value_or(false);
  }
  if (is_alibi) refuse("ALiBi biases on the scores", "alibi");
  if (config.Has("relative_attention_num_buckets")) refuse("T5's bucketed biases", "t5");
  if (config.Find<bool>("relative_attention").value_or(false)) {
    RefuseDisentangled(model_type);
  }
  bool rotates = type == "rope" || type == "rotary" || type == "rope_gptj";
  if (type == "absolute" || type == "learned") refuse("a learned position table", "learned");
  for (std::string_view key : {"use_rope", "rotary", "use_rotary_pos_emb"}) {
    rotates = rotates && config.Find<bool>(key).value_or(true);
  }
  if (rotates) return {};
  const bool none = type == "nope" || type == "none" || type == "rope" || type == "rotary";
  Require(none, "{} {} is not supported; supported: rope, nope",
          config.Name("position_embedding_type"), Shown(type));
  const auto head_dim = config.Find<int64_t>("head_dim");
  const Attention attention =
      head_dim
          ? Attention{.heads =
                          config.Get<int64_t>(config.FirstOf({"num_attention_heads", "n_head"})),
                      .head_dim = *head_dim}
          : ReadAttention(config, {"num_attention_heads", "n_head"}, {"hidden_size"});
  return OneGroup(none::Params{.attention = attention});
}

}  // namespace

Groups ReadUnrotated(const Section& config, std::string_view model_type, Notes& notes) {
  const KnownType* known = FindKnown(kKnown, model_type);
  Groups groups = ReadAddedRows(config, model_type, notes);
  if (groups.empty()) {
    groups = known ? known->read(config, notes) : ReadByKeys(config, model_type, notes);
  }
  for (const LayerGroup& group : groups) Validate(group.scheme);
  return groups;
}

}  // namespace posgauge
