#include "posgauge/schemes/model/relative_scores.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "posgauge/schemes/model/added_rows.h"
#include "posgauge/schemes/model/attention_heads.h"

namespace posgauge {

namespace {

using Notes = std::vector<std::string>;
using Groups = std::vector<LayerGroup>;

// clamp_len, where it clamps.
std::optional<int64_t> ReadClamp(const Section& config) {
  const auto clamp = config.Find<int64_t>("clamp_len");
  return clamp && *clamp > 0 ? clamp : std::nullopt;
}

void NoteSameLength(const Section& config, Notes& notes) {
  if (!config.Find<bool>("same_length").value_or(false)) return;
  notes.push_back(fmt::format("{}: every query sees as many keys, which is the mask's affair",
                              config.Name("same_length")));
}

// The terms besides content that a string "c2p|p2c" or a list of both words names; of a string, as
// DebertaV2Config splits it: in lower case, without the spaces around.
std::vector<std::string> TermsOf(const Section& config) {
  constexpr std::string_view kKey = "pos_att_type";
  std::vector<std::string> terms;
  if (!config.Has(kKey)) return terms;
  const nlohmann::json& value = *config.Json().find(kKey);
  if (value.is_array()) {
    terms = config.Get<std::vector<std::string>>(kKey);
  } else {
    Require(value.is_string(), "{} must be a string or a list of strings, got {}",
            config.Name(kKey), Shown(value));
    std::istringstream text(value.get<std::string>());
    for (std::string term; std::getline(text, term, '|');) {
      term.erase(0, term.find_first_not_of(' '));
      term.erase(term.find_last_not_of(' ') + 1);
      for (char& letter : term)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
      terms.push_back(term);
    }
  }
  for (const std::string& term : terms) {
    Require(term == "c2p" || term == "p2c", "{} {} is not supported; supported: c2p, p2c",
            config.Name(kKey), Shown(term));
  }
  return terms;
}

}  // namespace

// models/deberta_v2/modeling_deberta_v2.py, DisentangledSelfAttention; models/deberta has no
// buckets. Both give p2c the index of c2p.
Groups ReadDeberta(const Section& config, Notes& notes) {
  const std::string type = config.Get<std::string>("model_type");
  const auto rows = config.Get<int64_t>("max_position_embeddings");
  Groups groups;
  if (config.Find<bool>("relative_attention").value_or(false)) {
    const std::vector<std::string> terms = TermsOf(config);
    if (terms.empty()) {
      notes.push_back(fmt::format("{} names neither c2p nor p2c: scores hold content alone",
                                  config.Name("pos_att_type")));
    }
    deberta::Params params{
        .attention = ReadAttention(config, {"num_attention_heads"}, {"hidden_size"}),
        .position_buckets = 0,
        .max_position = config.Find<int64_t>("max_relative_positions").value_or(-1),
        .c2p = std::find(terms.begin(), terms.end(), "c2p") != terms.end(),
        .p2c = std::find(terms.begin(), terms.end(), "p2c") != terms.end(),
        .far = deberta::Far::bucket};
    params.attention.causal = false;
    if (params.max_position < 1) params.max_position = rows;
    const int64_t buckets = config.Find<int64_t>("position_buckets").value_or(-1);
    if (type == "deberta-v2" && buckets > 0) {
      params.position_buckets = buckets;
      notes.emplace_back(
          "distances of max_position and more are put into buckets as they are, as in "
          "transformers; "
          "microsoft/DeBERTa clamps them first: --set far=clamp");
    }
    groups = OneGroup(params);
  }
  if (config.Find<bool>("position_biased_input").value_or(true)) {
    groups.push_back({groups.empty() ? "all" : "embeddings",
                      {},
                      TableOf(config, {"hidden_size"}, {"max_position_embeddings"})});
  }
  Require(!groups.empty(), "{} and {} are both false: the model has no positions",
          config.Name("relative_attention"), config.Name("position_biased_input"));
  return groups;
}

// models/deprecated/transfo_xl: RelPartialLearnableMultiHeadAttn.
Groups ReadTransformerXl(const Section& config, Notes& notes) {
  Require(config.Find<int64_t>("attn_type").value_or(0) == 0, "{} must be 0, got {}",
          config.Name("attn_type"), config.Find<int64_t>("attn_type").value_or(0));
  transformer_xl::Params params{.attention = {.heads = config.Get<int64_t>("n_head"),
                                              .head_dim = config.Get<int64_t>("d_head")},
                                .model_width = config.Get<int64_t>("d_model")};
  params.clamp_length = ReadClamp(config);
  NoteSameLength(config, notes);
  return OneGroup(params);
}

// models/xlnet/modeling_xlnet.py: Transformer-XL's scores, to both sides where attn_type is "bi";
// clamp_len holds for both. What it adds for segments tells of no position.
Groups ReadXlnet(const Section& config, Notes& notes) {
  const std::string type = config.Find<std::string>("attn_type").value_or("bi");
  Require(type == "bi" || type == "uni", "{} must be bi or uni, got {}", config.Name("attn_type"),
          Shown(type));
  transformer_xl::Params params{.attention = ReadAttention(config, {"n_head"}, {"d_model"}),
                                .model_width = config.Get<int64_t>("d_model")};
  params.attention.causal = type == "uni";
  params.clamp_length = ReadClamp(config);
  Require(!params.clamp_length || params.attention.causal,
          "{} is not supported where attn_type is bi: it clamps offsets of both signs",
          config.Name("clamp_len"));
  NoteSameLength(config, notes);
  notes.emplace_back("scores of segments (r_s_bias) are added besides, which tell of no position");
  return OneGroup(params);
}

}  // namespace posgauge
