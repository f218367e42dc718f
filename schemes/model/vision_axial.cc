#include "posgauge/schemes/model/vision_axial.h"

#include "posgauge/schemes/model/patches.h"
#include "posgauge/schemes/model/rope_block.h"
#include "posgauge/schemes/model/rope_keys.h"
#include "posgauge/schemes/model/rotary_layout.h"

namespace posgauge {

namespace {
using Notes = std::vector<std::string>;
}  // namespace

axial::Params AxialOf(const Section& config, std::string_view width_key, std::string_view heads_key,
                      Pairing pairing) {
  const int64_t width = GetPositive(config, width_key), heads = GetPositive(config, heads_key);
  Require(width % (4 * heads) == 0, "{} must be a multiple of 4 times {} {}, got {}",
          config.Name(width_key), config.Name(heads_key), heads, width);
  const int64_t head_dim = width / heads;
  return {.rotary = {.head_dim = head_dim,
                     .rotary_dim = head_dim,
                     .pairing = pairing,
                     .section = {head_dim / 4, head_dim / 4}}};
}

double TowerBaseOf(const Section& config, const ModelType& type, Notes& notes,
                   std::string_view other_word) {
  constexpr std::string_view kPart = "partial_rotary_factor";
  Require(!config.Has("rope_scaling"), "{} is not supported: a vision tower is not scaled",
          config.Name("rope_scaling"));
  const auto block = config.FindSection("rope_parameters");
  if (block) {
    const std::string word = RopeTypeOf(*block);
    Require(word == "default" || word == other_word,
            "{} {} is not supported in a vision tower; supported: default{}",
            block->Name(block->FirstOf({"rope_type", "type"})), Shown(word),
            other_word == "default" ? "" : fmt::format(", {}", other_word));
    Require(block->Find<double>(kPart).value_or(1) == 1,
            "{} must be 1 in a vision tower, which turns whole heads, got {}", block->Name(kPart),
            block->Find<double>(kPart).value_or(1));
    CheckKeys(*block, word, {"rope_theta"}, {}, notes);
  }
  return ReadBase(config, block, /*nested=*/false, &type, notes);
}

// models/pixtral/modeling_pixtral.py: rows have the even frequencies of one series, columns the
// odd.
axial::Params PixtralAxial(const Section& config, Notes& notes) {
  constexpr ModelType kType{.name = "pixtral", .pairing = Pairing::half};
  axial::Params params = AxialOf(config, "hidden_size", "num_attention_heads", kType.pairing);
  params.rotary.base = TowerBaseOf(config, kType, notes);
  params.frequency_index = axial::FrequencyIndex::alternating;
  return params;
}

// models/gemma4/modeling_gemma4.py, apply_multidimensional_rope: columns first, each axis a head of
// its own. Later releases say the rope type axial, and mean the same.
axial::Params Gemma4Axial(const Section& config, Notes& notes) {
  constexpr ModelType kType{
      .name = "gemma4_vision", .pairing = Pairing::half_per_axis, .base = 100};
  constexpr std::string_view kTable = "position_embedding_size";
  const int64_t head_dim = GetPositive(config, "head_dim");
  Require(head_dim % 4 == 0, "{} must be a multiple of 4, got {}", config.Name("head_dim"),
          head_dim);
  const axial::Params params{.rotary = {.head_dim = head_dim,
                                        .rotary_dim = head_dim,
                                        .pairing = kType.pairing,
                                        .base = TowerBaseOf(config, kType, notes, "axial"),
                                        .section = {head_dim / 4, head_dim / 4}}};
  notes.emplace_back("positions are (column, row) of patches");
  if (config.Has(kTable)) {
    notes.push_back(
        fmt::format("{} {}: patches also get a learned row of their column and one of their row, "
                    "which is not read",
                    config.Name(kTable), GetPositive(config, kTable)));
  }
  return params;
}

// diffusers models/transformers/transformer_flux.py, FluxPosEmbed.
axial::Params FluxAxial(const Section& config, Notes& notes) {
  constexpr std::string_view kAxes = "axes_dims_rope";
  const int64_t head_dim = GetPositive(config, "attention_head_dim");
  axial::Params params{.rotary = {.head_dim = head_dim,
                                  .rotary_dim = head_dim,
                                  .pairing = Pairing::interleaved,
                                  .section = config.Find<std::vector<int64_t>>(kAxes).value_or(
                                      std::vector<int64_t>{16, 56, 56})}};
  for (int64_t& channels : params.rotary.section) {
    Require(channels % 2 == 0, "{} must be even numbers, got {}", config.Name(kAxes), channels);
    channels /= 2;
  }
  if (!config.Has(kAxes)) {
    notes.emplace_back(
        "axes_dims_rope is not in the config: 16, 56, 56 is what diffusers fills in");
  }
  notes.emplace_back("positions are (0, row, column); those of text are all 0");
  return params;
}

}  // namespace posgauge
