// What becomes of frequencies whose blend of kept and divided pairs is another: YaRN, Llama 3.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "posgauge/reference/yarn.h"
#include "posgauge/verify/effective_replays.h"

namespace posgauge::replay {

namespace {

// What the config means with the kept share of every pair changed: share(pair, own share).
template <class Share>
Readings WithShares(const ReplayContext& context, double factor, Share&& share,
                    std::string difference) {
  if (factor == 1) return {};
  const std::vector<double> own = ReadingOf(context.group.scheme, context.arithmetic).frequencies;
  std::vector<double> frequencies = PlainFrequenciesOf(context);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double kept = (own[i] / frequencies[i] - 1 / factor) / (1 - 1 / factor);
    const double other = share(i, std::clamp(kept, 0.0, 1.0));
    frequencies[i] *= (1 - other) / factor + other;
  }
  return WithFrequencies(context, std::move(frequencies), std::move(difference));
}

// yarn::Params with one change.
template <class Change>
Readings WithYarn(const ReplayContext& context, Change&& change, std::string difference) {
  Readings readings;
  const auto* own = std::get_if<yarn::Params>(&context.group.scheme);
  if (own == nullptr) return readings;
  yarn::Params params = *own;
  change(params);
  AddScheme(readings, context, params, std::move(difference));
  return readings;
}

// A ramp over pairs from `low` to `high`, which may lie below it, as code forms it that does not
// ask.
Readings WithRamp(const ReplayContext& context, const yarn::Params& params, double low, double high,
                  std::string difference) {
  if (low == high || params.ramp != yarn::RampOver::pairs) return {};
  return WithShares(
      context, yarn::Factor<double>(params),
      [&](size_t i, double) {
        const double on_ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
        return (1 - on_ramp) * params.extrapolation_factor;
      },
      std::move(difference));
}

}  // namespace

Readings RampTruncated(const ReplayContext& context) {
  const auto* own = std::get_if<yarn::Params>(&context.group.scheme);
  if (own == nullptr || own->truncate) return {};
  return WithYarn(
      context, [](yarn::Params& params) { params.truncate = true; },
      "the ramp's ends are rounded to whole pairs, the config says truncate false");
}

Readings RampNotTruncated(const ReplayContext& context) {
  const auto* own = std::get_if<yarn::Params>(&context.group.scheme);
  if (own == nullptr || !own->truncate) return {};
  return WithYarn(
      context, [](yarn::Params& params) { params.truncate = false; },
      "the ramp's ends are not rounded to whole pairs, the config means them rounded");
}

Readings RampOverTurns(const ReplayContext& context) {
  return WithYarn(
      context, [](yarn::Params& params) { params.ramp = yarn::RampOver::turns; },
      "the ramp is linear in turns, as in the paper; models are trained with one over pairs");
}

Readings RampInverted(const ReplayContext& context) {
  const auto* own = std::get_if<yarn::Params>(&context.group.scheme);
  if (own == nullptr) return {};
  return WithShares(
      context, yarn::Factor<double>(*own), [](size_t, double kept) { return 1 - kept; },
      "fast pairs are divided and slow ones kept, the config means the reverse");
}

Readings BetasSwapped(const ReplayContext& context) {
  const auto* own = std::get_if<yarn::Params>(&context.group.scheme);
  if (own == nullptr) return {};
  double low = yarn::PairOfTurns<double>(*own, own->beta_slow);
  double high = yarn::PairOfTurns<double>(*own, own->beta_fast);
  if (own->truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(own->rotary.rotary_dim - 1));
  return WithRamp(
      context, *own, low, high,
      fmt::format("the ramp begins at beta_slow {} and ends at beta_fast {}, the config "
                  "means the reverse",
                  own->beta_slow, own->beta_fast));
}

Readings RampClampHalf(const ReplayContext& context) {
  const auto* own = std::get_if<yarn::Params>(&context.group.scheme);
  if (own == nullptr) return {};
  const yarn::Ramp<double> ramp = yarn::RampOf<double>(*own);
  const auto half = static_cast<double>(own->rotary.Pairs() - 1);
  if (ramp.inverted || ramp.high <= half) return {};
  return WithRamp(
      context, *own, ramp.low, half,
      fmt::format("the ramp ends at pair {} (d/2 - 1), the config means pair {}", half, ramp.high));
}

// Code with branches then keeps all pairs above the smaller number of turns and divides the rest;
// code with a clamp blends the wrong way round.
Readings Llama3FactorsSwapped(const ReplayContext& context) {
  Readings readings;
  const auto* own = std::get_if<llama3::Params>(&context.group.scheme);
  if (own == nullptr || own->low_frequency_factor == own->high_frequency_factor) return readings;
  const std::string difference = fmt::format(
      "low_freq_factor {} and high_freq_factor {} in use, the config has them {} and {}",
      own->high_frequency_factor, own->low_frequency_factor, own->low_frequency_factor,
      own->high_frequency_factor);
  llama3::Params step = *own;
  step.high_frequency_factor = own->low_frequency_factor;
  AddScheme(readings, context, step, difference);
  std::ranges::copy(
      WithShares(
          context, own->factor, [](size_t, double kept) { return 1 - kept; }, difference),
      std::back_inserter(readings));
  return readings;
}

Readings Llama3FactorsDefault(const ReplayContext& context) {
  Readings readings;
  const auto* own = std::get_if<llama3::Params>(&context.group.scheme);
  if (own == nullptr) return readings;
  llama3::Params usual = *own;
  usual.low_frequency_factor = 1;
  usual.high_frequency_factor = 4;
  usual.original_length = 8192;
  AddScheme(
      readings, context, usual,
      fmt::format("1, 4 and 8192 in use, the config has low_freq_factor {}, high_freq_factor "
                  "{}, original length {}",
                  own->low_frequency_factor, own->high_frequency_factor, own->original_length));
  return readings;
}

// The draft of a port: P' = P ((1 - t) s + t), t = (P - P_high)/(P_low - P_high), on the ramp.
Readings Llama3BlendOnPeriod(const ReplayContext& context) {
  const auto* own = std::get_if<llama3::Params>(&context.group.scheme);
  if (own == nullptr || own->low_frequency_factor == own->high_frequency_factor) return {};
  const auto length = static_cast<double>(own->original_length);
  const double slow = length / own->low_frequency_factor;
  const double fast = length / own->high_frequency_factor;
  std::vector<double> frequencies = ReadingOf(*own, context.arithmetic).frequencies;
  const std::vector<double> plain = PlainFrequenciesOf(context);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double period = 2 * std::numbers::pi / plain[i];
    if (period <= fast || period >= slow) continue;
    const double t = (period - fast) / (slow - fast);
    frequencies[i] = plain[i] / ((1 - t) * own->factor + t);
  }
  return WithFrequencies(context, std::move(frequencies),
                         "periods are blended on the ramp, the config means frequencies");
}

Readings Llama3BlendReversed(const ReplayContext& context) {
  const auto* own = std::get_if<llama3::Params>(&context.group.scheme);
  if (own == nullptr) return {};
  // Shares of 0 and 1 but for what binary64 leaves of them: off the ramp nothing is changed.
  const double off = own->factor * 0x1p-48;
  return WithShares(
      context, own->factor,
      [off](size_t, double kept) { return kept < off || kept > 1 - off ? kept : 1 - kept; },
      "pairs on the ramp are blended the wrong way round");
}

}  // namespace posgauge::replay
