#include "posgauge/schemes/model/rope_block.h"

#include <cmath>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/model/rope_keys.h"
#include "posgauge/schemes/model/yarn_block.h"

namespace posgauge {

namespace {

using Notes = std::vector<std::string>;

constexpr std::string_view kServed =
    "default, linear, dynamic, ntk, yarn, dynamic-yarn, llama3, longrope, proportional, mrope, "
    "openpangu, xdrope";

[[noreturn]] void RefuseType(const std::string& type) {
  const std::string quoted = Shown(type);
  throw ParameterError(fmt::format("rope type '{}' is not supported; supported: {}",
                                   quoted.substr(1, quoted.size() - 2), kServed));
}

// Other words for a rope type that mean the same frequencies.
std::string Canonical(const std::string& type) {
  if (type == "rope" || type == "none" || type == "gptj" || type == "neox") return "default";
  // mrope_section says it, under any word.
  if (type == "mrope" || type == "openpangu") return "default";
  if (type == "deepseek_yarn" || type == "telechat3-yarn") return "yarn";
  if (type == "su") return "longrope";
  return type;
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
      "{}: static NTK scaling as in Hunyuan, vLLM and MLX; transformers' generic 'dynamic' ignores "
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
  const int64_t length = RequiredLength("dynamic", context);
  notes.push_back(fmt::format(
      "rope type 'dynamic' is read for a current length of {} tokens; vLLM fixes the length at "
      "factor * max_position_embeddings instead",
      length));
  return ntk::Params{.rotary = rotary,
                     .form = ntk::Form::dynamic,
                     .factor = factor,
                     .trained_length = context.max_position,
                     .length = length};
}

// vLLM's word for kexue's NTK-RoPE-fixed, or -mixed where mixed_b is given.
Scheme ReadNtk(const Section& block, const Rotary& rotary, Notes& notes) {
  CheckKeys(block, "ntk", {"factor", "mixed_b"}, {"original_max_position_embeddings"}, notes);
  const auto exponent = block.Find<double>("mixed_b");
  return ntk::Params{.rotary = rotary,
                     .form = exponent ? ntk::Form::mixed : ntk::Form::fixed,
                     .factor = block.Get<double>("factor"),
                     .mixed_exponent = exponent};
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

Scheme ReadLongRope(const Section& block, const std::string& word, const Rotary& rotary,
                    const RopeContext& context, Notes& notes) {
  CheckKeys(block, word,
            {"short_factor", "long_factor", "original_max_position_embeddings", "factor",
             "attention_factor", "short_mscale", "long_mscale"},
            {}, notes);
  const auto original = OriginalLength(block, context, notes);
  Require(original.has_value(), "{} is missing: it chooses between the short and the long factors",
          block.Name("original_max_position_embeddings"));
  RequireLength(block.Name("original_max_position_embeddings"), *original, 2);
  const int64_t length = RequiredLength(word, context);
  notes.push_back(fmt::format(
      "rope type '{}' is read for a current length of {} tokens, {} the original length {}: the {} "
      "factors; vLLM chooses once, by the engine's longest length, and MLX always takes the long "
      "ones",
      word, length, length > *original ? "beyond" : "within", *original,
      length > *original ? "long" : "short"));
  longrope::Params params{.rotary = rotary,
                          .short_factor = block.Get<std::vector<double>>("short_factor"),
                          .long_factor = block.Get<std::vector<double>>("long_factor"),
                          .original_length = *original,
                          .length = length,
                          .attention_factor = block.Find<double>("attention_factor"),
                          .short_mscale = block.Find<double>("short_mscale"),
                          .long_mscale = block.Find<double>("long_mscale")};
  const bool replaced = params.attention_factor || (params.short_mscale && params.long_mscale);
  if (!replaced || block.Has("factor")) {
    params.factor = FactorOrQuotient(block, *original, context, notes);
  }
  if (params.short_mscale || params.long_mscale) {
    notes.push_back(
        "short_mscale and long_mscale are read by vLLM and Phi-3.5-MoE's code; transformers' own "
        "longrope ignores them");
  }
  return params;
}

// On the whole head, whatever partial_rotary_factor is.
Scheme ReadProportional(const Section& block, const Rotary& rotary, Notes& notes) {
  CheckKeys(block, "proportional", {"partial_rotary_factor", "factor"}, {}, notes);
  const auto proportion = block.Find<double>("partial_rotary_factor");
  if (!proportion) {
    notes.push_back(fmt::format("{} is missing: every pair turns, as in transformers",
                                block.Name("partial_rotary_factor")));
  }
  if (block.Has("factor")) {
    notes.push_back(
        fmt::format("{} divides every angle; vLLM leaves it out", block.Name("factor")));
  }
  return proportional::Params{.rotary = rotary,
                              .proportion = proportion.value_or(1),
                              .factor = block.Find<double>("factor").value_or(1)};
}

constexpr std::string_view kInterleaved = "mrope_interleaved";

// openPangu's code deals pairs to the axes, or has blocks; vLLM, as it reads a config that is
// interleaved, gives it the rope type openpangu.
mrope::Order PanguOrderOf(const Section& block, const std::string& word) {
  const auto stated = block.Find<bool>(kInterleaved);
  Require(stated.has_value(), "{} is missing: true or false tells which pairs count which axis",
          block.Name(kInterleaved));
  Require(*stated || word != "openpangu", "{} is false, which rope type 'openpangu' never is",
          block.Name(kInterleaved));
  return *stated ? mrope::Order::openpangu : mrope::Order::contiguous;
}

// Which pairs count which axis: the model's code decides, and Qwen3-VL's configs say it again.
mrope::Order OrderOf(const Section& block, const std::string& word, const RopeContext& context) {
  const ModelType* type = context.type;
  if (type ? type->order == mrope::Order::openpangu : word == "openpangu") {
    return PanguOrderOf(block, word);
  }
  Require(word != "openpangu", "rope type 'openpangu' is not that of model_type {}",
          type ? type->name : "");
  const auto stated = block.Find<bool>(kInterleaved);
  if (!type) {
    Require(stated.has_value(),
            "{} is missing, and model_type {} is not known: true or false tells which pairs count "
            "which axis",
            block.Name(kInterleaved),
            Shown(context.config.Find<std::string>("model_type").value_or("")));
    return *stated ? mrope::Order::interleaved : mrope::Order::contiguous;
  }
  Require(!stated || *stated == (type->order == mrope::Order::interleaved),
          "{} is {}, but model_type {} has the order {}", block.Name(kInterleaved),
          stated.value_or(false), type->name, VariantName(type->order));
  return type->order;
}

// Whether some pair whose turn is the height's or the width's counts time.
bool LeavesPairsToTime(const mrope::Params& params) {
  if (params.order != mrope::Order::interleaved || params.section.size() != 3) return false;
  for (int64_t pair = 0; pair < params.rotary.Pairs(); ++pair) {
    if (pair % 3 != 0 && params.AxisOf(pair) == 0) return true;
  }
  return false;
}

// Frequencies as unscaled; the sections tell which pairs count which axis.
Scheme ReadMrope(const Section& block, const std::string& word, const Rotary& rotary,
                 const RopeContext& context, Notes& notes) {
  Require(Canonical(word) == "default",
          "{} with rope type '{}' is not supported: frameworks scale it differently",
          block.Name("mrope_section"), word);
  CheckKeys(block, "mrope", {"mrope_section", "mrope_interleaved"},
            {"original_max_position_embeddings"}, notes);
  const mrope::Params params{.rotary = rotary,
                             .section = block.Get<std::vector<int64_t>>("mrope_section"),
                             .order = OrderOf(block, word, context)};
  notes.emplace_back(
      params.section.size() == 2
          ? "positions are (height, width); a token of text has one number on both"
          : "positions are (time, height, width); a token of text has one number on all three");
  if (LeavesPairsToTime(params)) {
    notes.emplace_back(
        "pairs beyond 3 times the height's or the width's section count time; ggml's IMROPE turns "
        "them by a fourth position, which llama.cpp sets to 0 for text");
  }
  return params;
}

// Hunyuan VL: four axes in blocks over Hunyuan's static NTK, of which only the base is left to say;
// vLLM's xdrope.py.
Scheme ReadXdrope(const Section& block, Rotary rotary, Notes& notes) {
  CheckKeys(block, "xdrope", {"alpha", "xdrope_section"},
            {"factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim"}, notes);
  const double alpha = block.Get<double>("alpha");
  RequireScale(block.Name("alpha"), alpha, kSmallestScale);
  Require(rotary.rotary_dim > 2, "{} needs at least two pairs, got {} channels that rotate",
          block.Name("alpha"), rotary.rotary_dim);
  const auto width = static_cast<double>(rotary.rotary_dim);
  rotary.base *= std::pow(alpha, width / (width - 2));
  notes.push_back(fmt::format(
      "{}: the base is {}, rope_theta alpha^(d/(d - 2)) as the model's code forms it, in binary64",
      block.Name("alpha"), rotary.base));
  notes.emplace_back(
      "positions are (running, width, height, time); a token of text has one number on all four");
  return mrope::Params{.rotary = rotary,
                       .section = block.Get<std::vector<int64_t>>("xdrope_section")};
}

}  // namespace

bool TurnsWholeHead(const std::optional<Section>& block) {
  return block && RopeTypeOf(*block) == "proportional";
}

std::string RopeTypeOf(const Section& block) {
  const auto old_word = block.Find<std::string>("type");
  const auto new_word = block.Find<std::string>("rope_type");
  Require(!old_word || !new_word || Canonical(*old_word) == Canonical(*new_word),
          "{} {} and {} {} disagree", block.Name("rope_type"), Shown(new_word.value_or("")),
          block.Name("type"), Shown(old_word.value_or("")));
  if (new_word || old_word) return new_word ? *new_word : *old_word;
  for (const auto& [key, value] : block.Json().items()) {
    const bool unscaled = key == "rope_theta" || key == "partial_rotary_factor" ||
                          key == "mrope_section" || key == "mrope_interleaved";
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
  if (word == "mrope" || word == "openpangu" || block->Has("mrope_section")) {
    return ReadMrope(*block, word, rotary, context, notes);
  }
  if (word == "xdrope") return ReadXdrope(*block, rotary, notes);
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
  if (type == "ntk") return ReadNtk(*block, rotary, notes);
  if (type == "dynamic-yarn") return ReadDynamicYarn(*block, rotary, context, notes);
  if (type == "longrope") return ReadLongRope(*block, word, rotary, context, notes);
  if (type == "proportional") return ReadProportional(*block, rotary, notes);
  if (type == "yarn") return ReadYarn(*block, word, rotary, context, notes);
  if (type == "llama3") return ReadLlama3(*block, rotary, context, notes);
  RefuseType(word);
}

}  // namespace posgauge
