#include "posgauge/schemes/model/rotary_layout.h"

#include <cmath>

#include "posgauge/schemes/model/rope_block.h"

namespace posgauge {

namespace {

using Notes = std::vector<std::string>;

// Before any arithmetic on widths; Rotary::Validate has the last word.
constexpr int64_t kWidestHead = 65536;

template <class Value>
struct Found {
  std::string name;
  Value value;
};

// The value of the first of several keys that mean the same thing. Throws when two differ.
template <class Value>
std::optional<Found<Value>> FindAlias(const Section& config,
                                      std::initializer_list<std::string_view> keys) {
  std::optional<Found<Value>> found;
  for (std::string_view key : keys) {
    const auto value = config.Find<Value>(key);
    if (!value) continue;
    Require(!found || found->value == *value, "{} {} and {} {} mean the same and disagree",
            found ? found->name : "", found ? found->value : Value{}, config.Name(key), *value);
    if (!found) found = Found<Value>{config.Name(key), *value};
  }
  return found;
}

// Gemma 4's layers with full attention have wider heads.
std::optional<int64_t> FindGlobalHeadDim(const Section& config, std::string_view kind,
                                         const ModelType* type, Notes& notes) {
  constexpr std::string_view kKey = "global_head_dim";
  const auto given = config.Find<int64_t>(kKey);
  Require(!given || !kind.empty(),
          "{} is given, but rope_parameters has no block for the kind full_attention alone",
          config.Name(kKey));
  Require(given.value_or(1) >= 1, "{} must be at least 1, got {}", config.Name(kKey),
          given.value_or(1));
  if (kind != "full_attention") return std::nullopt;
  if (given || !type || type->global_head_dim == 0) return given;
  notes.push_back(fmt::format("{} is not in the config: {} is what model_type {} fills in", kKey,
                              type->global_head_dim, type->name));
  return type->global_head_dim;
}

int64_t ReadHeadDim(const Section& config, std::string_view kind, const ModelType* type,
                    Notes& notes) {
  if (const auto wide = FindGlobalHeadDim(config, kind, type, notes)) return *wide;
  if (const auto head_dim = FindAlias<int64_t>(config, {"head_dim", "kv_channels"})) {
    Require(head_dim->value >= 1, "{} must be at least 1, got {}", head_dim->name, head_dim->value);
    return head_dim->value;
  }
  if (type && type->head_dim != 0) {
    notes.push_back(fmt::format("head_dim is not in the config: {} is what model_type {} fills in",
                                type->head_dim, type->name));
    return type->head_dim;
  }
  const auto hidden = FindAlias<int64_t>(config, {"hidden_size", "n_embd"});
  const auto heads = FindAlias<int64_t>(config, {"num_attention_heads", "n_head"});
  Require(hidden && heads, "{} is missing, and so is {} to derive it from", config.Name("head_dim"),
          hidden ? "num_attention_heads" : "hidden_size");
  Require(hidden->value >= 1 && heads->value >= 1 && hidden->value % heads->value == 0,
          "{} must be a multiple of {} {} where head_dim is not given, got {}", hidden->name,
          heads->name, heads->value, hidden->value);
  return hidden->value / heads->value;
}

// The share of the head that rotates, where the config states it.
std::optional<Found<double>> FindFraction(const Section& config,
                                          const std::optional<Section>& block) {
  constexpr std::string_view kKey = "partial_rotary_factor";
  if (block && block->Has(kKey)) {
    return Found<double>{block->Name(kKey), block->Get<double>(kKey)};
  }
  return FindAlias<double>(config, {kKey, "rotary_pct", "rope_pct", "rotary_emb_fraction"});
}

// int(head_dim * fraction) as everyone computes it: one binary64 product, truncated, so that
// int(100 * 0.29) is 28.
int64_t WidthOf(int64_t head_dim, const Found<double>& fraction) {
  Require(fraction.value > 0 && fraction.value <= 1, "{} must be above 0 and at most 1, got {}",
          fraction.name, fraction.value);
  const auto width = static_cast<int64_t>(static_cast<double>(head_dim) * fraction.value);
  Require(width >= 2 && width % 2 == 0,
          "{} {} of head_dim {} gives a rotary width of {}, which must be even and positive",
          fraction.name, fraction.value, head_dim, width);
  return width;
}

Rotary ReadLatentWidth(const Section& config, Notes& notes) {
  const auto rope = config.Get<int64_t>("qk_rope_head_dim");
  const auto nope = config.Get<int64_t>("qk_nope_head_dim");
  Require(rope >= 1 && nope >= 0 && rope <= kWidestHead && nope <= kWidestHead && rope % 2 == 0,
          "{} must be even and positive and {} not negative, got {} and {}",
          config.Name("qk_rope_head_dim"), config.Name("qk_nope_head_dim"), rope, nope);
  notes.push_back(fmt::format(
      "multi-head latent attention: a head is [{} without position | {} rotary]; all heads share "
      "one rotated key",
      nope, rope));
  const auto head_dim = config.Find<int64_t>("head_dim");
  if (head_dim && *head_dim != nope + rope && *head_dim != rope) {
    notes.push_back(fmt::format("{} {} has no effect next to qk_rope_head_dim",
                                config.Name("head_dim"), *head_dim));
  }
  return {.head_dim = nope + rope, .rotary_dim = rope, .rotary_offset = nope};
}

}  // namespace

Rotary ReadRotaryWidth(const Section& config, std::string_view kind,
                       const std::optional<Section>& block, const ModelType* type, Notes& notes) {
  if (config.Has("qk_rope_head_dim")) return ReadLatentWidth(config, notes);
  Rotary rotary{.head_dim = ReadHeadDim(config, kind, type, notes)};
  Require(rotary.head_dim <= kWidestHead, "{} must be at most {}, got {}", config.Name("head_dim"),
          kWidestHead, rotary.head_dim);
  if (TurnsWholeHead(block)) {
    rotary.rotary_dim = rotary.head_dim;
    return rotary;
  }
  const auto width = config.Find<int64_t>("rotary_dim");
  if (const auto fraction = FindFraction(config, block)) {
    rotary.rotary_dim = WidthOf(rotary.head_dim, *fraction);
    const bool own_key = fraction->name.ends_with("partial_rotary_factor");
    if (!own_key && type && type->fraction == 1 && fraction->value != 1) {
      notes.push_back(
          fmt::format("warning: {} is taken for the share of a head that rotates; model_type {} is "
                      "not known to "
                      "read it",
                      fraction->name, type->name));
    }
    Require(!width || rotary.rotary_dim == *width, "{} {} and {} {} (which gives {}) disagree",
            config.Name("rotary_dim"), width.value_or(0), fraction->name, fraction->value,
            rotary.rotary_dim);
  } else if (width) {
    Require(*width >= 2 && *width <= rotary.head_dim && *width % 2 == 0,
            "{} must be even and in 2..{} (head_dim), got {}", config.Name("rotary_dim"),
            rotary.head_dim, *width);
    rotary.rotary_dim = *width;
  } else {
    const double if_none = type ? type->fraction : 1;
    Require(if_none != 0, "{} is missing, which model_type {} needs",
            config.Name(type && type->deepseek ? "qk_rope_head_dim" : "rotary_dim"),
            type ? type->name : "");
    rotary.rotary_dim = WidthOf(rotary.head_dim, {"partial_rotary_factor", if_none});
    if (if_none != 1) {
      notes.push_back(fmt::format(
          "partial_rotary_factor is not in the config: {} is what model_type {} fills in", if_none,
          type->name));
    }
  }
  return rotary;
}

double ReadBase(const Section& config, const std::optional<Section>& block, bool nested,
                const ModelType* type, Notes& notes) {
  const auto shared =
      FindAlias<double>(config, {"rope_theta", "rotary_emb_base", "global_rope_theta"});
  if (block && (nested || block->Has("rope_theta"))) {
    const double own = block->Get<double>("rope_theta");
    Require(nested || !shared || shared->value == own,
            "{} {} and {} {} disagree, and frameworks differ on which counts: keep one",
            block->Name("rope_theta"), own, shared ? shared->name : "", shared ? shared->value : 0);
    return own;
  }
  if (shared) return shared->value;
  Require(type != nullptr && type->base != 0,
          "{} is missing, and model_type {} has no known default", config.Name("rope_theta"),
          Shown(config.Find<std::string>("model_type").value_or("")));
  notes.push_back(fmt::format("rope_theta is not in the config: {} is what model_type {} fills in",
                              type->base, type->name));
  if (type->base_ratio.empty()) return type->base;
  const double ratio = config.Find<double>(type->base_ratio).value_or(1);
  notes.push_back(fmt::format("{} {} multiplies it", config.Name(type->base_ratio), ratio));
  return type->base * ratio;
}

KnownPairing ReadPairing(const Section& config, std::string_view model_type, const ModelType* type,
                         std::optional<Pairing> given, Notes& notes) {
  const std::string from_type = fmt::format("model_type {}", model_type);
  if (given) {
    if (type && type->pairing != *given) {
      notes.push_back(fmt::format("the given pairing {} is not that of {}, {}", VariantName(*given),
                                  from_type, VariantName(type->pairing)));
    }
    return {*given, "given"};
  }
  if (config.Find<std::string>("position_embedding_type") == "rope_gptj") {
    Require(!type || type->pairing == Pairing::interleaved,
            "{} says interleaved, but {} is half: give --pairing half or interleaved",
            config.Name("position_embedding_type"), from_type);
    return {Pairing::interleaved, config.Name("position_embedding_type")};
  }
  for (std::string_view key : {"rope_interleave", "rope_interleaved", "rotary_emb_interleaved"}) {
    const auto interleaved = config.Find<bool>(key);
    if (!interleaved) continue;
    const Pairing stated = *interleaved ? Pairing::interleaved : Pairing::half;
    // rope_interleave is read by DeepSeek's code; the others are what the exporter wrote.
    Require(key == "rope_interleave" || !type || type->pairing == stated,
            "{} says {}, but {} is {}: give --pairing half or interleaved", config.Name(key),
            VariantName(stated), from_type, VariantName(type ? type->pairing : stated));
    return {stated, config.Name(key)};
  }
  Require(type != nullptr,
          "pairing is not in the config and model_type {} is not known: give --pairing half or "
          "interleaved",
          Shown(std::string(model_type)));
  return {type->pairing, from_type};
}

}  // namespace posgauge
