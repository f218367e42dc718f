#include "posgauge/cli/dialect_readings.h"

#include <algorithm>
#include <cmath>

namespace posgauge::cli::dialect {

namespace {

// The scheme's parameters with one change.
template <class Params, class Change>
Scheme With(const DialectContext& context, Change&& change) {
  Params params = As<Params>(context);
  change(params);
  return params;
}

bool IsSet(const std::optional<double>& value) { return value.value_or(0) != 0; }

bool IsMscaleAlone(const yarn::Params& params) {
  return IsSet(params.mscale) && !IsSet(params.mscale_all_dim) && !params.attention_factor;
}

double PairsOf(const proportional::Params& params) {
  return params.proportion * static_cast<double>(params.rotary.Pairs());
}

}  // namespace

bool ConfigHas(const nlohmann::json& config, std::string_view key) {
  if (!config.is_object()) return false;
  for (const auto& [name, value] : config.items()) {
    if ((name == key && !value.is_null()) || ConfigHas(value, key)) return true;
  }
  return false;
}

bool HasBlocks(const DialectContext& context) {
  const auto has = [](const nlohmann::json& config) {
    const auto blocks = config.find("rope_parameters");
    return blocks != config.end() && blocks->is_object() && !blocks->empty() &&
           std::ranges::all_of(*blocks, [](const auto& value) { return value.is_object(); });
  };
  if (!context.config.is_object()) return false;
  if (has(context.config)) return true;
  const auto text = context.config.find("text_config");
  return text != context.config.end() && text->is_object() && has(*text);
}

bool Always(const DialectContext&) { return true; }

bool TruncateFalse(const DialectContext& context) { return !As<yarn::Params>(context).truncate; }

bool TruncateFalseInBlocks(const DialectContext& context) {
  return TruncateFalse(context) && HasBlocks(context);
}

bool MscaleAloneDeepseek(const DialectContext& context) {
  const auto& params = As<yarn::Params>(context);
  return IsMscaleAlone(params) && params.magnitude == yarn::Magnitude::deepseek;
}

bool MscaleAloneHuggingface(const DialectContext& context) {
  const auto& params = As<yarn::Params>(context);
  return IsMscaleAlone(params) && params.magnitude == yarn::Magnitude::huggingface;
}

bool DeepseekMagnitude(const DialectContext& context) {
  return As<yarn::Params>(context).magnitude == yarn::Magnitude::deepseek;
}

bool Telechat3(const DialectContext& context) {
  return As<yarn::Params>(context).magnitude == yarn::Magnitude::telechat3;
}

bool AttnFactor(const DialectContext& context) {
  return As<yarn::Params>(context).attention_multiplier != 1;
}

bool ExtrapolationFactor(const DialectContext& context) {
  return As<yarn::Params>(context).extrapolation_factor != 1;
}

bool ApplyYarnScalingFalse(const DialectContext& context) {
  return ConfigHas(context.config, "apply_yarn_scaling") &&
         As<yarn::Params>(context).attention_factor ==
             As<yarn::Params>(context).attention_multiplier;
}

bool PartialPrefix(const DialectContext& context) {
  const Rotary& rotary = As<yarn::Params>(context).rotary;
  return rotary.rotary_dim < rotary.head_dim && rotary.rotary_offset == 0;
}

bool InterleavedTail(const DialectContext& context) {
  const auto& params = As<mrope::Params>(context);
  if (params.order != mrope::Order::interleaved) return false;
  for (int64_t pair = 0; pair < params.rotary.Pairs(); ++pair) {
    if (pair % 3 != 0 && params.AxisOf(pair) == 0) return true;
  }
  return false;
}

bool Dynamic(const DialectContext& context) {
  return As<ntk::Params>(context).form == ntk::Form::dynamic;
}

bool StaticAlpha(const DialectContext& context) {
  return As<ntk::Params>(context).form == ntk::Form::aware;
}

bool Regimes(const DialectContext& context) {
  const auto& params = As<longrope::Params>(context);
  return params.short_factor != params.long_factor && params.length.has_value();
}

bool Mscales(const DialectContext& context) {
  const auto& params = As<longrope::Params>(context);
  return params.short_mscale || params.long_mscale;
}

bool LinearOfGemma3(const DialectContext& context) {
  return context.model.model_type.starts_with("gemma3");
}

bool HalfPair(const DialectContext& context) {
  const double pairs = PairsOf(As<proportional::Params>(context));
  return pairs != std::floor(pairs);
}

bool ProportionalFactor(const DialectContext& context) {
  return As<proportional::Params>(context).factor != 1;
}

bool Step(const DialectContext& context) {
  const auto& params = As<llama3::Params>(context);
  return params.low_frequency_factor == params.high_frequency_factor;
}

bool OtherBand(const DialectContext& context) {
  const auto& params = As<llama3::Params>(context);
  return params.low_frequency_factor != 1 || params.high_frequency_factor != 4 ||
         params.original_length != 8192;
}

bool OtherDistance(const DialectContext& context) {
  return As<t5::Params>(context).max_distance != 128;
}

bool VisionBlocks(const DialectContext& context) {
  return ConfigHas(context.config, "vision_config");
}

Scheme PaperRamp(const DialectContext& context) {
  return With<yarn::Params>(context,
                            [](yarn::Params& params) { params.ramp = yarn::RampOver::turns; });
}

Scheme Truncated(const DialectContext& context) {
  return With<yarn::Params>(context, [](yarn::Params& params) { params.truncate = true; });
}

Scheme HuggingfaceMagnitude(const DialectContext& context) {
  return With<yarn::Params>(
      context, [](yarn::Params& params) { params.magnitude = yarn::Magnitude::huggingface; });
}

Scheme DeepseekRatio(const DialectContext& context) {
  return With<yarn::Params>(
      context, [](yarn::Params& params) { params.magnitude = yarn::Magnitude::deepseek; });
}

Scheme PureRotation(const DialectContext& context) {
  return With<yarn::Params>(context, [](yarn::Params& params) {
    params.magnitude = yarn::Magnitude::none;
    params.attention_factor.reset();
    params.attention_multiplier = 1;
  });
}

Scheme NoAttnFactor(const DialectContext& context) {
  return With<yarn::Params>(context, [](yarn::Params& params) { params.attention_multiplier = 1; });
}

Scheme NoExtrapolationFactor(const DialectContext& context) {
  return With<yarn::Params>(context, [](yarn::Params& params) { params.extrapolation_factor = 1; });
}

Scheme FourthAxis(const DialectContext& context) {
  return With<mrope::Params>(context, [](mrope::Params& params) {
    params.order = mrope::Order::interleaved_ggml;
    params.section.push_back(0);
  });
}

Scheme LongestLength(const DialectContext& context) {
  return With<ntk::Params>(context, [](ntk::Params& params) {
    params.length = std::llround(params.factor * static_cast<double>(*params.trained_length));
  });
}

Scheme Unscaled(const DialectContext& context) {
  return rope::Params{.rotary = RotaryOf(context.scheme)};
}

Scheme NaiveBase(const DialectContext& context) {
  return With<ntk::Params>(context, [](ntk::Params& params) { params.form = ntk::Form::naive; });
}

Scheme EngineLength(const DialectContext& context) {
  return With<longrope::Params>(context, [&](longrope::Params& params) {
    params.length = context.model.max_position.value_or(*params.length);
  });
}

Scheme AlwaysLong(const DialectContext& context) {
  return With<longrope::Params>(
      context, [](longrope::Params& params) { params.length = params.original_length + 1; });
}

Scheme NoMscales(const DialectContext& context) {
  return With<longrope::Params>(context, [&](longrope::Params& params) {
    params.short_mscale.reset();
    params.long_mscale.reset();
    if (params.factor == 1 && context.model.max_position) {
      params.factor = static_cast<double>(*context.model.max_position) /
                      static_cast<double>(params.original_length);
    }
  });
}

Scheme CeilingOfPairs(const DialectContext& context) {
  return With<proportional::Params>(context, [](proportional::Params& params) {
    params.proportion = std::ceil(PairsOf(params)) / static_cast<double>(params.rotary.Pairs());
  });
}

Scheme NoFactor(const DialectContext& context) {
  Scheme scheme = context.scheme;
  if (auto* params = std::get_if<linear::Params>(&scheme)) params->factor = 1;
  if (auto* params = std::get_if<proportional::Params>(&scheme)) params->factor = 1;
  return scheme;
}

Scheme Llama31Band(const DialectContext& context) {
  return With<llama3::Params>(context, [](llama3::Params& params) {
    params.low_frequency_factor = 1;
    params.high_frequency_factor = 4;
    params.original_length = 8192;
  });
}

Scheme Distance128(const DialectContext& context) {
  return With<t5::Params>(context, [](t5::Params& params) { params.max_distance = 128; });
}

}  // namespace posgauge::cli::dialect
