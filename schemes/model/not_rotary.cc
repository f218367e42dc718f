#include "posgauge/schemes/model/not_rotary.h"

#include <algorithm>
#include <array>

namespace posgauge {

namespace {

constexpr std::string_view kAlibi = "ALiBi biases on the scores";
constexpr std::string_view kBuckets = "T5's bucketed biases on the scores";
constexpr std::string_view kDisentangled = "DeBERTa's relative position embeddings";
constexpr std::string_view kLearned = "a learned position table";
constexpr std::string_view kSinusoidal = "a sinusoidal position table";
constexpr std::string_view kNone = "no position encoding";

struct Known {
  std::string_view model_type, has;
};

constexpr auto kModelTypes = std::to_array<Known>({
    {"albert", kLearned},      {"bart", kLearned},         {"bert", kLearned},
    {"bloom", kAlibi},         {"deberta", kDisentangled}, {"deberta-v2", kDisentangled},
    {"distilbert", kLearned},  {"electra", kLearned},      {"gpt2", kLearned},
    {"gpt_bigcode", kLearned}, {"gpt_neo", kLearned},      {"longt5", kBuckets},
    {"m2m_100", kSinusoidal},  {"mamba", kNone},           {"mamba2", kNone},
    {"marian", kSinusoidal},   {"mt5", kBuckets},          {"openai-gpt", kLearned},
    {"opt", kLearned},         {"pegasus", kSinusoidal},   {"roberta", kLearned},
    {"rwkv", kNone},           {"rwkv5", kNone},           {"switch_transformers", kBuckets},
    {"t5", kBuckets},          {"umt5", kBuckets},         {"whisper", kLearned},
    {"xglm", kSinusoidal},     {"xlm-roberta", kLearned},
});

// What the keys say, or empty.
std::string_view FromKeys(const Section& config) {
  for (std::string_view key : {"alibi", "use_alibi"}) {
    if (config.Find<bool>(key).value_or(false)) return kAlibi;
  }
  if (const auto attention = config.FindSection("attn_config")) {  // MPT
    if (attention->Find<bool>("alibi").value_or(false)) return kAlibi;
  }
  if (config.Has("relative_attention_num_buckets")) return kBuckets;
  if (config.Has("relative_attention")) {
    if (config.Get<bool>("relative_attention")) return kDisentangled;
  }
  for (std::string_view key : {"use_rope", "rotary"}) {
    if (!config.Find<bool>(key).value_or(true)) return kNone;
  }
  const std::string type = config.Find<std::string>("position_embedding_type").value_or("rope");
  if (type == "rope" || type == "rotary" || type == "rope_gptj") return {};
  if (type == "alibi") return kAlibi;
  if (type == "absolute" || type == "learned") return kLearned;
  if (type == "nope" || type == "none") return kNone;
  throw ParameterError(fmt::format("{} {} is not supported; supported: rope",
                                   config.Name("position_embedding_type"), Shown(type)));
}

}  // namespace

void RequireRotary(const Section& config, std::string_view model_type) {
  const auto* known = std::find_if(kModelTypes.begin(), kModelTypes.end(),
                                   [&](const Known& k) { return k.model_type == model_type; });
  const std::string_view has = known != kModelTypes.end() ? known->has : FromKeys(config);
  Require(has.empty(),
          "the model (model_type {}) has {} and rotates nothing; only rotary models are served",
          Shown(std::string(model_type)), has);
}

}  // namespace posgauge
