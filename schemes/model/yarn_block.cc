#include "posgauge/schemes/model/yarn_block.h"

#include <algorithm>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/model/rope_keys.h"

namespace posgauge {

namespace {

using Notes = std::vector<std::string>;

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

}  // namespace

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
  Require(block.Json().contains("factor"), "{} is missing", block.Name("factor"));
  params.factor = FactorOrQuotient(block, *original, context, notes);
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

Scheme ReadDynamicYarn(const Section& block, const Rotary& rotary, const RopeContext& context,
                       Notes& notes) {
  CheckKeys(block, "dynamic-yarn",
            {"original_max_position_embeddings", "finetuned", "beta_fast", "beta_slow",
             "extrapolation_factor", "attn_factor"},
            {"factor"}, notes);
  const auto original = OriginalLength(block, context, notes);
  Require(original.has_value(), "{} is missing", block.Name("original_max_position_embeddings"));
  RequireLength(block.Name("original_max_position_embeddings"), *original);
  int64_t length = RequiredLength("dynamic-yarn", context);
  notes.push_back(fmt::format(
      "rope type 'dynamic-yarn' is read for a current length of {} tokens, as the paper has it: "
      "the factor is length over the original length, at least 1",
      length));
  if (block.Find<bool>("finetuned").value_or(false)) {
    Require(context.max_position.has_value(), "{} is missing: {} takes shorter lengths for it",
            context.config.Name("max_position_embeddings"), block.Name("finetuned"));
    length = std::max(length, *context.max_position);
    notes.push_back(fmt::format("{}: no length counts as shorter than max_position_embeddings {}",
                                block.Name("finetuned"), *context.max_position));
  } else if (context.max_position && *context.max_position > *original && length > *original &&
             length <= *context.max_position) {
    notes.push_back(fmt::format(
        "the authors' code leaves lengths up to max_position_embeddings {} unscaled, the paper "
        "those up to the original length {} only",
        *context.max_position, *original));
  }
  yarn::Params params{.rotary = rotary, .original_length = *original, .length = length};
  params.beta_fast = Beta(block, "beta_fast", params.beta_fast, notes);
  params.beta_slow = Beta(block, "beta_slow", params.beta_slow, notes);
  params.extrapolation_factor =
      block.Find<double>("extrapolation_factor").value_or(params.extrapolation_factor);
  params.attention_multiplier =
      block.Find<double>("attn_factor").value_or(params.attention_multiplier);
  return params;
}

}  // namespace posgauge
