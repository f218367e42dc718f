#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "posgauge/schemes/base/scheme.h"

namespace posgauge {

/// What a config.json does not say and the caller must, where the model needs it.
struct ConfigOverrides {
  std::optional<Pairing> pairing;  // a model_type whose pairing is not known
  std::optional<int64_t> length;   // tokens; schedules that depend on the current length
};

/// Layers that share one scheme.
struct LayerGroup {
  std::string kind;             // "all", "vision", or the config's own word: "sliding_attention"
  std::vector<int64_t> layers;  // indices from 0; empty where the config does not tell
  Scheme scheme;
  std::optional<int64_t> positions = {};  // tokens, where it has a number of its own
};

/// Layers of one kind that do not rotate (NoPE layers, or layers without attention).
struct UnrotatedLayers {
  std::string kind;  // the config's own word, or "nope" where that does not tell them apart
  std::vector<int64_t> layers;        // indices from 0
  std::optional<Scheme> scheme = {};  // none with a temperature, where they have one
};

/// A published model config, read as what it means.
struct ModelConfig {
  std::string source, model_type;
  std::optional<int64_t> num_attention_heads, num_key_value_heads, num_hidden_layers;
  std::optional<int64_t> max_position;  // tokens, max_position_embeddings
  std::optional<int64_t> length;        // tokens, the current length that the caller gave

  /// Positions that matter, from 0: the current length where it is given, else the config's
  /// maximum, else 131072.
  int64_t Positions() const { return length.value_or(max_position.value_or(131072)); }

  std::vector<LayerGroup> groups;  // at least one
  std::vector<UnrotatedLayers> unrotated;
  std::string pairing_source;  // "model_type llama" or "given"
  /// Facts that a reader should know: a default that the model's own code fills in, a key that has
  /// no effect, a known disagreement between frameworks that the config touches.
  std::vector<std::string> notes;
};

/// Reads a config.json as it is published: rope_theta, rope_scaling (legacy) and rope_parameters
/// (flat or nested per layer type), partial_rotary_factor, head_dim, local and global bases; of a
/// multimodal one the part about text, and vision_config where its model_type is known. Throws
/// FileError, FormatError (malformed JSON, NaN, huge numbers) and ParameterError (unknown rope
/// type, impossible or missing value), each one line that begins with the source.
ModelConfig ReadModelConfig(const std::filesystem::path& path, const ConfigOverrides& overrides);

/// The same from parsed JSON; `source` names it in messages.
ModelConfig ModelConfigFromJson(const nlohmann::json& json, const std::string& source,
                                const ConfigOverrides& overrides);

}  // namespace posgauge
