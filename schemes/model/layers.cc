#include "posgauge/schemes/model/layers.h"

#include <algorithm>
#include <array>

namespace posgauge {

namespace {

using Notes = std::vector<std::string>;

constexpr std::string_view kGlobal = "full_attention";
constexpr std::string_view kLocal = "sliding_attention";
constexpr std::array<std::string_view, 3> kAttention = {kGlobal, kLocal, "chunked_attention"};
constexpr std::string_view kRecurrent = "linear_attention";
constexpr std::array<std::string_view, 3> kOther = {kRecurrent, "conv", "mamba"};

template <size_t N>
bool Contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const nlohmann::json& ListOfLayers(const Section& config, std::string_view key,
                                   const std::optional<int64_t>& count) {
  const nlohmann::json& list = *config.Json().find(key);
  Require(list.is_array(), "{} must be a list, got {}", config.Name(key), Shown(list));
  Require(!count || list.size() == static_cast<size_t>(*count),
          "{} must have one entry a layer ({}), got {}", config.Name(key), count.value_or(0),
          list.size());
  return list;
}

// Every n-th layer is special; n from one of `keys`, else the model_type's.
int64_t ReadInterval(const Section& config, std::initializer_list<std::string_view> keys,
                     int64_t if_none) {
  for (std::string_view key : keys) {
    const auto interval = config.Find<int64_t>(key);
    if (!interval) continue;
    Require(*interval >= 1, "{} must be at least 1, got {}", config.Name(key), *interval);
    return *interval;
  }
  return if_none;
}

std::vector<std::string> ReadKinds(const Section& config, const ModelType* type,
                                   const std::optional<int64_t>& count) {
  std::vector<std::string> kinds;
  if (config.Has("layer_types")) {
    for (const nlohmann::json& entry : ListOfLayers(config, "layer_types", count)) {
      FromJson(config.Name("layer_types"), entry, kinds.emplace_back());
      Require(Contains(kAttention, kinds.back()) || Contains(kOther, kinds.back()),
              "{} names {}; known are {}, {}", config.Name("layer_types"), Shown(kinds.back()),
              fmt::join(kAttention, ", "), fmt::join(kOther, ", "));
    }
    return kinds;
  }
  if (!type || !count) return kinds;
  const bool attends = type->rule == LayerRule::every_nth_attends;
  if (!attends && type->rule != LayerRule::local_base && type->rule != LayerRule::global_without) {
    return kinds;
  }
  const int64_t interval = attends
                               ? ReadInterval(config, {"full_attention_interval"}, type->interval)
                               : ReadInterval(config,
                                              {"sliding_window_pattern", "_sliding_window_pattern",
                                               "global_attn_every_n_layers"},
                                              type->interval);
  const int64_t shift = type->global == GlobalLayer::last ? 1 : 0;
  for (int64_t layer = 0; layer < *count; ++layer) {
    kinds.emplace_back((layer + shift) % interval == 0 ? kGlobal : attends ? kRecurrent : kLocal);
  }
  return kinds;
}

// no_rope_layers holds, against its name, 1 for a layer that rotates.
std::vector<bool> ReadRotates(const Section& config, const ModelType* type, const Layers& layers) {
  if (!layers.count) return {};
  const auto count = static_cast<size_t>(*layers.count);
  std::vector<bool> rotates(count, true);
  const bool listed = config.Has("no_rope_layers") && !config.Json()["no_rope_layers"].empty();
  if (listed) {
    const nlohmann::json& list = ListOfLayers(config, "no_rope_layers", layers.count);
    for (size_t layer = 0; layer < count; ++layer) {
      int64_t flag = 0;
      FromJson(config.Name("no_rope_layers"), list[layer], flag);
      Require(flag == 0 || flag == 1, "{} must hold 0 and 1, got {}", config.Name("no_rope_layers"),
              flag);
      rotates[layer] = flag == 1;
    }
  } else if (config.Has("no_rope_layer_interval") ||
             (type && type->rule == LayerRule::every_nth_without)) {
    const int64_t interval =
        ReadInterval(config, {"no_rope_layer_interval"}, type ? type->interval : 1);
    for (size_t layer = 0; layer < count; ++layer) {
      rotates[layer] = (static_cast<int64_t>(layer) + 1) % interval != 0;
    }
  }
  for (size_t layer = 0; layer < layers.kinds.size(); ++layer) {
    const std::string& kind = layers.kinds[layer];
    const bool global = type && type->rule == LayerRule::global_without && kind == kGlobal;
    if (global || Contains(kOther, kind)) rotates[layer] = false;
  }
  return rotates;
}

// Where the model's own code decides what a key about layers means, and that code is not known, the
// layers read here may be wrong.
void NoteUnreadKeys(const Section& config, const ModelType* type, const Layers& layers,
                    Notes& notes) {
  constexpr std::array<std::string_view, 6> kKeys = {
      "sliding_window_pattern",  "_sliding_window_pattern", "global_attn_every_n_layers",
      "full_attention_interval", "attn_layer_period",       "local_attention_period"};
  if (type || !layers.kinds.empty()) return;
  for (std::string_view key : kKeys) {
    if (!config.Has(key)) continue;
    notes.push_back(fmt::format(
        "warning: {} is not understood for a model_type that is not known: every layer is taken to "
        "rotate alike",
        config.Name(key)));
  }
}

}  // namespace

std::optional<int64_t> ReadLayerCount(const Section& config) {
  constexpr int64_t kMost = 65536;  // keeps a typing error from asking for gigabytes
  return config.FindCount({"num_hidden_layers", "n_layer", "n_layers", "num_layers"}, kMost);
}

bool IsAttention(std::string_view kind) { return Contains(kAttention, kind); }

std::vector<int64_t> Layers::Rotating(const std::string& kind) const {
  std::vector<int64_t> indices;
  for (size_t layer = 0; layer < rotates.size(); ++layer) {
    const bool wanted = kind.empty() || (!kinds.empty() && kinds[layer] == kind);
    if (rotates[layer] && wanted) indices.push_back(static_cast<int64_t>(layer));
  }
  return indices;
}

std::vector<std::string> Layers::RotatingKinds() const {
  std::vector<std::string> found;
  for (size_t layer = 0; layer < kinds.size(); ++layer) {
    const bool known = std::find(found.begin(), found.end(), kinds[layer]) != found.end();
    if (rotates[layer] && !known) found.push_back(kinds[layer]);
  }
  return found;
}

std::vector<std::pair<std::string, std::vector<int64_t>>> Layers::Unrotated() const {
  const std::vector<std::string> rotating = RotatingKinds();
  std::vector<std::pair<std::string, std::vector<int64_t>>> unrotated;
  for (size_t layer = 0; layer < rotates.size(); ++layer) {
    if (rotates[layer]) continue;
    const bool told = !kinds.empty() &&
                      std::find(rotating.begin(), rotating.end(), kinds[layer]) == rotating.end();
    const std::string kind = told ? kinds[layer] : "nope";
    auto at = std::find_if(unrotated.begin(), unrotated.end(),
                           [&](const auto& entry) { return entry.first == kind; });
    if (at == unrotated.end()) at = unrotated.insert(at, {kind, {}});
    at->second.push_back(static_cast<int64_t>(layer));
  }
  return unrotated;
}

Layers ReadLayers(const Section& config, const ModelType* type, Notes& notes) {
  Layers layers{.count = ReadLayerCount(config)};
  layers.kinds = ReadKinds(config, type, layers.count);
  if (!layers.kinds.empty()) layers.count = static_cast<int64_t>(layers.kinds.size());
  layers.rotates = ReadRotates(config, type, layers);
  NoteUnreadKeys(config, type, layers, notes);
  Require(layers.rotates.empty() || !layers.Rotating().empty(), "no layer rotates");
  if (!layers.count && type && type->rule != LayerRule::uniform &&
      type->rule != LayerRule::local_base) {
    notes.push_back(fmt::format(
        "num_hidden_layers is not in the config: model_type {} has layers without rotation, every "
        "{}th",
        type->name, type->interval));
  }
  return layers;
}

}  // namespace posgauge
