#include "posgauge/schemes/model/swin.h"

#include <algorithm>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/model/patches.h"

namespace posgauge {

namespace {

using Notes = std::vector<std::string>;
using Groups = std::vector<LayerGroup>;

// One stage: its layers, heads and window.
struct Stage {
  std::vector<int64_t> layers;
  Attention attention;
  int64_t window;
};

std::vector<int64_t> GetList(const Section& config, std::string_view key) {
  const auto list = config.Get<std::vector<int64_t>>(key);
  for (int64_t entry : list) {
    Require(entry >= 1 && entry <= kLargestWidth, "{} must hold numbers in 1..{}, got {}",
            config.Name(key), kLargestWidth, entry);
  }
  return list;
}

// Every stage has twice the width and half the patches of the one before; a window is no larger
// than the stage. models/swin/modeling_swin.py, models/swinv2/modeling_swinv2.py.
std::vector<Stage> StagesOf(const Section& config) {
  const std::vector<int64_t> depths = GetList(config, "depths"),
                             heads = GetList(config, "num_heads");
  Require(depths.size() == heads.size() && depths.size() <= 8,
          "{} and {} must have as many entries, at most 8, got {} and {}", config.Name("depths"),
          config.Name("num_heads"), depths.size(), heads.size());
  int64_t width = GetPositive(config, "embed_dim"), patches = GridOf(config);
  const auto window = config.Get<int64_t>("window_size");
  std::vector<Stage> stages;
  int64_t layer = 0;
  for (size_t i = 0; i < depths.size(); ++i, width *= 2, patches = (patches + 1) / 2) {
    Require(width % heads[i] == 0, "{} makes a width of {}, which is no multiple of {} heads",
            config.Name("embed_dim"), width, heads[i]);
    Stage stage{.attention = {.heads = heads[i], .head_dim = width / heads[i], .causal = false},
                .window = std::min(window, patches)};
    for (int64_t end = layer + depths[i]; layer < end; ++layer) stage.layers.push_back(layer);
    stages.push_back(std::move(stage));
  }
  return stages;
}

void AddTable(const Section& config, Groups& groups) {
  if (!config.Find<bool>("use_absolute_embeddings").value_or(false)) return;
  const int64_t patches = GridOf(config);
  groups.push_back(
      {"patches",
       {},
       learned::Params{.width = GetPositive(config, "embed_dim"), .rows = patches * patches}});
}

}  // namespace

Groups ReadSwin(const Section& config, Notes&) {
  Groups groups;
  for (Stage& stage : StagesOf(config)) {
    groups.push_back({fmt::format("stage{}", groups.size()), std::move(stage.layers),
                      swin::Params{.attention = stage.attention,
                                   .window = {.h = stage.window, .w = stage.window}}});
  }
  AddTable(config, groups);
  return groups;
}

Groups ReadSwin2(const Section& config, Notes&) {
  std::vector<int64_t> pretrained;
  if (config.Has("pretrained_window_sizes")) {
    pretrained = config.Get<std::vector<int64_t>>("pretrained_window_sizes");
  }
  Groups groups;
  for (Stage& stage : StagesOf(config)) {
    const size_t i = groups.size();
    swin2::Params params{.attention = stage.attention,
                         .window = {.h = stage.window, .w = stage.window}};
    params.attention.scale = ScoreScale::one;
    if (stage.window == 1) params.one_token = swin2::OneToken::zero;  // transformers
    if (i < pretrained.size() && pretrained[i] > 0) {
      params.pretrained_h = params.pretrained_w = pretrained[i];
    }
    groups.push_back({fmt::format("stage{}", i), std::move(stage.layers), params});
  }
  AddTable(config, groups);
  return groups;
}

}  // namespace posgauge
