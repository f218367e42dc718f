#pragma once

#include <cstdint>
#include <string_view>

#include "posgauge/schemes/base/rotary.h"
#include "posgauge/schemes/mrope.h"

namespace posgauge {

/// Which layers of a model rotate, and how its local and global layers differ, where its own code
/// decides that and not the config.
enum class LayerRule {
  uniform,            // every attention layer rotates alike, whatever its window
  local_base,         // local layers: a base of their own and no scaling
  global_without,     // global layers do not rotate
  every_nth_without,  // every n-th layer does not rotate (no_rope_layers)
  every_nth_attends,  // every n-th layer has attention, the others are recurrent
};

/// Where the global layers lie when the config has no layer_types: layer l of every `interval`, the
/// last of each group (l + 1) % interval == 0, or the first, l % interval == 0.
enum class GlobalLayer { last, first };

/// What a config leaves to the code of its model_type. Only types whose code has been read, or
/// whose layout is beyond doubt, are known; 0 means that the config must say it.
struct ModelType {
  std::string_view name;
  Pairing pairing;
  double base = 10000;    // when the config gives none
  double fraction = 1;    // of the head that rotates, when the config gives none
  int64_t head_dim = 0;   // when the config gives none; 0: hidden_size / num_attention_heads
  bool deepseek = false;  // YaRN's magnitude by DeepSeek's rule
  LayerRule rule = LayerRule::uniform;
  int64_t interval = 0;  // for the rules about layers, when the config gives none
  GlobalLayer global = GlobalLayer::last;
  double local_base = 0;        // for local_base, when the config gives none
  int64_t global_head_dim = 0;  // of full_attention layers, when the config gives none; 0: head_dim
  int64_t max_position = 0;     // when the config gives none
  std::string_view base_ratio;  // the key, if any, of a factor on the base
  mrope::Order order = mrope::Order::contiguous;  // where mrope_section gives pairs to axes
};

/// nullptr for a model_type that is not known.
const ModelType* FindModelType(std::string_view name);

}  // namespace posgauge
