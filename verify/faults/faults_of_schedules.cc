#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "posgauge/reference/float64.h"
#include "posgauge/reference/yarn.h"
#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/links.h"
#include "posgauge/verify/faults/replay_series.h"

namespace posgauge {

namespace {

using Series = FrequencySeries;

// Of one scheme: change(params, series), the frequencies' signs being kept.
template <class Params, class Of>
ChangeFrequencies ForScheme(Of of) {
  return {[of](const Scheme& scheme, Series& series) {
    const auto* params = std::get_if<Params>(&scheme);
    if (params == nullptr) return false;
    const Series before = series;
    if (!of(*params, series)) return false;
    for (size_t i = 0; i < series.frequency.size(); ++i) {
      series.frequency[i] = std::copysign(series.frequency[i], before.frequency[i]);
    }
    return true;
  }};
}

// Of one scheme: other parameters.
template <class Params, class Of>
ChangeParameters Reading(Of of) {
  return {[of](Scheme& scheme) {
    auto* params = std::get_if<Params>(&scheme);
    return params != nullptr && of(*params);
  }};
}

std::optional<double> FactorOf(const Scheme& scheme) {
  return std::visit(
      [](const auto& params) -> std::optional<double> {
        if constexpr (requires { params.rotary, params.factor; }) return params.factor;
        return std::nullopt;
      },
      scheme);
}

std::vector<double> Plain(const Rotary& rotary) { return PlainFrequencies<double>(rotary); }

// Those of rope, whatever the schedule; `of` makes frequencies from them and the factor.
template <class Of>
ChangeFrequencies FromPlain(Of of) {
  return {[of](const Scheme& scheme, Series& series) {
    const std::optional<double> factor = FactorOf(scheme);
    if (!factor || AxesOf(scheme).count > 1) return false;
    const Rotary& rotary = RotaryOf(scheme);
    const std::vector<double> plain = Plain(rotary);
    const Series before = series;
    for (size_t i = 0; i < plain.size(); ++i) {
      const double f = of(plain[i], *factor, static_cast<double>(i), rotary);
      series.frequency[i] = rotary.direction == Direction::clockwise ? -f : f;
    }
    return series.frequency != before.frequency;
  }};
}

double TurnsOver(int64_t length, double frequency) {
  return static_cast<double>(length) * std::fabs(frequency) / (2 * std::numbers::pi);
}

// yarn and llama3 as blends, in which `kept` is the share of the plain frequency.
bool Blend(const yarn::Params& params, Series& series, const auto& kept_of) {
  const double factor = yarn::Factor<double>(params);
  const std::vector<double> plain = Plain(params.rotary);
  for (size_t i = 0; i < plain.size(); ++i) {
    const double kept = kept_of(static_cast<double>(i), plain[i]) * params.extrapolation_factor;
    series.frequency[i] = plain[i] / factor * (1 - kept) + plain[i] * kept;
  }
  return true;
}
bool Blend(const llama3::Params& params, Series& series, const auto& kept_of) {
  const std::vector<double> plain = Plain(params.rotary);
  for (size_t i = 0; i < plain.size(); ++i) {
    const double kept = kept_of(static_cast<double>(i), plain[i]);
    series.frequency[i] = plain[i] / params.factor * (1 - kept) + plain[i] * kept;
  }
  return true;
}

double Kept(const llama3::Params& params, double frequency) {
  const double turns = TurnsOver(params.original_length, frequency);
  const double low = params.low_frequency_factor, high = params.high_frequency_factor;
  return turns > high ? 1 : turns < low ? 0 : (turns - low) / (high - low);
}
double Kept(const yarn::Params& params, double i, double frequency) {
  if (params.ramp == yarn::RampOver::turns) return yarn::KeptByTurns<double>(params, frequency);
  const yarn::Ramp<double> ramp = yarn::ChosenRamp<double>(params);
  return 1 - std::clamp((i - ramp.low) / (ramp.high - ramp.low), 0.0, 1.0);
}

template <class Of>
ChangeFrequencies YarnKept(Of of) {
  return ForScheme<yarn::Params>([of](const yarn::Params& params, Series& series) {
    return Blend(params, series,
                 [&](double i, double f) { return of(params, i, f, Kept(params, i, f)); });
  });
}
template <class Of>
ChangeFrequencies LlamaKept(Of of) {
  return ForScheme<llama3::Params>([of](const llama3::Params& params, Series& series) {
    return Blend(params, series, [&](double, double f) { return of(params, f, Kept(params, f)); });
  });
}

// A ramp over pairs with another upper clamp, or without one.
double RampWithClamp(const yarn::Params& params, double i, double last) {
  double low = yarn::PairOfTurns<double>(params, params.beta_fast);
  double high = yarn::PairOfTurns<double>(params, params.beta_slow);
  if (params.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, last);
  if (low == high) high += 0.001;
  return 1 - std::clamp((i - low) / (high - low), 0.0, 1.0);
}

// ntk: powers of alpha.
double AlphaOf(const ntk::Params& params) {
  if (params.form != ntk::Form::dynamic) return params.factor;
  const auto trained = static_cast<double>(*params.trained_length);
  const double beyond = std::max(static_cast<double>(*params.length) - trained, 0.0);
  return 1 + params.factor * beyond / trained;
}
bool NtkWith(const ntk::Params& params, Series& series, double alpha, double exponent) {
  if (params.form == ntk::Form::fixed || params.form == ntk::Form::mixed || !(alpha > 0)) {
    return false;
  }
  const std::vector<double> plain = Plain(params.rotary);
  const auto d = static_cast<double>(params.rotary.rotary_dim);
  for (size_t i = 0; i < plain.size(); ++i) {
    series.frequency[i] = plain[i] * std::pow(alpha, -2 * static_cast<double>(i) / d * exponent);
  }
  return true;
}
double AwareExponent(const ntk::Params& params) {
  const auto d = static_cast<double>(params.rotary.rotary_dim);
  return params.form == ntk::Form::naive ? 1 : d / (d - 2);
}
template <class Alpha>
ChangeFrequencies NtkAlpha(Alpha alpha) {
  return ForScheme<ntk::Params>([alpha](const ntk::Params& params, Series& series) {
    return params.form != ntk::Form::qwen &&
           NtkWith(params, series, alpha(params), AwareExponent(params));
  });
}

// The magnitude of yarn by another rule.
template <class Of>
ChangeFrequencies YarnMagnitude(Of of) {
  return ForScheme<yarn::Params>([of](const yarn::Params& params, Series& series) {
    const double was = series.magnitude;
    series.magnitude = of(params, was);
    return series.magnitude != was;
  });
}

}  // namespace

std::vector<Fault> FaultsOfSchedules() {
  return {
      {.id = "scaling_ignored",
       .cause = "frequencies are those of plain rope: the scaling block is not read",
       .fix = "read rope_scaling (rope_parameters) and refuse types that are not known",
       .shows = "position 1, at the pairs that the schedule slows down",
       .change = FromPlain([](double f, double, double, const Rotary&) { return f; }),
       .links = On({"lablup/mlxcel/issues/1355", "felafax/felafax/issues/59",
                    "antonellof/ferrox/issues/39"}),
       .kinds = {"LLAMA3_MISSING", "PI_IGNORED", "PI_WRONG_LAYER"}},
      {.id = "scaling_linear",
       .cause = "all frequencies are divided by the factor, as linear scaling does",
       .fix = "read the type of the scaling block",
       .shows = "position 1, pair 0",
       .change = FromPlain([](double f, double s, double, const Rotary&) { return f / s; }),
       .links = On({"ollama/ollama/pull/13452"}),
       .kinds = {"PI_ALL_LAYERS", "PI_WRONG_LAYER"}},
      {.id = "scaling_ntk",
       .cause = "the base is scaled by factor^(d/(d-2)), as NTK-aware scaling does",
       .fix = "read the type of the scaling block",
       .shows = "position 1, pair 1",
       .change = FromPlain([](double f, double s, double i, const Rotary& rotary) {
         const auto d = static_cast<double>(rotary.rotary_dim);
         return f * std::pow(s, -2 * i / (d - 2));
       })},
      {.id = "scaling_inside_power",
       .cause = "the factor is inside the power: (s base)^(-2i/d) instead of base^(-2i/d)/s",
       .fix = "divide after the power",
       .shows = "position 1, pair 0",
       .change = FromPlain([](double f, double s, double i, const Rotary& rotary) {
         return f * std::pow(s, -2 * i / static_cast<double>(rotary.rotary_dim));
       }),
       .links = On({"apache/tvm/pull/18576"}),
       .kinds = {"SCALE_INSIDE_POW"}},
      {.id = "scaling_multiplies",
       .cause = "all frequencies are multiplied by the factor",
       .fix = "divide by it",
       .shows = "position 1, pair 0",
       .change = FromPlain([](double f, double s, double, const Rotary&) { return f * s; })},
      {.id = "ntk_exponent",
       .cause = "the base grows by s^(d/(d-1)), not s^(d/(d-2))",
       .fix = "the last of d/2 pairs has exponent (d-2)/d",
       .shows = "position 1, pair 1",
       .change = ForScheme<ntk::Params>([](const ntk::Params& params, Series& series) {
         const auto d = static_cast<double>(params.rotary.rotary_dim);
         return params.form == ntk::Form::aware &&
                NtkWith(params, series, params.factor, d / (d - 1));
       })},
      {.id = "ntk_alpha_squared",
       .cause = "alpha is s^2 - s + 1 at every length: the factor is put in for the length",
       .fix = "alpha = s length/trained_length - (s - 1)",
       .shows = "a length other than factor times the trained one",
       .change = NtkAlpha([](const ntk::Params& p) {
         return p.form == ntk::Form::dynamic ? p.factor * p.factor - p.factor + 1 : 0;
       }),
       .links = On({"vllm-project/vllm/issues/41236"}),
       .kinds = {"NTK_ALPHA_SQUARED"}},
      {.id = "ntk_ignores_length",
       .cause = "the dynamic form scales by the factor at every length",
       .fix = "form the base from the length that runs",
       .shows = "a length other than that which the factor is for",
       .change = NtkAlpha(
           [](const ntk::Params& p) { return p.form == ntk::Form::dynamic ? p.factor : 0; }),
       .links = On({"vllm-project/vllm/issues/5093", "onnxruntime/mobius/pull/293"}),
       .kinds = {"DYN_NTK_STATIC", "ALPHA_KEY"}},
      {.id = "ntk_unclamped",
       .cause = "lengths below the trained one are scaled too",
       .fix = "alpha is 1 up to the trained length",
       .shows = "a length below the trained one",
       .change = NtkAlpha([](const ntk::Params& p) {
         if (p.form != ntk::Form::dynamic) return 0.0;
         const auto trained = static_cast<double>(*p.trained_length);
         return 1 + p.factor * (static_cast<double>(*p.length) - trained) / trained;
       })},
      {.id = "ntk_inverted",
       .cause = "the base shrinks where it should grow",
       .fix = "multiply the base by alpha^(d/(d-2))",
       .shows = "position 1, pair 1",
       .change = NtkAlpha([](const ntk::Params& p) { return 1 / AlphaOf(p); })},
      {.id = "yarn_ramp_inverted",
       .cause = "fast pairs are interpolated and slow ones kept",
       .fix = "the ramp rises with the index of the pair and weighs the divided frequency",
       .shows = "position 1, pair 0",
       .change =
           YarnKept([](const yarn::Params&, double, double, double kept) { return 1 - kept; }),
       .links = On({"pytorch/torchtitan/pull/3787"}),
       .kinds = {"BETA_SWAP"}},
      {.id = "yarn_clamp_half",
       .cause = "the upper end of the ramp is clamped to d/2 - 1, not d - 1",
       .fix = "clamp as the authors' code does, to d - 1",
       .shows = "a ramp that ends beyond the last pair",
       .change = YarnKept([](const yarn::Params& p, double i, double f, double kept) {
         static_cast<void>(f);
         if (p.ramp != yarn::RampOver::pairs) return kept;
         return RampWithClamp(p, i, static_cast<double>(p.rotary.rotary_dim) / 2 - 1);
       }),
       .links = On({"jingyaogong/minimind/issues/602", "keras-team/keras-hub/pull/2981"}),
       .kinds = {"YARN_CLAMP_HALF"}},
      {.id = "yarn_unclamped",
       .cause = "lengths below the original one are scaled too",
       .fix = "the factor is 1 up to the original length",
       .shows = "a length below the original one",
       .change = ForScheme<yarn::Params>([](const yarn::Params& params, Series& series) {
         if (!params.length) return false;
         yarn::Params stretched = params;
         stretched.factor =
             static_cast<double>(*params.length) / static_cast<double>(params.original_length);
         stretched.length.reset();
         if (stretched.factor >= 1) return false;
         series.frequency = yarn::Exact<double>(stretched).frequency;
         return true;
       })},
      {.id = "blend_missing",
       .cause = "no pair is blended: each is kept or divided, whichever is nearer",
       .fix = "blend between the two ends of the ramp",
       .shows = "position 1, at pairs within the ramp",
       .change = YarnKept(
           [](const yarn::Params&, double, double, double kept) { return kept > 0.5 ? 1.0 : 0.0; }),
       .more = {LlamaKept(
           [](const llama3::Params&, double, double kept) { return kept > 0.5 ? 1.0 : 0.0; })}},
      {.id = "blend_kept",
       .cause = "pairs within the ramp are kept whole",
       .fix = "blend between the two ends of the ramp",
       .shows = "position 1, at pairs within the ramp",
       .change = YarnKept(
           [](const yarn::Params&, double, double, double kept) { return kept > 0 ? 1.0 : 0.0; }),
       .more = {LlamaKept(
           [](const llama3::Params&, double, double kept) { return kept > 0 ? 1.0 : 0.0; })}},
      {.id = "blend_divided",
       .cause = "pairs within the ramp are divided by the whole factor",
       .fix = "blend between the two ends of the ramp",
       .shows = "position 1, at pairs within the ramp",
       .change = YarnKept(
           [](const yarn::Params&, double, double, double kept) { return kept < 1 ? 0.0 : 1.0; }),
       .more = {LlamaKept(
           [](const llama3::Params&, double, double kept) { return kept < 1 ? 0.0 : 1.0; })}},
      {.id = "llama3_swapped",
       .cause = "the branches for long and short wavelengths are exchanged",
       .fix = "keep short wavelengths, divide long ones",
       .shows = "position 1, pair 0",
       .change = LlamaKept([](const llama3::Params&, double, double kept) { return 1 - kept; })},
      {.id = "llama3_blend_on_wavelength",
       .cause = "the blend is linear in the wavelength, not in the number of turns",
       .fix = "interpolate in original_length/wavelength",
       .shows = "position 1, at pairs within the ramp",
       .change = LlamaKept([](const llama3::Params& p, double f, double kept) {
         if (kept == 0 || kept == 1) return kept;
         const double turns = TurnsOver(p.original_length, f);
         const double low = 1 / p.low_frequency_factor, high = 1 / p.high_frequency_factor;
         return std::clamp((low - 1 / turns) / (low - high), 0.0, 1.0);
       }),
       .links = On({"ml-explore/mlx-examples/pull/907"}),
       .kinds = {"LLAMA3_BLEND_ON_PERIOD"}},
      {.id = "llama3_factor_of_3_2",
       .cause = "the factor is that of a sister model: 8 and 32 are exchanged",
       .fix = "read the factor of the model that runs",
       .shows = "position 1, at slow pairs",
       .change = Reading<llama3::Params>([](llama3::Params& p) {
         if (p.factor != 8 && p.factor != 32) return false;
         p.factor = p.factor == 8 ? 32 : 8;
         return true;
       }),
       .links = On({"TransformerLensOrg/TransformerLens/pull/910"}),
       .kinds = {"LLAMA3_WRONG_FACTOR"}},
      {.id = "original_length_times_factor",
       .cause = "the extended length stands for the original one",
       .fix = "take original_max_position_embeddings, not max_position_embeddings",
       .shows = "position 1, at pairs within either ramp",
       .change = Reading<yarn::Params>([](yarn::Params& p) {
         p.original_length =
             static_cast<int64_t>(static_cast<double>(p.original_length) * p.factor);
         return p.factor > 1;
       }),
       .more = {Reading<llama3::Params>([](llama3::Params& p) {
                  p.original_length =
                      static_cast<int64_t>(static_cast<double>(p.original_length) * p.factor);
                  return p.factor > 1;
                }),
                Reading<longrope::Params>([](longrope::Params& p) {
                  p.original_length =
                      static_cast<int64_t>(static_cast<double>(p.original_length) * p.factor);
                  return p.factor > 1;
                })}},
      {.id = "magnitude_single",
       .cause = "the magnitude is g(s, mscale) alone, without the division by g(s, mscale_all_dim)",
       .fix = "divide by g(s, mscale_all_dim) where the config has it",
       .shows = "position 0: the norm of every pair is off by the same factor",
       .change = YarnMagnitude([](const yarn::Params& p, double was) {
         return p.mscale ? yarn::MagnitudeOf<double>(p, *p.mscale) : was;
       }),
       .links = On({"ggml-org/llama.cpp/issues/7118", "kekzl/imp/pull/880"}),
       .kinds = {"MSCALE_SINGLE"}},
      {.id = "magnitude_raw",
       .cause = "the config's mscale itself is the magnitude",
       .fix = "the magnitude is 0.1 mscale ln(s) + 1",
       .shows = "position 0: the norm of every pair is off by the same factor",
       .change =
           YarnMagnitude([](const yarn::Params& p, double was) { return p.mscale.value_or(was); }),
       .links = On({"youssofal/MTPLX/pull/394"}),
       .kinds = {"MSCALE_RAW"}},
      {.id = "magnitude_logged_twice",
       .cause = "a final attention factor goes through 0.1 A ln(s) + 1 again",
       .fix = "use an attention factor of the config as it is",
       .shows = "position 0: the norm of every pair is off by the same factor",
       .change = YarnMagnitude([](const yarn::Params& p, double was) {
         return p.attention_factor ? yarn::MagnitudeOf<double>(p, *p.attention_factor) : was;
       })},
      {.id = "magnitude_times_default",
       .cause = "the attention factor is multiplied with the default 0.1 ln(s) + 1",
       .fix = "use an attention factor of the config as it is",
       .shows = "position 0: the norm of every pair is off by the same factor",
       .change = YarnMagnitude(
           [](const yarn::Params& p, double was) { return was * yarn::MagnitudeOf<double>(p, 1); }),
       .links = On({"sgl-project/sglang/pull/33558"}),
       .kinds = {"MSCALE_TWICE"}},
      {.id = "longrope_switches_early",
       .cause = "the long factors apply at the original length already: < stands for <=",
       .fix = "the short factors are used up to and including the original length",
       .shows = "a length equal to the original one",
       .change = Reading<longrope::Params>([](longrope::Params& p) {
         if (!p.length || *p.length != p.original_length) return false;
         p.length = *p.length + 1;
         return true;
       }),
       .links = On({"unslothai/unsloth/pull/10681"}),
       .kinds = {"LONGROPE_LT_LE"}},
      {.id = "longrope_always_long",
       .cause = "the long factors apply at every length: the cache's capacity counts as the length",
       .fix = "choose the list by the length that runs",
       .shows = "a length up to the original one",
       .change = Reading<longrope::Params>([](longrope::Params& p) {
         if (p.length.value_or(0) > p.original_length) return false;
         p.length = p.original_length + 1;
         return true;
       }),
       .links = On({"ggml-org/llama.cpp/issues/24823", "trymirai/lalamo/pull/326",
                    "lablup/mlxcel/issues/1358"}),
       .kinds = {"LONGROPE_BY_CAPACITY", "LONGROPE_ONLY_LONG", "LONGROPE_MIXED_CACHE"}},
      {.id = "longrope_always_short",
       .cause = "the short factors apply at every length",
       .fix = "choose the list by the length that runs",
       .shows = "a length beyond the original one",
       .change = Reading<longrope::Params>([](longrope::Params& p) {
         if (p.length.value_or(0) <= p.original_length) return false;
         p.length = p.original_length;
         return true;
       }),
       .links = On({"mlc-ai/mlc-llm/pull/3375"}),
       .kinds = {"LONGROPE_ONE_LIST"}},
      {.id = "longrope_dropped",
       .cause = "no list of factors is applied",
       .fix = "refuse a type of scaling that is not known",
       .shows = "position 1, at pairs whose factor is not 1",
       .change = ForScheme<longrope::Params>([](const longrope::Params& params, Series& series) {
         series.frequency = Plain(params.rotary);
         return params.short_factor || params.long_factor;
       }),
       .links = On({"apple/coreai-models/pull/246", "NVIDIA/TensorRT-LLM/issues/4728"}),
       .kinds = {"LONGROPE_DROPPED", "SCALING_TYPE_NONE"}},
      {.id = "longrope_multiplied",
       .cause = "frequencies are multiplied by the list of factors",
       .fix = "divide by it",
       .shows = "position 1, at pairs whose factor is not 1",
       .change = ForScheme<longrope::Params>([](const longrope::Params& params, Series& series) {
         const std::vector<double> plain = Plain(params.rotary);
         for (size_t i = 0; i < plain.size(); ++i) {
           series.frequency[i] = plain[i] * plain[i] / std::fabs(series.frequency[i]);
         }
         return params.short_factor || params.long_factor;
       })},
      {.id = "proportion_all_turn",
       .cause = "all pairs turn: the proportion is ignored",
       .fix = "pairs beyond the proportion have frequency 0",
       .shows = "position 1, at the pairs beyond the proportion",
       .change = Reading<proportional::Params>(
           [](proportional::Params& p) { return std::exchange(p.proportion, 1) != 1; }),
       .kinds = {"PARTIAL_IGNORED"}},
      {.id = "proportion_in_exponent",
       .cause = "exponents are divided by the number of pairs that turn",
       .fix = "divide by the whole width",
       .shows = "position 1, pair 1",
       .change =
           ForScheme<proportional::Params>([](const proportional::Params& params, Series& series) {
             const auto turning = static_cast<size_t>(
                 std::ranges::count_if(series.frequency, [](double f) { return f != 0; }));
             if (turning == series.frequency.size()) return false;
             for (size_t i = 0; i < turning; ++i) {
               const double exponent = -static_cast<double>(i) / static_cast<double>(turning);
               series.frequency[i] = std::pow(params.rotary.base, exponent) / params.factor;
             }
             return true;
           })},
      {.id = "axis_series",
       .cause = "every axis has a series of its own, from 1 on, where axes share one",
       .fix = "index frequencies by the pair, not by its place in its axis",
       .shows = "position 1, at the pairs of the second axis",
       .change = ForScheme<mrope::Params>([](const mrope::Params& params, Series& series) {
         bool changed = false;
         double start = 1;
         for (size_t i = 1; i < series.frequency.size(); ++i) {
           const auto pair = static_cast<int64_t>(i);
           if (params.AxisOf(pair) != params.AxisOf(pair - 1)) {
             start = std::fabs(series.frequency[i]);
             changed = true;
           }
           if (changed) series.frequency[i] /= start;
         }
         return changed;
       })},
      {.id = "axis_series_shared",
       .cause = "axes share one series where each has its own",
       .fix = "begin the exponents anew with every axis",
       .shows = "position 1, pair 1",
       .change = ForScheme<axial::Params>([](const axial::Params& params, Series& series) {
         const std::vector<double> before = series.frequency;
         series.frequency = Plain(params.rotary);
         return series.frequency != before;
       })},
  };
}

}  // namespace posgauge
