#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "posgauge/schemes/model/model_type.h"
#include "posgauge/schemes/model/section.h"

namespace posgauge {

/// Whether a word names a kind of layer with attention: full_attention, sliding_attention,
/// chunked_attention.
bool IsAttention(std::string_view kind);

/// num_hidden_layers, or an older name of it. Throws ParameterError.
std::optional<int64_t> ReadLayerCount(const Section& config);

/// The layers of a model as its config has them.
struct Layers {
  std::optional<int64_t> count = {};    // num_hidden_layers
  std::vector<std::string> kinds = {};  // one a layer, "full_attention"; empty where unknown
  std::vector<bool> rotates = {};       // one a layer; empty where count is unknown

  /// The rotating layers, of `kind` unless that is empty; from 0.
  std::vector<int64_t> Rotating(const std::string& kind = "") const;

  /// The kinds that some rotating layer has, each once, in the order of layers.
  std::vector<std::string> RotatingKinds() const;

  /// The other layers by their kind, in the order of layers; "nope" where the kind is not known or
  /// other layers of it rotate.
  std::vector<std::pair<std::string, std::vector<int64_t>>> Unrotated() const;
};

/// Reads layer_types, or the pattern that the model_type's code lays out (sliding_window_pattern,
/// global_attn_every_n_layers, full_attention_interval), and which layers rotate (no_rope_layers,
/// no_rope_layer_interval, kinds without attention). Appends a note where only the number of layers
/// would tell which do not rotate. `type` may be nullptr. Throws ParameterError: a list of the
/// wrong length, an unknown kind, an interval below 1.
Layers ReadLayers(const Section& config, const ModelType* type, std::vector<std::string>& notes);

}  // namespace posgauge
