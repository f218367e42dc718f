// What becomes of magnitudes, of scales of logits, of slopes and buckets.
#include <algorithm>
#include <bit>
#include <cmath>

#include "posgauge/reference/yarn.h"
#include "posgauge/verify/effective_replays.h"

namespace posgauge::replay {

namespace {

// What the config means with another magnitude or multiplier.
Readings WithMagnitude(const ReplayContext& context, double magnitude, std::string_view what) {
  if (!IsRotary(context.group.scheme)) return {};
  Reading reading = ReadingOf(context.group.scheme, context.arithmetic);
  if (magnitude == reading.magnitude || !(magnitude > 0)) return {};
  reading.difference =
      fmt::format("cos and sin are multiplied by {:.7g}{}, the config means {:.7g}", magnitude,
                  what, reading.magnitude);
  reading.magnitude = magnitude;
  reading.is_scheme = false;
  return {reading};
}

Readings WithSoftmax(const ReplayContext& context, double multiplier) {
  if (!IsRotary(context.group.scheme)) return {};
  Reading reading = ReadingOf(context.group.scheme, context.arithmetic);
  if (multiplier == reading.softmax_multiplier) return {};
  reading.difference = fmt::format(
      "logits are multiplied by {:.7g} besides 1/sqrt(head_dim), the config means {:.7g}",
      multiplier, reading.softmax_multiplier);
  reading.softmax_multiplier = multiplier;
  reading.is_scheme = false;
  return {reading};
}

double Magnitude(const ReplayContext& context) {
  return IsRotary(context.group.scheme)
             ? ReadingOf(context.group.scheme, context.arithmetic).magnitude
             : 1;
}

double SoftmaxMultiplier(const ReplayContext& context) {
  return IsRotary(context.group.scheme)
             ? ReadingOf(context.group.scheme, context.arithmetic).softmax_multiplier
             : 1;
}

const yarn::Params* Yarn(const ReplayContext& context) {
  return std::get_if<yarn::Params>(&context.group.scheme);
}

Readings WithSlopes(const ReplayContext& context, std::vector<double> slopes,
                    std::string difference) {
  Reading reading = ReadingOf(context.group.scheme, context.arithmetic);
  if (slopes == reading.slopes) return {};
  reading.slopes = std::move(slopes);
  reading.difference = std::move(difference);
  reading.is_scheme = false;
  return {reading};
}

const alibi::Params* Alibi(const ReplayContext& context) {
  return std::get_if<alibi::Params>(&context.group.scheme);
}

// 2^(-max_bias h/n) for h = 1..count.
std::vector<double> GeometricSlopes(double max_bias, int64_t n, int64_t count) {
  std::vector<double> slopes;
  for (int64_t h = 1; h <= count; ++h) {
    slopes.push_back(std::exp2(-max_bias * static_cast<double>(h) / static_cast<double>(n)));
  }
  return slopes;
}

}  // namespace

Readings AttentionFactorIgnored(const ReplayContext& context) {
  return WithMagnitude(context, 1, "");
}

Readings AttentionFactorSquared(const ReplayContext& context) {
  const double a = Magnitude(context);
  return WithMagnitude(context, a * a, fmt::format(" ({:.7g} squared)", a));
}

Readings AttentionFactorInverted(const ReplayContext& context) {
  const double a = Magnitude(context);
  return WithMagnitude(context, 1 / a, fmt::format(" (1/{:.7g})", a));
}

// One that is final already, times 0.1 ln s + 1.
Readings AttentionFactorTimesRule(const ReplayContext& context) {
  const yarn::Params* params = Yarn(context);
  if (params == nullptr || !params->attention_factor) return {};
  const double rule = yarn::MagnitudeOf<double>(*params, 1);
  return WithMagnitude(
      context, *params->attention_factor * rule,
      fmt::format(" (attention_factor {} times {:.7g})", *params->attention_factor, rule));
}

Readings AttentionFactorByRule(const ReplayContext& context) {
  Readings readings;
  if (const yarn::Params* own = Yarn(context); own && own->attention_factor) {
    yarn::Params params = *own;
    params.attention_factor.reset();
    const double by_rule = yarn::Magnitude<double>(params);
    AddScheme(readings, context, params,
              fmt::format("cos and sin are multiplied by {:.7g} (0.1 ln s + 1), the config says {}",
                          by_rule, *own->attention_factor));
  }
  if (const auto* own = std::get_if<longrope::Params>(&context.group.scheme)) {
    longrope::Params params = *own;
    params.attention_factor.reset();
    params.short_mscale.reset();
    params.long_mscale.reset();
    if (params.factor == 1 && context.model.max_position) {
      params.factor = static_cast<double>(*context.model.max_position) /
                      static_cast<double>(params.original_length);
    }
    AddScheme(readings, context, params,
              "cos and sin are multiplied by sqrt(1 + ln s/ln L), the config gives the number");
  }
  return readings;
}

Readings AttnFactorIgnored(const ReplayContext& context) {
  Readings readings;
  if (const yarn::Params* own = Yarn(context)) {
    yarn::Params params = *own;
    params.attention_multiplier = 1;
    AddScheme(readings, context, params,
              fmt::format("cos and sin lack attn_factor {}", own->attention_multiplier));
  }
  return readings;
}

Readings AttentionFactorLoggedTwice(const ReplayContext& context) {
  const yarn::Params* params = Yarn(context);
  if (params == nullptr) return {};
  const double a = Magnitude(context), s = yarn::Factor<double>(*params);
  return WithMagnitude(context, 0.1 * a * std::log(s) + 1,
                       fmt::format(" (0.1 {:.7g} ln {} + 1)", a, s));
}

Readings MscaleRaw(const ReplayContext& context) {
  const yarn::Params* params = Yarn(context);
  if (params == nullptr || !params->mscale) return {};
  return WithMagnitude(context, *params->mscale, " (mscale itself)");
}

Readings MscaleAlone(const ReplayContext& context) {
  const yarn::Params* params = Yarn(context);
  if (params == nullptr || !params->mscale) return {};
  return WithMagnitude(context, yarn::MagnitudeOf<double>(*params, *params->mscale),
                       " (0.1 mscale ln s + 1 without its denominator)");
}

Readings MscalesIgnored(const ReplayContext& context) {
  const yarn::Params* params = Yarn(context);
  if (params == nullptr || params->attention_factor) return {};
  return WithMagnitude(context, yarn::MagnitudeOf<double>(*params, 1),
                       " (0.1 ln s + 1 without the mscales)");
}

Readings SoftmaxMultiplierIgnored(const ReplayContext& context) { return WithSoftmax(context, 1); }

Readings SoftmaxMultiplierRoot(const ReplayContext& context) {
  return WithSoftmax(context, std::sqrt(SoftmaxMultiplier(context)));
}

Readings SoftmaxMultiplierSquared(const ReplayContext& context) {
  const double multiplier = SoftmaxMultiplier(context);
  return WithSoftmax(context, multiplier * multiplier);
}

// 1/sqrt of the channels that turn, or no scale where there is one and the reverse.
Readings LogitScaleOther(const ReplayContext& context) {
  Readings readings;
  Scheme scheme = context.group.scheme;
  if (IsRotary(scheme)) {
    const Rotary& rotary = RotaryOf(scheme);
    const auto width = static_cast<double>(rotary.rotary_dim);
    const auto head = static_cast<double>(rotary.head_dim);
    if (width == 0) return readings;
    readings = WithSoftmax(context, SoftmaxMultiplier(context) * std::sqrt(head / width));
    for (Reading& reading : readings) {
      reading.difference = fmt::format("1/sqrt({}) in use, the config means 1/sqrt({})",
                                       rotary.rotary_dim, rotary.head_dim);
    }
    return readings;
  }
  std::visit(
      [&]<class Params>(Params& params) {
        if constexpr (Attends<Params>) {
          ScoreScale& scale = params.attention.scale;
          const ScoreScale own = scale;
          scale = own == ScoreScale::one ? ScoreScale::inverse_sqrt : ScoreScale::one;
          AddScheme(readings, context, params,
                    fmt::format("scale {} in use, the config means {}", VariantName(scale),
                                VariantName(own)));
        }
      },
      scheme);
  return readings;
}

Readings SlopesPowerOfTwoRule(const ReplayContext& context) {
  const alibi::Params* params = Alibi(context);
  if (params == nullptr) return {};
  const int64_t heads = params->attention.heads;
  return WithSlopes(context, GeometricSlopes(params->max_bias, heads, heads),
                    fmt::format("2^(-{} h/{}) in use, which holds where heads are a power of two",
                                params->max_bias, heads));
}

Readings SlopesFirstOfNextPower(const ReplayContext& context) {
  const alibi::Params* params = Alibi(context);
  if (params == nullptr) return {};
  const int64_t heads = params->attention.heads;
  const auto next = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(heads)));
  return WithSlopes(context, GeometricSlopes(params->max_bias, next, heads),
                    fmt::format("the first {} of {} slopes in use", heads, next));
}

Readings SlopesOfSlice(const ReplayContext& context) {
  Readings readings;
  const alibi::Params* own = Alibi(context);
  if (own == nullptr || !own->total_heads) return readings;
  alibi::Params params = *own;
  params.total_heads.reset();
  params.first_head = 0;
  AddScheme(readings, context, params,
            fmt::format("slopes of a model with {} heads in use, the heads are {}-{} of {}",
                        own->attention.heads, own->first_head,
                        own->first_head + own->attention.heads - 1, own->TotalHeads()));
  return readings;
}

Readings SlopesNegated(const ReplayContext& context) {
  if (Alibi(context) == nullptr) return {};
  std::vector<double> slopes = ReadingOf(context.group.scheme, context.arithmetic).slopes;
  for (double& slope : slopes) slope = -slope;
  return WithSlopes(context, std::move(slopes), "slopes are negative, the config means positive");
}

Readings MaxBiasIgnored(const ReplayContext& context) {
  Readings readings;
  if (const alibi::Params* own = Alibi(context)) {
    alibi::Params params = *own;
    params.max_bias = 8;
    AddScheme(readings, context, params,
              fmt::format("max_bias 8 in use, the config says {}", own->max_bias));
  }
  return readings;
}

// Each of the three as it is said, the others as the config has them, or all.
Readings BucketsOther(const ReplayContext& context) {
  Readings readings;
  const auto* own = std::get_if<t5::Params>(&context.group.scheme);
  if (own == nullptr) return readings;
  t5::Params params = *own;
  const Effective& used = context.effective;
  params.num_buckets = used.num_buckets.value_or(own->num_buckets);
  params.max_distance = used.max_distance.value_or(own->max_distance);
  params.bidirectional = used.bidirectional.value_or(own->bidirectional);
  AddScheme(readings, context, params,
            fmt::format("{} buckets up to distance {}{} in use, the config means {} up to {}{}",
                        params.num_buckets, params.max_distance,
                        params.bidirectional ? ", both ways" : "", own->num_buckets,
                        own->max_distance, own->bidirectional ? ", both ways" : ""));
  return readings;
}

}  // namespace posgauge::replay
