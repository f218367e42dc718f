// What becomes of frequencies whose base, width, direction or layer is another.
#include <algorithm>
#include <array>
#include <cmath>

#include "posgauge/verify/effective_replays.h"
#include "posgauge/verify/frequency_error.h"

namespace posgauge::replay {

double* FactorOf(Scheme& scheme) {
  return std::visit(
      []<class Params>(Params& params) -> double* {
        if constexpr (std::is_same_v<Params, longrope::Params>) {
          return nullptr;
        } else if constexpr (requires {
                               params.factor = 1.0;
                               params.rotary;
                             }) {
          return &params.factor;
        } else {
          return nullptr;
        }
      },
      scheme);
}

std::vector<double> PlainFrequenciesOf(const ReplayContext& context) {
  return ReadingOf(rope::Params{.rotary = RotaryOf(context.group.scheme)}, context.arithmetic)
      .frequencies;
}

void AddScheme(Readings& readings, const ReplayContext& context, const Scheme& scheme,
               std::string difference) {
  if (scheme == context.group.scheme) return;
  try {
    readings.push_back(ReadingOf(scheme, context.arithmetic));
    readings.back().difference = std::move(difference);
  } catch (const ParameterError&) {
    // Not a scheme: this cause cannot have led there.
  }
}

// The numbers come from proven ones rounded to binary64 by at most 24 operations in it, libraries'
// functions within an ulp among them; a kept share (ratio - 1/s)/(1 - 1/s) loses up to s of
// those roundings where little is kept. The framework itself rounds as often in its arithmetic.
Readings WithFrequencies(const ReplayContext& context, std::vector<double> frequencies,
                         std::string difference) {
  Reading reading = ReadingOf(context.group.scheme, context.arithmetic);
  if (frequencies == reading.frequencies) return {};
  double largest = 0;
  for (const double error : reading.errors) {
    if (std::isfinite(error)) largest = std::max(largest, error);
  }
  Scheme scheme = context.group.scheme;
  const double* factor = FactorOf(scheme);
  const double roundings = 24 * (1 + (factor != nullptr ? *factor : 1));
  const double own = Compound(roundings, UnitRoundoff(Arithmetic::f64)) +
                     Compound(24, UnitRoundoff(context.arithmetic));
  reading.errors.assign(frequencies.size(), Together(largest, own));
  reading.frequencies = std::move(frequencies);
  reading.difference = std::move(difference);
  reading.is_scheme = false;
  return {reading};
}

Readings BaseIgnored(const ReplayContext& context) {
  Readings readings;
  if (!IsRotary(context.group.scheme)) return readings;
  const double own = RotaryOf(context.group.scheme).base;
  for (const double base : {10000.0, 500000.0, 1000000.0}) {
    Scheme scheme = context.group.scheme;
    RotaryOf(scheme).base = base;
    AddScheme(readings, context, scheme,
              fmt::format("base {} in use, the config says {}", base, own));
  }
  return readings;
}

// Whether the numbers are known to a few bits alone.
bool IsNarrow(const HeldNumbers& held) {
  return std::ranges::any_of(std::array{Dtype::bf16, Dtype::f16}, [&](Dtype dtype) {
    return std::ranges::all_of(held.values,
                               [&](double x) { return RoundTo(FormatOf(dtype), x) == x; });
  });
}

// The base that two pairs of the numbers in use have between them: the first two, which most
// schedules leave alone, or the first and the last that turns. Of numbers of a few bits it would be
// any; one that is neither whole nor of three digits is nobody's choice.
Readings BaseOther(const ReplayContext& context) {
  Readings readings;
  const auto& used = context.effective.inv_freq;
  if (!IsRotary(context.group.scheme) || !used || used->values.size() < 2 || IsNarrow(*used)) {
    return readings;
  }
  const auto& x = used->values;
  size_t last = x.size() - 1;
  while (last > 1 && x[last] == 0) --last;
  const double own = RotaryOf(context.group.scheme).base;
  const double half = static_cast<double>(RotaryOf(context.group.scheme).rotary_dim) / 2;
  for (const size_t i : {last, size_t{1}}) {
    if (!(x[0] > 0 && x[i] > 0)) continue;
    const double base = std::pow(x[0] / x[i], half / static_cast<double>(i));
    if (!(base > 0) || !std::isfinite(base)) continue;
    const double digit = std::pow(10.0, std::floor(std::log10(base)) - 2);
    for (const double rounded : {std::round(base / digit) * digit, std::round(base)}) {
      Scheme scheme = context.group.scheme;
      RotaryOf(scheme).base = rounded;
      AddScheme(readings, context, scheme,
                fmt::format("base {} in use, the config says {}", rounded, own));
    }
  }
  return readings;
}

Readings RotaryDimIgnored(const ReplayContext& context) {
  Readings readings;
  if (!IsRotary(context.group.scheme)) return readings;
  Scheme scheme = context.group.scheme;
  Rotary& rotary = RotaryOf(scheme);
  const int64_t own = rotary.rotary_dim;
  rotary.rotary_dim = rotary.head_dim;
  rotary.rotary_offset = 0;
  AddScheme(readings, context, scheme,
            fmt::format("rotary_dim {} in use, the config says {}", rotary.head_dim, own));
  return readings;
}

Readings RotaryOffsetIgnored(const ReplayContext& context) {
  Readings readings;
  if (!IsRotary(context.group.scheme)) return readings;
  Scheme scheme = context.group.scheme;
  const int64_t own = std::exchange(RotaryOf(scheme).rotary_offset, 0);
  AddScheme(readings, context, scheme,
            fmt::format("the first channels turn, the model turns those from {} on", own));
  return readings;
}

Readings ExponentOverHead(const ReplayContext& context) {
  if (!IsRotary(context.group.scheme)) return {};
  Scheme scheme = context.group.scheme;
  Rotary& rotary = RotaryOf(scheme);
  const auto pairs = static_cast<size_t>(rotary.Pairs());
  const int64_t own = std::exchange(rotary.rotary_dim, rotary.head_dim);
  rotary.rotary_offset = 0;
  Readings whole;
  AddScheme(whole, context, scheme, "");
  if (whole.empty()) return {};
  std::vector<double> frequencies = whole[0].frequencies;
  frequencies.resize(pairs);
  return WithFrequencies(
      context, std::move(frequencies),
      fmt::format("exponents 2i/{} of the head in use, the config means 2i/{} of the channels that "
                  "turn",
                  RotaryOf(scheme).head_dim, own));
}

namespace {

// The plain series with other exponents, as far as the scheme scales it.
template <class Exponent>
Readings WithExponents(const ReplayContext& context, Exponent&& exponent, std::string difference) {
  const Scheme& scheme = context.group.scheme;
  if (!IsRotary(scheme) || AxesOf(scheme).count > 1) return {};
  const Reading own = ReadingOf(scheme, context.arithmetic);
  const std::vector<double> plain = PlainFrequenciesOf(context);
  std::vector<double> frequencies;
  for (size_t i = 0; i < plain.size(); ++i) {
    const double power = std::pow(RotaryOf(scheme).base, -exponent(static_cast<double>(i)));
    frequencies.push_back(power * (own.frequencies[i] / plain[i]));
  }
  return WithFrequencies(context, std::move(frequencies), std::move(difference));
}

}  // namespace

Readings ExponentEndsAtBase(const ReplayContext& context) {
  if (!IsRotary(context.group.scheme)) return {};
  const auto pairs = static_cast<double>(RotaryOf(context.group.scheme).Pairs());
  if (pairs < 2) return {};
  return WithExponents(
      context, [pairs](double i) { return i / (pairs - 1); },
      "exponents i/(pairs - 1) in use, the config means i/pairs");
}

Readings ExponentWithoutTwo(const ReplayContext& context) {
  if (!IsRotary(context.group.scheme)) return {};
  const auto width = static_cast<double>(RotaryOf(context.group.scheme).rotary_dim);
  return WithExponents(
      context, [width](double i) { return i / width; },
      "exponents i/rotary_dim in use, the config means 2i/rotary_dim");
}

Readings FrequencyInverted(const ReplayContext& context) {
  if (!IsRotary(context.group.scheme)) return {};
  std::vector<double> frequencies = ReadingOf(context.group.scheme, context.arithmetic).frequencies;
  for (double& frequency : frequencies) frequency = 1 / frequency;
  if (!std::ranges::all_of(frequencies, [](double x) { return std::isfinite(x); })) return {};
  return WithFrequencies(context, std::move(frequencies),
                         "periods (1/frequency) in use, the config means frequencies");
}

Readings FrequenciesReversed(const ReplayContext& context) {
  if (!IsRotary(context.group.scheme)) return {};
  std::vector<double> frequencies = ReadingOf(context.group.scheme, context.arithmetic).frequencies;
  std::ranges::reverse(frequencies);
  return WithFrequencies(context, std::move(frequencies), "the last pair comes first");
}

Readings DirectionReversed(const ReplayContext& context) {
  Readings readings;
  if (!IsRotary(context.group.scheme)) return readings;
  Scheme scheme = context.group.scheme;
  Rotary& rotary = RotaryOf(scheme);
  rotary.direction =
      rotary.direction == Direction::clockwise ? Direction::counterclockwise : Direction::clockwise;
  AddScheme(readings, context, scheme,
            fmt::format("pairs turn {}, the config means {}", VariantName(rotary.direction),
                        VariantName(RotaryOf(context.group.scheme).direction)));
  return readings;
}

Readings PairingOther(const ReplayContext& context) {
  Readings readings;
  if (!IsRotary(context.group.scheme)) return readings;
  const Pairing own = RotaryOf(context.group.scheme).pairing;
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    Scheme scheme = context.group.scheme;
    RotaryOf(scheme).pairing = pairing;
    AddScheme(
        readings, context, scheme,
        fmt::format("pairing {} in use, the model has {}", VariantName(pairing), VariantName(own)));
  }
  return readings;
}

Readings OtherKindUsed(const ReplayContext& context) {
  Readings readings;
  for (const LayerGroup& other : context.model.groups) {
    if (other.kind == context.group.kind || other.kind == "vision") continue;
    if (!IsRotary(context.group.scheme) || !IsRotary(other.scheme)) continue;
    AddScheme(
        readings, context, other.scheme,
        fmt::format("what the config says of {} is in use in {}", other.kind, context.group.kind));
  }
  return readings;
}

Readings FactorOfOtherKind(const ReplayContext& context) {
  Readings readings;
  if (!std::holds_alternative<rope::Params>(context.group.scheme)) return readings;
  for (const LayerGroup& other : context.model.groups) {
    const auto* scaled = std::get_if<linear::Params>(&other.scheme);
    if (scaled == nullptr || other.kind == context.group.kind) continue;
    AddScheme(readings, context,
              linear::Params{.rotary = RotaryOf(context.group.scheme), .factor = scaled->factor},
              fmt::format("factor {} in use in {}, the config has it for {} alone", scaled->factor,
                          context.group.kind, other.kind));
  }
  return readings;
}

Readings RotationMissing(const ReplayContext& context) {
  Readings readings;
  const Effective& used = context.effective;
  const bool still = used.scheme == "none" || (used.inv_freq && used.inv_freq->values.empty());
  if (!IsRotary(context.group.scheme) || !still) return readings;
  AddScheme(readings, context,
            none::Params{.attention = {.head_dim = RotaryOf(context.group.scheme).head_dim}},
            "nothing turns, the config has the layers turn");
  return readings;
}

Readings RotationUnasked(const ReplayContext& context) {
  Readings readings;
  if (IsRotary(context.group.scheme)) return readings;
  for (const LayerGroup& other : context.model.groups) {
    if (!IsRotary(other.scheme) || other.kind == "vision") continue;
    AddScheme(readings, context, other.scheme, "the layers turn, the config has them not turn");
  }
  return readings;
}

}  // namespace posgauge::replay
