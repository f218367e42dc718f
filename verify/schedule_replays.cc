// What becomes of frequencies whose scaling is another.
#include <algorithm>
#include <cmath>
#include <set>

#include "posgauge/verify/effective_replays.h"

namespace posgauge::replay {

namespace {

template <class Params>
const Params* As(const ReplayContext& context) {
  return std::get_if<Params>(&context.group.scheme);
}

// The scheme with another factor.
void AddFactor(Readings& readings, const ReplayContext& context, double factor) {
  Scheme scheme = context.group.scheme;
  double* own = FactorOf(scheme);
  if (own == nullptr) return;
  const double before = std::exchange(*own, factor);
  AddScheme(readings, context, scheme,
            fmt::format("factor {} in use, the config says {}", factor, before));
}

double OwnFactor(const ReplayContext& context) {
  Scheme scheme = context.group.scheme;
  const double* factor = FactorOf(scheme);
  return factor != nullptr ? *factor : 1;
}

}  // namespace

Readings ScalingIgnored(const ReplayContext& context) {
  Readings readings;
  const Scheme& scheme = context.group.scheme;
  if (!IsRotary(scheme) || AxesOf(scheme).count > 1) return readings;
  AddScheme(readings, context, rope::Params{.rotary = RotaryOf(scheme)},
            fmt::format("unscaled frequencies in use, the config says {}", Name(scheme)));
  return readings;
}

// Without their factors yarn and llama3 are no scaling at all, magnitude included: ScalingIgnored.
Readings FactorIgnored(const ReplayContext& context) {
  Readings readings;
  const bool blends = As<yarn::Params>(context) || As<llama3::Params>(context);
  if (!blends) AddFactor(readings, context, 1);
  return readings;
}

// Multiplied where the config divides: 1/s for s in the scheme where that has such a factor, in
// the blend of kept and divided pairs, or every ratio to the plain frequency upside down.
Readings FactorInverted(const ReplayContext& context) {
  Readings readings;
  const Scheme& scheme = context.group.scheme;
  if (!IsRotary(scheme) || AxesOf(scheme).count > 1) return readings;
  const double s = OwnFactor(context);
  if (s != 1) AddFactor(readings, context, 1 / s);
  const std::vector<double> own = ReadingOf(scheme, context.arithmetic).frequencies;
  const std::vector<double> plain = PlainFrequenciesOf(context);
  if (own == plain) return readings;
  const std::string difference = s != 1 ? fmt::format(
                                              "frequencies are multiplied by factor {}, the "
                                              "config means them divided",
                                              s)
                                        : "frequencies are multiplied by the factors, the config "
                                          "means them divided";
  std::vector<double> blended, upside_down;
  for (size_t i = 0; i < plain.size(); ++i) {
    const double ratio = own[i] / plain[i];
    const double kept = s != 1 ? (ratio - 1 / s) / (1 - 1 / s) : 0;
    blended.push_back(plain[i] * ((1 - kept) * s + kept));
    upside_down.push_back(plain[i] / ratio);
  }
  const bool blends = As<yarn::Params>(context) || As<llama3::Params>(context);
  for (const auto& frequencies : {blends ? blended : upside_down, upside_down}) {
    if (!std::ranges::all_of(frequencies, [](double x) { return std::isfinite(x); })) continue;
    std::ranges::copy(WithFrequencies(context, frequencies, difference),
                      std::back_inserter(readings));
  }
  return readings;
}

Readings FactorTwice(const ReplayContext& context) {
  const double s = OwnFactor(context);
  if (s == 1 || !IsRotary(context.group.scheme)) return {};
  std::vector<double> frequencies = ReadingOf(context.group.scheme, context.arithmetic).frequencies;
  for (double& frequency : frequencies) frequency /= s;
  return WithFrequencies(context, std::move(frequencies),
                         fmt::format("every angle is divided by factor {} once more", s));
}

Readings FactorOther(const ReplayContext& context) {
  Readings readings;
  for (const double factor : {2, 4, 8, 16, 32, 40, 64, 128}) AddFactor(readings, context, factor);
  return readings;
}

Readings OriginalLengthOther(const ReplayContext& context) {
  Readings readings;
  const auto add = [&]<class Params>(const Params& own) {
    std::set<int64_t> lengths = {2048, 4096, 8192, 32768, 4 * own.original_length};
    if (context.model.max_position) lengths.insert(*context.model.max_position);
    for (const int64_t length : lengths) {
      Params params = own;
      params.original_length = length;
      AddScheme(readings, context, params,
                fmt::format("original length {} in use, the config says {}", length,
                            own.original_length));
    }
  };
  if (const auto* params = As<yarn::Params>(context)) add(*params);
  if (const auto* params = As<llama3::Params>(context)) add(*params);
  return readings;
}

// 1/(s b)^(2i/d) where 1/(s b^(2i/d)) is meant: of every pair, or of those that are divided.
Readings ScaleInsidePower(const ReplayContext& context) {
  const double s = OwnFactor(context);
  const bool blends = As<yarn::Params>(context) || As<llama3::Params>(context);
  if (s == 1 || (!blends && !As<linear::Params>(context))) return {};
  const std::vector<double> own = ReadingOf(context.group.scheme, context.arithmetic).frequencies;
  std::vector<double> frequencies = PlainFrequenciesOf(context);
  const auto width = static_cast<double>(RotaryOf(context.group.scheme).rotary_dim);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double kept = (own[i] / frequencies[i] - 1 / s) / (1 - 1 / s);
    const double inside = std::pow(s, -2 * static_cast<double>(i) / width);
    frequencies[i] *= (1 - kept) * inside + kept;
  }
  return WithFrequencies(context, std::move(frequencies),
                         fmt::format("(factor base)^(2i/d) divides, the config means factor "
                                     "base^(2i/d), factor {}",
                                     s));
}

Readings LinearForAll(const ReplayContext& context) {
  Readings readings;
  const double s = OwnFactor(context);
  if (s == 1 || As<linear::Params>(context) || As<proportional::Params>(context)) return readings;
  if (!IsRotary(context.group.scheme)) return readings;
  AddScheme(readings, context,
            linear::Params{.rotary = RotaryOf(context.group.scheme), .factor = s},
            fmt::format("every pair is divided by {}, the config says {}", s,
                        Name(context.group.scheme)));
  return readings;
}

Readings NtkForLinear(const ReplayContext& context) {
  Readings readings;
  if (const auto* params = As<linear::Params>(context)) {
    AddScheme(
        readings, context, ntk::Params{.rotary = params->rotary, .factor = params->factor},
        fmt::format("the base is scaled by {} (NTK), the config says linear", params->factor));
  }
  return readings;
}

// b' = b alpha^(d/(d-1)): the exponent that makes no pair exactly divided by alpha.
Readings NtkExponent(const ReplayContext& context) {
  const auto* params = As<ntk::Params>(context);
  if (params == nullptr || params->form != ntk::Form::aware) return {};
  const auto width = static_cast<double>(params->rotary.rotary_dim);
  std::vector<double> frequencies = PlainFrequenciesOf(context);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] *= std::pow(params->factor, -2 * static_cast<double>(i) / (width - 1));
  }
  return WithFrequencies(context, std::move(frequencies),
                         "base alpha^(d/(d-1)) in use, the config means base alpha^(d/(d-2))");
}

Readings NtkNaive(const ReplayContext& context) {
  Readings readings;
  const auto* params = As<ntk::Params>(context);
  if (params == nullptr || params->form != ntk::Form::aware) return readings;
  ntk::Params naive = *params;
  naive.form = ntk::Form::naive;
  AddScheme(readings, context, naive, "base alpha in use, the config means base alpha^(d/(d-2))");
  return readings;
}

Readings LengthIgnored(const ReplayContext& context) {
  Readings readings;
  if (const auto* params = As<ntk::Params>(context); params && params->length) {
    ntk::Params short_one = *params;
    short_one.length = params->trained_length;
    AddScheme(readings, context, short_one,
              fmt::format("frequencies of lengths up to {} in use at length {}",
                          *params->trained_length, *params->length));
  }
  return readings;
}

// vLLM forms dynamic frequencies once, for the longest length.
Readings LengthFixed(const ReplayContext& context) {
  Readings readings;
  const auto* params = As<ntk::Params>(context);
  if (params == nullptr || params->form != ntk::Form::dynamic) return readings;
  ntk::Params fixed = *params;
  fixed.length = std::llround(params->factor * static_cast<double>(*params->trained_length));
  AddScheme(readings, context, fixed,
            fmt::format("frequencies of length {} (factor times max_position_embeddings) in use at "
                        "length {}",
                        *fixed.length, *params->length));
  fixed.form = ntk::Form::aware;
  fixed.length = fixed.trained_length = std::nullopt;
  AddScheme(readings, context, fixed,
            fmt::format("the base is scaled by factor {} at every length, the config means by the "
                        "current length",
                        fixed.factor));
  return readings;
}

Readings OtherFactorList(const ReplayContext& context) {
  Readings readings;
  const auto* params = As<longrope::Params>(context);
  if (params == nullptr || !params->length) return readings;
  const bool is_long = *params->length > params->original_length;
  longrope::Params other = *params;
  other.length = is_long ? params->original_length : params->original_length + 1;
  AddScheme(readings, context, other,
            fmt::format("{} in use, at length {} the config means {}",
                        is_long ? "short_factor" : "long_factor", *params->length,
                        is_long ? "long_factor" : "short_factor"));
  return readings;
}

Readings ProportionIgnored(const ReplayContext& context) {
  Readings readings;
  if (const auto* params = As<proportional::Params>(context)) {
    proportional::Params all = *params;
    all.proportion = 1;
    AddScheme(readings, context, all,
              fmt::format("all {} pairs turn, the config has {} of them turn",
                          params->rotary.Pairs(), params->proportion));
  }
  return readings;
}

Readings ProportionAsPrefix(const ReplayContext& context) {
  Readings readings;
  if (const auto* params = As<proportional::Params>(context)) {
    Rotary rotary = params->rotary;
    rotary.rotary_dim =
        2 *
        std::llround(std::floor(params->proportion * static_cast<double>(rotary.rotary_dim) / 2));
    AddScheme(
        readings, context, rope::Params{.rotary = rotary},
        fmt::format("the first {} channels turn as a block of their own, the config has pairs "
                    "of the whole head turn",
                    rotary.rotary_dim));
  }
  return readings;
}

Readings ProportionCeiling(const ReplayContext& context) {
  Readings readings;
  if (const auto* params = As<proportional::Params>(context)) {
    proportional::Params one_more = *params;
    const auto pairs = static_cast<double>(params->rotary.Pairs());
    one_more.proportion = std::ceil(params->proportion * pairs) / pairs;
    AddScheme(readings, context, one_more,
              fmt::format("{} pairs turn, the config means {}", one_more.proportion * pairs,
                          std::floor(params->proportion * pairs)));
  }
  return readings;
}

}  // namespace posgauge::replay
