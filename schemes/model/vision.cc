#include "posgauge/schemes/model/vision.h"

#include <algorithm>
#include <array>

#include "posgauge/schemes/base/domain.h"

namespace posgauge {

namespace {

using Notes = std::vector<std::string>;
using Groups = std::vector<LayerGroup>;

int64_t RequirePositive(const std::string& name, int64_t value) {
  Require(value >= 1 && value <= kLargestWidth, "{} must be in 1..{}, got {}", name, kLargestWidth,
          value);
  return value;
}

int64_t GetPositive(const Section& config, std::string_view key) {
  return RequirePositive(config.Name(key), config.Get<int64_t>(key));
}

// One side of a square that configs write as a number or as [height, width].
int64_t GetSide(const Section& config, std::string_view key) {
  const auto at = config.Json().find(key);
  const bool listed = at != config.Json().end() && at->is_array();
  if (!listed) return GetPositive(config, key);
  Require(at->size() == 2 && at->front().is_number_integer() && at->front() == at->back(),
          "{} must be one number or two that are equal, got {}", config.Name(key), Shown(*at));
  return RequirePositive(config.Name(key), at->front().get<int64_t>());
}

// Patches of a side of the square image that the config is for.
int64_t GridOf(const Section& config) {
  const int64_t image = GetSide(config, "image_size"), patch = GetSide(config, "patch_size");
  Require(image >= patch, "{} must be at least {} {}, got {}", config.Name("image_size"),
          config.Name("patch_size"), patch, image);
  return image / patch;
}

std::vector<int64_t> LayersOf(const Section& config, std::string_view key) {
  std::vector<int64_t> layers;
  if (!config.Has(key)) return layers;
  for (int64_t layer = 0; layer < GetPositive(config, key); ++layer) layers.push_back(layer);
  return layers;
}

Groups Added(Scheme scheme) { return {{"vision", {}, std::move(scheme)}}; }

// A row a patch, after those of class tokens and the like.
learned::Params TableOf(const Section& config, int64_t prefix) {
  const int64_t grid = GridOf(config);
  return {.width = GetPositive(config, "hidden_size"), .rows = prefix + grid * grid};
}

void NoteOtherSizes(Notes& notes) {
  notes.emplace_back(
      "rows are those of the config's image_size; images of another size have the table "
      "resampled, which is the scheme resampled");
}

// models/vit/modeling_vit.py, models/clip/modeling_clip.py: a class token before the patches.
Groups ReadVit(const Section& config, Notes& notes) {
  NoteOtherSizes(notes);
  return Added(TableOf(config, 1));
}

// models/deit/modeling_deit.py: a class and a distillation token.
Groups ReadDeit(const Section& config, Notes& notes) {
  NoteOtherSizes(notes);
  return Added(TableOf(config, 2));
}

// models/siglip/modeling_siglip.py: patches alone.
Groups ReadSiglip(const Section& config, Notes& notes) {
  NoteOtherSizes(notes);
  return Added(TableOf(config, 0));
}

// interpolate_pos_encoding of models/dinov2 and models/dinov2_with_registers: bicubic to the
// image's grid, which the config does not hold; the registers of the latter have no row, and its
// filter is antialiased.
Groups ReadResampled(const Section& config, Notes& notes, bool antialias) {
  const int64_t grid = GridOf(config);
  notes.emplace_back(
      "the table is resampled to the image's grid, which no config holds: give --set target_h=N "
      "--set target_w=N; the authors' code adds offset 0.1 to the target's size in releases "
      "without registers, transformers does not");
  return Added(resampled::Params{.width = GetPositive(config, "hidden_size"),
                                 .grid_h = grid,
                                 .grid_w = grid,
                                 .target_h = grid,
                                 .target_w = grid,
                                 .cubic = antialias ? -0.5 : -0.75,
                                 .antialias = antialias});
}
Groups ReadDinov2(const Section& config, Notes& notes) {
  return ReadResampled(config, notes, /*antialias=*/false);
}
Groups ReadDinov2WithRegisters(const Section& config, Notes& notes) {
  return ReadResampled(config, notes, /*antialias=*/true);
}

// get_2d_sincos_pos_embed of models/vit_mae/modeling_vit_mae.py, in encoder and decoder; a row of
// zeros for the class token.
Groups ReadMae(const Section& config, Notes&) {
  const int64_t grid = GridOf(config);
  sincos2d::Params encoder{
      .width = GetPositive(config, "hidden_size"), .grid_h = grid, .grid_w = grid, .prefix = 1};
  sincos2d::Params decoder = encoder;
  decoder.width = config.Has("decoder_hidden_size") ? GetPositive(config, "decoder_hidden_size")
                                                    : 512;  // ViTMAEConfig
  return {{"encoder", {}, encoder}, {"decoder", {}, decoder}};
}

struct Known {
  std::string_view model_type;
  Groups (*read)(const Section&, Notes&);
  std::string_view layers_key = "num_hidden_layers";
};

constexpr auto kKnown = std::to_array<Known>({
    {"clip_vision_model", ReadVit},
    {"deit", ReadDeit},
    {"dinov2", ReadDinov2},
    {"dinov2_with_registers", ReadDinov2WithRegisters},
    {"siglip_vision_model", ReadSiglip},
    {"vit", ReadVit},
    {"vit_mae", ReadMae},
});

}  // namespace

Groups ReadVision(const Section& config, std::string_view model_type, Notes& notes) {
  const auto* known = std::find_if(kKnown.begin(), kKnown.end(),
                                   [&](const Known& k) { return k.model_type == model_type; });
  if (known == kKnown.end()) return {};
  Groups groups = known->read(config, notes);
  for (LayerGroup& group : groups) {
    Validate(group.scheme);
    const bool acts = IsRotary(group.scheme) || ActsInAttention(group.scheme);
    if (acts) group.layers = LayersOf(config, known->layers_key);
  }
  return groups;
}

}  // namespace posgauge
