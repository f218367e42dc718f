#include "posgauge/schemes/model/rope_block.h"

#include <algorithm>
#include <initializer_list>

namespace posgauge {

namespace {

using Keys = std::initializer_list<std::string_view>;
using Notes = std::vector<std::string>;

bool Contains(Keys keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

constexpr std::string_view kServed = "default, linear, dynamic, yarn, llama3";

[[noreturn]] void RefuseType(const std::string& type) {
  const std::string quoted = Shown(type);
  throw ParameterError(fmt::format("rope type '{}' is not supported; supported: {}",
                                   quoted.substr(1, quoted.size() - 2), kServed));
}

// Other words for a rope type that mean the same frequencies.
std::string Canonical(const std::string& type) {
  if (type == "rope" || type == "none" || type == "gptj" || type == "neox") return "default";
  if (type == "deepseek_yarn" || type == "telechat3-yarn") return "yarn";
  return type;
}

// Every key must be one that the type reads, or one known to have no effect on it, which is noted.
void CheckKeys(const Section& block, const std::string& type, Keys read, Keys without_effect,
               Notes& notes) {
  for (const auto& [key, value] : block.Json().items()) {
    const bool common = Contains({"type", "rope_type", "rope_theta", "partial_rotary_factor"}, key);
    if (value.is_null() || common || key.starts_with('_') || Contains(read, key)) continue;
    Require(Contains(without_effect, key),
            "{} is not understood for rope type '{}' and may change the rotation; it reads {}",
            block.Name(key), type, fmt::join(read, ", "));
    notes.push_back(fmt::format("{} has no effect on rope type '{}'", block.Name(key), type));
  }
}

Scheme ReadLinear(const Section& block, const Rotary& rotary, Notes& notes) {
  CheckKeys(block, "linear", {"factor"}, {"original_max_position_embeddings", "finetuned"}, notes);
  return linear::Params{.rotary = rotary, .factor = block.Get<double>("factor")};
}

// Hunyuan's static NTK: base * alpha^(d/(d-2)), whatever the factor says.
Scheme ReadAlpha(const Section& block, const Rotary& rotary, Notes& notes) {
  CheckKeys(block, "dynamic with alpha", {"alpha"},
            {"factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, notes);
  notes.push_back(fmt::format(
      "{}: static NTK scaling as in Hunyuan, vLLM and MLX; transformers' own 'dynamic' ignores "
      "alpha and scales by factor and length",
      block.Name("alpha")));
  return ntk::Params{.rotary = rotary, .factor = block.Get<double>("alpha")};
}

Scheme ReadDynamic(const Section& block, const Rotary& rotary, const RopeContext& context,
                   Notes& notes) {
  CheckKeys(block, "dynamic", {"factor"}, {"original_max_position_embeddings", "finetuned"}, notes);
  const double factor = block.Get<double>("factor");
  Require(context.max_position.has_value(), "{} is missing: rope type 'dynamic' scales beyond it",
          context.config.Name("max_position_embeddings"));
  Require(context.length.has_value(),
          "rope type 'dynamic' depends on the current length in tokens: give --length N (largest "
          "position + 1)");
  notes.push_back(fmt::format(
      "rope type 'dynamic' is read for a current length of {} tokens; vLLM fixes the length at "
      "factor * max_position_embeddings instead",
      *context.length));
  return ntk::Params{.rotary = rotary,
                     .form = ntk::Form::dynamic,
                     .factor = factor,
                     .trained_length = context.max_position,
                     .length = context.length};
}

// A length beside the block wins over the one inside, but only where the block is flat.
std::optional<int64_t> OriginalLength(const Section& block, const RopeContext& context,
                                      Notes& notes) {
  constexpr std::string_view kKey = "original_max_position_embeddings";
  const auto inside = block.Find<int64_t>(kKey);
  if (context.nested || !context.config.Has(kKey)) return inside;
  const auto beside = context.config.Find<int64_t>(kKey);
  if (inside && inside != beside) {
    notes.push_back(fmt::format("{} {} overrides {} {}", context.config.Name(kKey), *beside,
                                block.Name(kKey), *inside));
  }
  return beside;
}

Scheme ReadLlama3(const Section& block, const Rotary& rotary, const RopeContext& context,
                  Notes& notes) {
  CheckKeys(block, "llama3",
            {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"},
            {}, notes);
  llama3::Params params{.rotary = rotary,
                        .factor = block.Get<double>("factor"),
                        .low_frequency_factor = block.Get<double>("low_freq_factor"),
                        .high_frequency_factor = block.Get<double>("high_freq_factor")};
  const auto original = OriginalLength(block, context, notes);
  Require(original.has_value(), "{} is missing", block.Name("original_max_position_embeddings"));
  params.original_length = *original;
  if (params.low_frequency_factor == params.high_frequency_factor) {
    notes.push_back(
        "low_freq_factor equals high_freq_factor: a step; FlashInfer then leaves every pair "
        "unscaled and litgpt divides by zero");
  }
  return params;
}

// null means max_position/original (transformers); a factor that says otherwise is a known trap.
double YarnFactor(const Section& block, int64_t original, const RopeContext& context,
                  Notes& notes) {
  Require(block.Json().contains("factor"), "{} is missing", block.Name("factor"));
  const auto factor = block.Find<double>("factor");
  const double quotient = context.max_position ? static_cast<double>(*context.max_position) /
                                                     static_cast<double>(original)
                                               : 0;  // unknown
  if (!factor) {
    Require(quotient != 0, "{} is null and there is no {} to derive it from", block.Name("factor"),
            context.config.Name("max_position_embeddings"));
    notes.push_back(fmt::format(
        "{} is null: {} is max_position_embeddings over the original length, as transformers "
        "fills it in",
        block.Name("factor"), quotient));
    return quotient;
  }
  if (quotient != 0 && quotient != *factor) {
    notes.push_back(
        fmt::format("{} is {}, max_position_embeddings over the original length is {}: some "
                    "releases of transformers use that quotient in place of the factor",
                    block.Name("factor"), *factor, quotient));
  }
  return *factor;
}

// beta_fast and beta_slow: transformers reads "value or default", so that 0 means the default.
double Beta(const Section& block, std::string_view key, double if_none, Notes& notes) {
  const double beta = block.Find<double>(key).value_or(if_none);
  if (beta != 0) return beta;
  notes.push_back(
      fmt::format("{} is 0, which transformers reads as its default {}", block.Name(key), if_none));
  return if_none;
}

yarn::Magnitude MagnitudeOf(const Section& block, const std::string& word,
                            const RopeContext& context, Notes& notes) {
  if (word == "telechat3-yarn") {
    notes.push_back("telechat3-yarn: magnitude 0.07 ln s + 1 as in vLLM; MLX uses 0.1 ln s + 1");
    return yarn::Magnitude::telechat3;
  }
  const bool deepseek = word == "deepseek_yarn" || (context.type && context.type->deepseek);
  if (deepseek) {
    notes.push_back(
        "DeepSeek's magnitude as transformers, vLLM and MLX compute it; DeepSeek's own inference "
        "code leaves cos and sin pure, and uses YaRN only beyond the original length");
  }
  const bool mscale = block.Find<double>("mscale").value_or(0) != 0;
  const bool all_dim = block.Find<double>("mscale_all_dim").value_or(0) != 0;
  if (mscale != all_dim && !block.Has("attention_factor")) {
    notes.push_back(
        "only one of mscale and mscale_all_dim is given: transformers then ignores it (0.1 ln s + "
        "1), DeepSeek-style code (vLLM, MLX, Megatron) does not");
  }
  return deepseek ? yarn::Magnitude::deepseek : yarn::Magnitude::huggingface;
}

void NoteYarnDisagreements(const Section& block, const RopeContext& context, Notes& notes) {
  if (!block.Find<bool>("truncate").value_or(true)) {
    notes.push_back("truncate false: MLX and ggml round the ramp's ends all the same");
    if (context.nested) {
      notes.push_back(
          "truncate in a block of one layer kind: transformers looks for it beside the kinds and "
          "rounds");
    }
  }
  if (block.Has("attn_factor")) {
    notes.push_back(fmt::format("{} is read by vLLM and ggml; transformers ignores it",
                                block.Name("attn_factor")));
  }
  if (block.Has("extrapolation_factor")) {
    notes.push_back(fmt::format("{} is read by vLLM and ggml; transformers ignores it",
                                block.Name("extrapolation_factor")));
  }
  if (const auto beta = block.Find<double>("llama_4_scaling_beta")) {
    notes.push_back(fmt::format(
        "{} {}: queries are also multiplied by 1 + {} ln(1 + floor(position/original length)), "
        "which is outside the rotation and not part of this scheme",
        block.Name("llama_4_scaling_beta"), *beta, *beta));
  }
}

Scheme ReadYarn(const Section& block, const std::string& word, const Rotary& rotary,
                const RopeContext& context, Notes& notes) {
  CheckKeys(block, word,
            {"factor", "original_max_position_embeddings", "beta_fast", "beta_slow", "truncate",
             "attention_factor", "attn_factor", "extrapolation_factor", "mscale", "mscale_all_dim",
             "apply_yarn_scaling", "llama_4_scaling_beta"},
            {"finetuned"}, notes);
  const auto original = OriginalLength(block, context, notes);
  Require(original.has_value(),
          "{} is missing: implementations fill in max_position_embeddings, 4096 or 2048, so it "
          "must be given",
          block.Name("original_max_position_embeddings"));
  RequireLength(block.Name("original_max_position_embeddings"), *original);
  yarn::Params params{.rotary = rotary, .original_length = *original};
  params.factor = YarnFactor(block, *original, context, notes);
  params.beta_fast = Beta(block, "beta_fast", params.beta_fast, notes);
  params.beta_slow = Beta(block, "beta_slow", params.beta_slow, notes);
  params.truncate = block.Find<bool>("truncate").value_or(params.truncate);
  params.extrapolation_factor =
      block.Find<double>("extrapolation_factor").value_or(params.extrapolation_factor);
  params.attention_multiplier =
      block.Find<double>("attn_factor").value_or(params.attention_multiplier);
  params.attention_factor = block.Find<double>("attention_factor");
  params.mscale = block.Find<double>("mscale");
  params.mscale_all_dim = block.Find<double>("mscale_all_dim");
  params.magnitude = MagnitudeOf(block, word, context, notes);
  if (!block.Find<bool>("apply_yarn_scaling").value_or(true)) {
    params.attention_factor = params.attention_multiplier;
    notes.push_back(fmt::format("{} false, which vLLM alone reads: the magnitude is attn_factor",
                                block.Name("apply_yarn_scaling")));
  }
  NoteYarnDisagreements(block, context, notes);
  return params;
}

}  // namespace

std::string RopeTypeOf(const Section& block) {
  for (std::string_view key : {"mrope_section", "xdrope_section"}) {
    if (block.Has(key)) RefuseType(std::string(key.substr(0, key.find('_'))));
  }
  const auto old_word = block.Find<std::string>("type");
  const auto new_word = block.Find<std::string>("rope_type");
  Require(!old_word || !new_word || Canonical(*old_word) == Canonical(*new_word),
          "{} {} and {} {} disagree", block.Name("rope_type"), Shown(new_word.value_or("")),
          block.Name("type"), Shown(old_word.value_or("")));
  if (new_word || old_word) return new_word ? *new_word : *old_word;
  for (const auto& [key, value] : block.Json().items()) {
    const bool unscaled = key == "rope_theta" || key == "partial_rotary_factor";
    Require(unscaled || value.is_null() || key.starts_with('_'),
            "{} is missing, and the block scales something (it has {})", block.Name("rope_type"),
            Shown(key));
  }
  return "default";
}

Scheme ReadRopeBlock(const std::optional<Section>& block, const Rotary& rotary,
                     const RopeContext& context, std::vector<std::string>& notes) {
  if (!block) return rope::Params{.rotary = rotary};
  const std::string word = RopeTypeOf(*block), type = Canonical(word);
  if (type == "default") {
    CheckKeys(*block, "default", {"rope_theta", "partial_rotary_factor"},
              {"original_max_position_embeddings"}, notes);
    return rope::Params{.rotary = rotary};
  }
  if (type == "linear") return ReadLinear(*block, rotary, notes);
  if (type == "dynamic") {
    return block->Has("alpha") ? ReadAlpha(*block, rotary, notes)
                               : ReadDynamic(*block, rotary, context, notes);
  }
  if (type == "yarn") return ReadYarn(*block, word, rotary, context, notes);
  if (type == "llama3") return ReadLlama3(*block, rotary, context, notes);
  RefuseType(word);
}

}  // namespace posgauge
