#include "posgauge/schemes/model/vision.h"

#include <array>
#include <cmath>

#include "posgauge/schemes/model/known_type.h"
#include "posgauge/schemes/model/patches.h"
#include "posgauge/schemes/model/vision_axial.h"

namespace posgauge {

namespace {

using Notes = std::vector<std::string>;
using Groups = std::vector<LayerGroup>;

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

void NoteTarget(Notes& notes) {
  notes.emplace_back(
      "the table is resampled to the image's grid, which no config holds: give --set target_h=N "
      "--set target_w=N");
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
  NoteTarget(notes);
  notes.emplace_back(
      "the authors' code adds offset 0.1 to the target's size in releases without registers, "
      "transformers does not");
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
Groups ReadMae(const Section& config, Notes& notes) {
  constexpr std::string_view kDecoderWidth = "decoder_hidden_size";
  const int64_t grid = GridOf(config);
  sincos2d::Params encoder{
      .width = GetPositive(config, "hidden_size"), .grid_h = grid, .grid_w = grid, .prefix = 1};
  sincos2d::Params decoder = encoder;
  if (config.Has(kDecoderWidth)) {
    decoder.width = GetPositive(config, kDecoderWidth);
  } else {
    decoder.width = 512;  // ViTMAEConfig
    notes.push_back(fmt::format("{} is not in the config: {} is what model_type vit_mae fills in",
                                config.Name(kDecoderWidth), decoder.width));
  }
  return {{"encoder", {}, encoder}, {"decoder", {}, decoder}};
}

// VisionRotaryEmbedding of models/qwen2_vl, whose config calls the tower's width embed_dim and the
// text's hidden_size; ERNIE 4.5 VL has the same tower.
Groups ReadQwen2Vl(const Section& config, Notes&) {
  const std::string_view width = config.Has("embed_dim") ? "embed_dim" : "hidden_size";
  return Added(AxialOf(config, width, "num_heads", Pairing::half));
}

// The same, after a square table that is stretched over the image: corners on corners.
// models/qwen3_vl, fast_pos_embed_interpolate.
Groups ReadQwen3Vl(const Section& config, Notes& notes) {
  Groups groups = ReadQwen2Vl(config, notes);
  const int64_t rows = GetPositive(config, "num_position_embeddings");
  const auto grid = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(rows))));
  Require(grid * grid == rows, "{} must be a square, got {}",
          config.Name("num_position_embeddings"), rows);
  NoteTarget(notes);
  groups.push_back({"vision_table",
                    {},
                    resampled::Params{.width = GetPositive(config, "hidden_size"),
                                      .grid_h = grid,
                                      .grid_w = grid,
                                      .target_h = grid,
                                      .target_w = grid,
                                      .prefix = 0,
                                      .filter = resampled::Filter::bilinear,
                                      .align_corners = true}});
  return groups;
}

// models/glm4v: the table is read by grid_sample, bicubic.
Groups ReadGlm4v(const Section& config, Notes& notes) {
  const int64_t grid = GridOf(config);
  Groups groups = Added(AxialOf(config, "hidden_size", "num_heads", Pairing::half));
  NoteTarget(notes);
  groups.push_back({"vision_table",
                    {},
                    resampled::Params{.width = GetPositive(config, "hidden_size"),
                                      .grid_h = grid,
                                      .grid_w = grid,
                                      .target_h = grid,
                                      .target_w = grid,
                                      .prefix = 0}});
  return groups;
}

// meta-llama/llama-models models/llama4/vision/encoder.py: columns first, both counted from 1; the
// class token, which comes last, does not turn.
Groups ReadLlama4(const Section& config, Notes& notes) {
  constexpr ModelType kType{.name = "llama4_vision_model", .pairing = Pairing::interleaved};
  axial::Params params = AxialOf(config, "hidden_size", "num_attention_heads", kType.pairing);
  params.rotary.base = TowerBaseOf(config, kType, notes);
  notes.emplace_back(
      "positions are (column, row) of patches counted from 1; the class token has (0, 0)");
  Groups groups = Added(params);
  groups.push_back({"vision_table", {}, TableOf(config, 1)});
  return groups;
}

Groups ReadPixtral(const Section& config, Notes& notes) {
  return Added(PixtralAxial(config, notes));
}

Groups ReadGemma4(const Section& config, Notes& notes) { return Added(Gemma4Axial(config, notes)); }

Groups ReadFlux(const Section& config, Notes& notes) {
  return {{"all", {}, FluxAxial(config, notes)}};
}

constexpr auto kKnown = std::to_array<KnownType>({
    {"clip_vision_model", ReadVit},
    {"FluxTransformer2DModel", ReadFlux},
    {"deit", ReadDeit},
    {"DFNRope_vision_transformer", ReadQwen2Vl, "depth"},
    {"dinov2", ReadDinov2},
    {"dinov2_with_registers", ReadDinov2WithRegisters},
    {"ernie4_5_moe_vl", ReadQwen2Vl, "depth"},
    {"ernie4_5_vl_moe_vision", ReadQwen2Vl, "depth"},
    {"gemma4_vision", ReadGemma4},
    {"glm4v", ReadGlm4v, "depth"},
    {"glm4v_moe", ReadGlm4v, "depth"},
    {"glm4v_moe_vision", ReadGlm4v, "depth"},
    {"glm4v_vision", ReadGlm4v, "depth"},
    {"llama4_vision_model", ReadLlama4},
    {"pixtral", ReadPixtral},
    {"qwen2_5_vl", ReadQwen2Vl, "depth"},
    {"qwen2_vl", ReadQwen2Vl, "depth"},
    {"qwen3_5", ReadQwen3Vl, "depth"},
    {"qwen3_5_moe", ReadQwen3Vl, "depth"},
    {"qwen3_vl", ReadQwen3Vl, "depth"},
    {"qwen3_vl_moe", ReadQwen3Vl, "depth"},
    {"siglip_vision_model", ReadSiglip},
    {"vit", ReadVit},
    {"vit_mae", ReadMae},
});

}  // namespace

Groups ReadOpenClip(const Section& config, Notes& notes) {
  const Section text = config.GetSection("text_cfg"), vision = config.GetSection("vision_cfg");
  const int64_t grid = GridOf(vision), width = GetPositive(vision, "width");
  const learned::Params words{.width = GetPositive(text, "width"),
                              .rows = GetPositive(text, "context_length")};
  const learned::Params patches{.width = width, .rows = 1 + grid * grid};
  Groups groups = {{"text", {}, words}};
  // EVA-02/asuka/rope.py, VisionRotaryEmbeddingFast.
  const bool rotates = vision.Find<bool>("rope").value_or(false);
  if (rotates) {
    const int64_t head_dim = GetPositive(vision, "head_width");
    groups.push_back({"vision", LayersOf(vision, "layers"),
                      axial::Params{.rotary = {.head_dim = head_dim,
                                               .rotary_dim = head_dim,
                                               .pairing = Pairing::interleaved,
                                               .section = {head_dim / 4, head_dim / 4}}}});
    if (vision.Find<bool>("intp_freq").value_or(false)) {
      notes.push_back(fmt::format(
          "positions are (row, column) times {}/{}: {} over the patches of a side; the class token "
          "does not turn",
          GetPositive(vision, "pt_hw_seq_len"), grid, vision.Name("pt_hw_seq_len")));
    }
  }
  groups.push_back({rotates ? "vision_table" : "vision", {}, patches});
  for (const LayerGroup& group : groups) Validate(group.scheme);
  return groups;
}

Groups ReadVision(const Section& config, std::string_view model_type, Notes& notes) {
  const KnownType* known = FindKnown(kKnown, model_type);
  if (!known) return {};
  // Parts about text have the same model_type, but no depth.
  constexpr std::string_view kDepth = "depth";
  if (known->layers_key == kDepth && !config.Has(kDepth)) return {};
  Groups groups = known->read(config, notes);
  for (LayerGroup& group : groups) {
    Validate(group.scheme);
    const bool acts = IsRotary(group.scheme) || ActsInAttention(group.scheme);
    if (acts) group.layers = LayersOf(config, known->layers_key);
  }
  return groups;
}

}  // namespace posgauge
