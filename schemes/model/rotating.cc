#include "posgauge/schemes/model/rotating.h"

#include <algorithm>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/model/rope_block.h"
#include "posgauge/schemes/model/rotary_layout.h"

namespace posgauge {

namespace {

using nlohmann::json;

// Keys beside the block that ask for a scheme of the model's own code.
constexpr std::string_view kDualChunk = "dual_chunk_attention_config";
constexpr std::string_view kDynamicNtk = "use_dynamic_ntk";
constexpr std::string_view kRope3d = "rope_3d";

// The block that scales: rope_parameters, or rope_scaling as older configs have it. `kinds` where
// the config has one for each kind of layer.
struct Blocks {
  std::optional<Section> flat;
  std::vector<std::pair<std::string, Section>> kinds;
};

// A block without the keys that say nothing about scaling and the spelling of its type.
json Essence(const Section& block) {
  json essence = json::object();
  for (const auto& [key, value] : block.Json().items()) {
    const bool aside = key == "type" || key == "rope_theta" || key == "partial_rotary_factor";
    if (!aside && !value.is_null()) essence[key] = value;
  }
  essence["rope_type"] = RopeTypeOf(block);
  return essence;
}

Blocks ReadBlocks(const Section& config) {
  std::optional<Section> old_block = config.FindSection("rope_scaling");
  std::optional<Section> new_block = config.FindSection("rope_parameters");
  if (old_block && old_block->Json().empty()) old_block.reset();
  if (new_block && new_block->Json().empty()) new_block.reset();
  if (!new_block) return {old_block, {}};
  const json& entries = new_block->Json();
  const auto is_block = [](const json& entry) { return entry.is_object() || entry.is_null(); };
  const bool some = std::any_of(entries.begin(), entries.end(),
                                [](const json& entry) { return entry.is_object(); });
  Require(!some || std::all_of(entries.begin(), entries.end(), is_block),
          "{} mixes blocks of layer kinds with values of its own", config.Name("rope_parameters"));
  Require(!old_block || (!some && Essence(*old_block) == Essence(*new_block)),
          "{} and {} disagree: keep one", config.Name("rope_scaling"),
          config.Name("rope_parameters"));
  if (!some) return {new_block, {}};
  Blocks blocks;
  for (const auto& [kind, entry] : entries.items()) {
    if (entry.is_null()) continue;
    Require(IsAttention(kind),
            "{} is not a known kind of layer: full_attention, sliding_attention, chunked_attention",
            new_block->Name(kind));
    blocks.kinds.emplace_back(kind, Section(entry, new_block->Name(kind) + "."));
  }
  return blocks;
}

// Reads one config; a member is what its later steps need of the earlier ones.
struct Reader {
  const Section config;
  const ConfigOverrides& overrides;
  ModelConfig& model;
  const ModelType* const type;
  const Layers& layers;

  RopeContext Context(bool nested) const {
    return {.config = config,
            .nested = nested,
            .type = type,
            .max_position = model.max_position,
            .length = overrides.length};
  }

  Rotary Layout(const std::optional<Section>& block, Pairing pairing, double base,
                std::string_view kind = "") {
    Rotary rotary = ReadRotaryWidth(config, kind, block, type, model.notes);
    rotary.pairing = pairing;
    rotary.base = base;
    return rotary;
  }

  void AddGroup(std::string kind, std::vector<int64_t> indices, const Scheme& scheme) {
    Validate(scheme);
    model.groups.push_back({std::move(kind), std::move(indices), scheme});
  }

  // The key of these that the config has; empty for none.
  std::string_view OwnScheme() const {
    const auto keys = {std::pair(kDualChunk, config.Has(kDualChunk)),
                       std::pair(kDynamicNtk, HasQwenNtk(config)),
                       std::pair(kRope3d, config.Find<bool>(kRope3d).value_or(false))};
    std::string_view own;
    for (const auto& [key, is_there] : keys) {
      if (!is_there) continue;
      Require(own.empty(), "{} and {} both say how positions turn: keep one", config.Name(own),
              config.Name(key));
      own = key;
    }
    return own;
  }

  // One block for all layers, or the scheme of the key `own`.
  void ReadFlat(const std::optional<Section>& block, std::string_view own, Pairing pairing) {
    const std::vector<std::string> kinds = layers.RotatingKinds();
    Require(type != nullptr || kinds.size() < 2,
            "{} mixes {} and model_type {} is not known: which of them rotate, and how, is not in "
            "the config",
            config.Name("layer_types"), fmt::join(kinds, ", "), Shown(model.model_type));
    const double base = ReadBase(config, block, /*nested=*/false, type, model.notes);
    const Rotary rotary = Layout(block, pairing, base);
    AddGroup("all", layers.Rotating(),
             own == kDualChunk    ? ReadDualChunk(block, rotary)
             : own == kDynamicNtk ? ReadQwenNtk(block, rotary)
             : own == kRope3d     ? ReadErnie3d(block, rotary)
                                  : ReadRopeBlock(block, rotary, Context(false), model.notes));
  }

  // ERNIE 4.5 VL's own config: freq_allocation pairs count time, the others height and width in
  // turn; vLLM's ernie45_vl.py.
  Scheme ReadErnie3d(const std::optional<Section>& block, const Rotary& rotary) {
    if (block && block->Has("mrope_section")) {
      return ReadRopeBlock(block, rotary, Context(false), model.notes);
    }
    Require(type && type->order == mrope::Order::ernie,
            "{} is not understood for a model_type other than ernie4_5_moe_vl, whose own code has "
            "it",
            config.Name(kRope3d));
    Require(!block, "{} and a rope block without mrope_section: keep one", config.Name(kRope3d));
    const auto time = config.Get<int64_t>("freq_allocation");
    const int64_t others = rotary.Pairs() - time;
    Require(time >= 0 && others >= 0 && others % 2 == 0,
            "{} must leave an even number of the {} pairs, got {}", config.Name("freq_allocation"),
            rotary.Pairs(), time);
    model.notes.emplace_back(
        "positions are (time, height, width); a token of text has one number on all three");
    return mrope::Params{
        .rotary = rotary, .section = {others / 2, others / 2, time}, .order = mrope::Order::ernie};
  }

  // Qwen2.5-1M: rotary scores of positions in chunks; vLLM's dual_chunk_flash_attn.py.
  Scheme ReadDualChunk(const std::optional<Section>& block, const Rotary& rotary) {
    const Section chunks = config.GetSection(kDualChunk);
    Require(!block, "{} and the rope block both say how positions turn: keep one",
            config.Name(kDualChunk));
    Require(model.num_attention_heads.has_value(), "{} is missing",
            config.Name("num_attention_heads"));
    Require(rotary.rotary_offset == 0, "{} with latent attention is not supported",
            config.Name(kDualChunk));
    if (const auto original = chunks.Find<int64_t>("original_max_position_embeddings")) {
      model.notes.push_back(fmt::format(
          "{} {}: vLLM also multiplies queries by max(1, 1 + 0.1 ln(length/{})), which is outside "
          "this scheme",
          chunks.Name("original_max_position_embeddings"), *original, *original));
    }
    model.notes.emplace_back(
        "within the first chunk dual chunk attention is plain rotary embedding, which is what "
        "transformers uses at any length");
    return dual_chunk::Params{
        .attention = {.heads = *model.num_attention_heads, .head_dim = rotary.head_dim},
        .turning = {.rotary_dim = rotary.rotary_dim,
                    .pairing = rotary.pairing,
                    .base = rotary.base},
        .chunk_size = chunks.Get<int64_t>("chunk_size"),
        .local_size = chunks.Get<int64_t>("local_size")};
  }

  // Qwen-1's own code: get_ntk_alpha, by the current length over seq_length.
  Scheme ReadQwenNtk(const std::optional<Section>& block, const Rotary& rotary) {
    Require(!block, "{} and the rope block both scale: keep one", config.Name(kDynamicNtk));
    const auto trained = config.Get<int64_t>("seq_length");
    RequireLength(config.Name("seq_length"), trained);
    Require(overrides.length.has_value(),
            "{} depends on the current length in tokens: give --length N (largest position + 1)",
            config.Name(kDynamicNtk));
    model.notes.push_back(fmt::format("{} is read for a current length of {} tokens",
                                      config.Name(kDynamicNtk), *overrides.length));
    return ntk::Params{.rotary = rotary,
                       .form = ntk::Form::qwen,
                       .trained_length = trained,
                       .length = overrides.length};
  }

  // Global layers have the block, local ones a base of their own and no scaling (Gemma 3).
  void ReadLocalAndGlobal(const std::optional<Section>& block, Pairing pairing) {
    const double base = ReadBase(config, block, /*nested=*/false, type, model.notes);
    auto local = config.Find<double>("rope_local_base_freq");
    if (!local) local = config.Find<double>("local_rope_theta");
    if (!local) {
      Require(type && type->local_base != 0, "{} is missing", config.Name("rope_local_base_freq"));
      local = type->local_base;
      model.notes.push_back(
          fmt::format("the local base is not in the config: {} is what model_type {} fills in",
                      *local, type->name));
    }
    const Rotary rotary = Layout(block, pairing, base);
    const Scheme global = ReadRopeBlock(block, rotary, Context(false), model.notes);
    if (std::holds_alternative<linear::Params>(global)) {
      model.notes.push_back(
          "the linear factor is on global layers only; gemma.cpp leaves it out altogether");
    }
    Rotary local_rotary = rotary;
    local_rotary.base = *local;
    AddGroup("full_attention", layers.Rotating("full_attention"), global);
    AddGroup("sliding_attention", layers.Rotating("sliding_attention"),
             rope::Params{.rotary = local_rotary});
  }

  // A block for each kind of layer.
  void ReadNested(const std::vector<std::pair<std::string, Section>>& kinds, Pairing pairing) {
    for (const std::string& kind : layers.RotatingKinds()) {
      const bool has_block = std::any_of(kinds.begin(), kinds.end(),
                                         [&](const auto& entry) { return entry.first == kind; });
      Require(has_block, "{} has no block for the kind {} of layer_types",
              config.Name("rope_parameters"), kind);
    }
    for (const auto& [kind, block] : kinds) {
      std::vector<int64_t> indices = layers.Rotating(kind);
      if (indices.empty() && !layers.kinds.empty()) {
        model.notes.push_back(fmt::format("{} is for no layer that rotates",
                                          config.Name("rope_parameters") + "." + kind));
        continue;
      }
      const double base = ReadBase(config, block, /*nested=*/true, type, model.notes);
      AddGroup(
          kind, std::move(indices),
          ReadRopeBlock(block, Layout(block, pairing, base, kind), Context(true), model.notes));
    }
    Require(!model.groups.empty(), "{} has no block for any layer", config.Name("rope_parameters"));
  }

  void ReadGroups() {
    const KnownPairing pairing =
        ReadPairing(config, model.model_type, type, overrides.pairing, model.notes);
    model.pairing_source = pairing.source;
    const Blocks blocks = ReadBlocks(config);
    const bool local = config.Has("rope_local_base_freq") || config.Has("local_rope_theta") ||
                       (type && type->rule == LayerRule::local_base);
    const std::string_view own = OwnScheme();
    Require(own.empty() || (blocks.kinds.empty() && !local),
            "{} is not supported with a block for each kind of layer or a local base",
            config.Name(own));
    if (!blocks.kinds.empty()) {
      ReadNested(blocks.kinds, pairing.pairing);
    } else if (local) {
      ReadLocalAndGlobal(blocks.flat, pairing.pairing);
    } else {
      ReadFlat(blocks.flat, own, pairing.pairing);
    }
  }
};

}  // namespace

bool HasQwenNtk(const Section& config) { return config.Find<bool>(kDynamicNtk).value_or(false); }

void ReadRotating(const Section& config, const ModelType* type, const ConfigOverrides& overrides,
                  const Layers& layers, ModelConfig& model) {
  Reader{config, overrides, model, type, layers}.ReadGroups();
}

}  // namespace posgauge
