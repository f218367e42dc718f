#include "posgauge/schemes/model/config.h"

#include <algorithm>
#include <array>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/schemes/model/layers.h"
#include "posgauge/schemes/model/model_type.h"
#include "posgauge/schemes/model/rotating.h"
#include "posgauge/schemes/model/section.h"
#include "posgauge/schemes/model/unrotated.h"
#include "posgauge/schemes/model/vision.h"

namespace posgauge {

namespace {

using nlohmann::json;
using Notes = std::vector<std::string>;
using Groups = std::vector<LayerGroup>;

// The keys about rotation that are read, or are known to leave it alone.
constexpr auto kUnderstood = std::to_array<std::string_view>({"rope_theta",
                                                              "rotary_emb_base",
                                                              "global_rope_theta",
                                                              "local_rope_theta",
                                                              "rope_local_base_freq",
                                                              "rope_scaling",
                                                              "rope_parameters",
                                                              "partial_rotary_factor",
                                                              "rotary_pct",
                                                              "rope_pct",
                                                              "rotary_emb_fraction",
                                                              "rotary_dim",
                                                              "qk_rope_head_dim",
                                                              "no_rope_layers",
                                                              "no_rope_layer_interval",
                                                              "rope_interleave",
                                                              "rope_interleaved",
                                                              "rotary_emb_interleaved",
                                                              "rotary",
                                                              "use_rope",
                                                              "flash_rotary",
                                                              "rotary_value",
                                                              "use_rotary_pos_emb",
                                                              "original_rope",
                                                              "rope_3d",
                                                              "indexer_rope_interleave"});

// A key about rotation has the word "rope" or "rotary" in its name: no_rope_layers, not property.
bool IsAboutRotation(std::string_view key) {
  const std::string words = fmt::format("_{}_", key);
  return words.find("_rope_") != words.npos || words.find("_rotary_") != words.npos;
}

// Older configs of Llama 4 have a number here.
bool FindFlag(const Section& config, std::string_view key) {
  const auto at = config.Json().find(key);
  if (at != config.Json().end() && at->is_number_integer()) return config.Get<int64_t>(key) != 0;
  return config.Find<bool>(key).value_or(false);
}

void RequireUnderstood(const Section& config, const ModelType* type) {
  for (const auto& [key, value] : config.Json().items()) {
    const bool known =
        std::find(kUnderstood.begin(), kUnderstood.end(), key) != kUnderstood.end() ||
        (type && key == type->base_ratio);
    Require(value.is_null() || known || !IsAboutRotation(key),
            "{} is not understood and may change the rotation", config.Name(key));
  }
  Require(!config.Find<bool>("rotary_value").value_or(false),
          "{} is not supported: the values rotate too", config.Name("rotary_value"));
  const bool qwen = config.Find<std::string>("model_type").value_or("") == "qwen";
  Require(qwen || !HasQwenNtk(config),
          "{} is not understood for a model_type other than qwen, whose own code has it",
          config.Name("use_dynamic_ntk"));
}

// A model of which nothing is known: neither its code nor any key tells of positions.
void RequireKnown(const Section& config, const ModelType* type, const ConfigOverrides& overrides,
                  const std::string& model_type) {
  if (type != nullptr || overrides.pairing) return;
  bool is_told = false;
  for (const auto& [key, value] : config.Json().items()) {
    const bool about = std::find(kUnderstood.begin(), kUnderstood.end(), key) != kUnderstood.end();
    is_told = is_told || (!value.is_null() && (about || IsAboutRotation(key)));
  }
  Require(is_told,
          "model_type {} is not known, and no key of the config tells of its positions: give "
          "--scheme NAME, or --pairing half or interleaved if it rotates",
          Shown(model_type));
}

// The key of the part about text of a multimodal config; empty where the whole is about text.
std::string_view TextKey(const Section& whole) {
  for (std::string_view key : {"text_config", "language_config", "llm_config"}) {
    if (whole.Has(key)) return key;
  }
  return "";
}

constexpr std::string_view kVision = "vision_config";

// Adds what a multimodal config says of its vision part. What that lacks is noted and no refusal:
// the text can be read without it.
void AddVision(const Section& whole, std::string_view text_key, ModelConfig& model) {
  Groups groups;
  if (const auto vision = whole.FindSection(kVision)) {
    const std::string type = vision->Find<std::string>("model_type")
                                 .value_or(whole.Find<std::string>("model_type").value_or(""));
    Notes notes;
    try {
      groups = ReadVision(*vision, type, notes);
      if (groups.empty()) {
        model.notes.push_back(
            fmt::format("{} is not read: its model_type {} is not known", kVision, Shown(type)));
      }
    } catch (const ParameterError& error) {
      model.notes.push_back(fmt::format("{} is not read: {}", kVision, error.what()));
    }
    for (const std::string& note : notes) model.notes.push_back(fmt::format("vision: {}", note));
  }
  if (groups.empty() && !text_key.empty()) {
    model.notes.push_back(fmt::format("multimodal: only {} is read", text_key));
  }
  for (LayerGroup& group : groups) model.groups.push_back(std::move(group));
}

// Heads and the longest context, where the config or the model's code tells.
void ReadSizes(const Section& config, const ModelType* type, ModelConfig& model) {
  constexpr int64_t kMostHeads = 65536;
  const bool staged = config.Has("num_heads") && config.Json()["num_heads"].is_array();  // Swin
  if (!staged) {
    model.num_attention_heads =
        config.FindCount({"num_attention_heads", "n_head", "n_heads", "num_heads"}, kMostHeads);
  }
  model.num_key_value_heads =
      config.FindCount({"num_key_value_heads", "multi_query_group_num"}, kMostHeads);
  Require(!model.num_attention_heads || !model.num_key_value_heads ||
              *model.num_attention_heads % *model.num_key_value_heads == 0,
          "{} must be a multiple of {} {}, got {}", config.Name("num_attention_heads"),
          config.Name("num_key_value_heads"), model.num_key_value_heads.value_or(0),
          model.num_attention_heads.value_or(0));
  model.max_position =
      config.FindCount({"max_position_embeddings", "n_positions", "seq_length"}, kLargestLength);
  if (!model.max_position && type && type->max_position != 0) {
    model.max_position = type->max_position;
    model.notes.push_back(fmt::format(
        "max_position_embeddings is not in the config: {} is what model_type {} fills in",
        type->max_position, type->name));
  }
}

// Of a model that rotates nothing; older configs have names of their own.
void ReadUnrotatedSizes(const Section& config, ModelConfig& model) {
  if (!model.max_position) {
    model.max_position =
        config.FindCount({"max_seq_len", "seq_length", "model_max_length"}, kLargestLength);
  }
  model.num_hidden_layers = ReadLayerCount(config);
}

void KeepFirstOfEach(Notes& notes) {
  Notes kept;
  for (std::string& note : notes) {
    if (std::find(kept.begin(), kept.end(), note) == kept.end()) kept.push_back(std::move(note));
  }
  notes = std::move(kept);
}

void NoteUselessLength(const ConfigOverrides& overrides, ModelConfig& model) {
  const bool by_length =
      std::any_of(model.groups.begin(), model.groups.end(), [](const LayerGroup& group) {
        return !ToJson(group.scheme).value("length", nlohmann::ordered_json()).is_null();
      });
  if (overrides.length && !by_length) {
    model.notes.push_back("the given length has no effect: no frequency depends on it");
  }
}

// Llama 4's layers that do not rotate; floor_scale and attn_scale have defaults in
// Llama4TextConfig.
void AddTemperature(const Section& config, const ModelType* type, ModelConfig& model) {
  const auto head_dim = config.Find<int64_t>("head_dim");
  Require(model.num_attention_heads && (head_dim || (type && type->head_dim != 0)),
          "{} needs num_attention_heads and head_dim", config.Name("attn_temperature_tuning"));
  const none::Params params{
      .attention = {.heads = *model.num_attention_heads,
                    .head_dim = head_dim ? *head_dim : type->head_dim},
      .temperature_floor_scale = config.Find<int64_t>("floor_scale").value_or(8192),
      .temperature_scale = config.Find<double>("attn_scale").value_or(0.1)};
  for (UnrotatedLayers& unrotated : model.unrotated) {
    if (unrotated.kind != "nope" && unrotated.kind != "full_attention") continue;
    unrotated.scheme = params;
    Validate(*unrotated.scheme);
  }
}

ModelConfig ReadText(const json& root, const std::string& source,
                     const ConfigOverrides& overrides) {
  ModelConfig model;
  model.source = source;
  const Section whole(root, "");
  const std::string_view text_key = TextKey(whole);
  const Section config = text_key.empty() ? whole : whole.GetSection(text_key);
  model.model_type = config.Find<std::string>("model_type")
                         .value_or(config.Find<std::string>("_class_name").value_or(""));
  const ModelType* type = FindModelType(model.model_type);
  if (whole.Has("vision_cfg")) model.groups = ReadOpenClip(whole, model.notes);
  if (model.groups.empty() && !whole.Has(kVision)) {
    model.groups = ReadVision(config, model.model_type, model.notes);
  }
  if (model.groups.empty()) model.groups = ReadUnrotated(config, model.model_type, model.notes);
  if (!model.groups.empty()) {
    ReadSizes(config, type, model);
    ReadUnrotatedSizes(config, model);
    AddVision(whole, text_key, model);
    return model;
  }
  RequireUnderstood(config, type);
  RequireKnown(config, type, overrides, model.model_type);
  const Layers layers = ReadLayers(config, type, model.notes);
  model.num_hidden_layers = layers.count;
  ReadSizes(config, type, model);
  ReadRotating(config, type, overrides, layers, model);
  for (auto& [kind, indices] : layers.Unrotated()) {
    model.unrotated.push_back({std::move(kind), std::move(indices), {}});
  }
  if (config.Find<bool>("use_logn_attn").value_or(false)) {
    model.notes.push_back(fmt::format(
        "{}: queries beyond seq_length are also multiplied by ln(position + 1)/ln(seq_length), "
        "which is outside the rotation and not part of this scheme",
        config.Name("use_logn_attn")));
  }
  if (FindFlag(config, "attn_temperature_tuning")) AddTemperature(config, type, model);
  AddVision(whole, text_key, model);
  return model;
}

}  // namespace

ModelConfig ModelConfigFromJson(const json& root, const std::string& source,
                                const ConfigOverrides& overrides) {
  try {
    ModelConfig model = ReadText(root, source, overrides);
    NoteUselessLength(overrides, model);
    KeepFirstOfEach(model.notes);
    return model;
  } catch (const ParameterError& error) {
    throw ParameterError(fmt::format("{}: {}", source, error.what()));
  }
}

ModelConfig ReadModelConfig(const std::filesystem::path& path, const ConfigOverrides& overrides) {
  return ModelConfigFromJson(ReadJson(path), path.string(), overrides);
}

}  // namespace posgauge
