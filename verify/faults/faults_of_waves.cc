#include <algorithm>
#include <cmath>

#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

using Waves = sinusoidal::Params;

ChangeFrequencies OfWaves(void (*change)(const Waves&, std::vector<double>&)) {
  return {[=](const Scheme& scheme, FrequencySeries& series) {
    const auto* params = std::get_if<Waves>(&scheme);
    if (params == nullptr) return false;
    change(*params, series.frequency);
    return true;
  }};
}

void SpreadOver(const Waves& params, double twice, std::vector<double>& frequency) {
  for (size_t k = 0; k < frequency.size(); ++k) {
    frequency[k] = params.scale * std::pow(params.base, -2 * static_cast<double>(k) / twice);
  }
}

// What a channel of any scheme of waves holds, by the index of its row.
Channel HeldBy(const Scheme& scheme, int64_t channel) {
  if (const auto* params = std::get_if<Waves>(&scheme)) return params->ChannelAt(channel);
  if (const auto* params = std::get_if<sincos2d::Params>(&scheme)) {
    const int64_t waves = params->AxisWaves(), block = channel / waves;
    return {block % 2 == 0 ? Wave::sin : Wave::cos, block / 2 * waves + channel % waves};
  }
  return {channel % 2 == 0 ? Wave::sin : Wave::cos, channel / 2};
}

bool HasWaves(const Scheme& scheme) {
  return IsOneOf<Waves, sincos2d::Params, cape::Params>(scheme);
}

ChangeResult OfFunction(Wave function, double factor) {
  return OfRows([=](const Question& question, std::vector<double>& rows) {
    if (!HasWaves(question.scheme)) return false;
    const int64_t width = WidthOf(question.scheme);
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto channel = static_cast<int64_t>(i) % width;
      if (HeldBy(question.scheme, channel).function == function) rows[i] *= factor;
    }
    return true;
  });
}

// Row by row, channel c is what was in channel from(c).
void TakeChannels(std::vector<double>& rows, int64_t width,
                  const std::function<int64_t(int64_t)>& from) {
  const std::vector<double> before = rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto channel = static_cast<int64_t>(i) % width;
    rows[i] = before[i - static_cast<size_t>(channel) + static_cast<size_t>(from(channel))];
  }
}

bool SwapSinesAndCosines(const Question& question, std::vector<double>& rows) {
  if (!HasWaves(question.scheme)) return false;
  const auto* waves = std::get_if<Waves>(&question.scheme);
  // A sine without its cosine has nothing to change places with.
  if (waves != nullptr && waves->width % 2 == 1 &&
      waves->odd_width == sinusoidal::OddWidth::extra_sine) {
    return false;
  }
  const int64_t width = WidthOf(question.scheme);
  TakeChannels(rows, width, [&](int64_t channel) {
    const Channel held = HeldBy(question.scheme, channel);
    for (int64_t other = 0; other < width; ++other) {
      const Channel beside = HeldBy(question.scheme, other);
      if (held.function != Wave::zero && beside.function != Wave::zero &&
          beside.function != held.function && beside.wave == held.wave) {
        return other;
      }
    }
    return channel;
  });
  return true;
}

bool PutInHalves(const Question& question, std::vector<double>& rows) {
  const auto* waves = std::get_if<Waves>(&question.scheme);
  const bool interleaved = (waves != nullptr && waves->layout == sinusoidal::Layout::interleaved) ||
                           std::holds_alternative<cape::Params>(question.scheme);
  const int64_t width = WidthOf(question.scheme);
  if (!interleaved || width % 2 != 0 || width < 4) return false;
  TakeChannels(rows, width, [&](int64_t c) { return c % (width / 2) * 2 + c / (width / 2); });
  return true;
}

// The exponent of the channel in place of that of its pair.
double OfOwnFrequency(const Waves& params, const NamedInputs&, double position, int64_t channel) {
  const Channel held = params.ChannelAt(channel);
  const double angle = (position + static_cast<double>(params.start)) * params.scale *
                       std::pow(params.base, -2 * static_cast<double>(channel) /
                                                 static_cast<double>(params.TwiceDenominator()));
  return held.function == Wave::zero  ? 0
         : held.function == Wave::sin ? std::sin(angle)
                                      : std::cos(angle);
}

// Of sums with embeddings, those that are handed their rows included.
ChangeResult OfSum(double (*sum)(double x, double row, double width)) {
  return {[=](const Question& question, std::vector<double>& values) {
    if (question.quantity != "embed") return false;
    const std::vector<double>& x = question.inputs["x"].values;
    const auto width = static_cast<double>(WidthOf(question.scheme));
    for (size_t i = 0; i < values.size(); ++i) values[i] = sum(x[i], values[i] - x[i], width);
    return true;
  }};
}

bool IsInterleaved(const Waves& params) { return params.layout == sinusoidal::Layout::interleaved; }

}  // namespace

std::vector<Fault> FaultsOfWaves() {
  return {
      {.id = "other_denominator",
       .cause = "the exponents of the frequencies are spread over one wave too many",
       .fix = "divide wave k by the scheme's own denominator: width/2, or the waves less the shift",
       .shows = "position 1, wave 1",
       .change = OfWaves([](const Waves& params, std::vector<double>& frequency) {
         SpreadOver(params, static_cast<double>(params.TwiceDenominator() + 2), frequency);
       }),
       .links = {"https://github.com/openvinotoolkit/openvino_notebooks/pull/3327"},
       .kinds = {"SIN_DENOM"}},
      {.id = "denominator_short",
       .cause = "the exponents of the frequencies are spread over one wave too few",
       .fix = "K - 1 is the denominator of tensor2tensor's sinusoid alone: set frequency_shift",
       .shows = "position 1, wave 1, at least three waves",
       .change = {ChangeFrequencies{[](const Scheme& scheme, FrequencySeries& series) {
         const auto* params = std::get_if<Waves>(&scheme);
         if (params == nullptr || params->TwiceDenominator() <= 2) return false;
         SpreadOver(*params, static_cast<double>(params->TwiceDenominator() - 2), series.frequency);
         return true;
       }}},
       .links = {"https://github.com/hojonathanho/diffusion/issues/15"}},
      {.id = "exponent_floored",
       .cause = "a floor division makes every step of the exponent -1: frequency k is e^-k",
       .fix = "put the division in parentheses and use the true one: exp(k * (-ln(base) / D))",
       .shows = "position 1, wave 1",
       .change = OfWaves([](const Waves& params, std::vector<double>& frequency) {
         const double step = std::floor(-2 * std::log(params.base) /
                                        static_cast<double>(params.TwiceDenominator()));
         for (size_t k = 0; k < frequency.size(); ++k) {
           frequency[k] = params.scale * std::exp(static_cast<double>(k) * step);
         }
       }),
       .more = {OfEachChannel<sincos2d::Params>([](const sincos2d::Params& params,
                                                   const NamedInputs&, double position,
                                                   int64_t channel) {
         if (position < static_cast<double>(params.prefix)) return 0.0;
         const int64_t token = static_cast<int64_t>(position) - params.prefix,
                       waves = params.AxisWaves();
         const bool row = (channel < 2 * waves) == (params.first_axis == sincos2d::FirstAxis::row);
         const int64_t index = row ? token / params.grid_w : token % params.grid_w;
         const double patches = static_cast<double>(row ? params.grid_h : params.grid_w);
         const double scale =
             (params.base_size ? static_cast<double>(*params.base_size) / patches : 1) /
             params.interpolation_scale;
         const double step = std::floor(-std::log(params.base) / static_cast<double>(waves));
         const double angle = static_cast<double>(index) * scale *
                              std::exp(static_cast<double>(channel % waves) * step);
         return channel / waves % 2 == 0 ? std::sin(angle) : std::cos(angle);
       })},
       .links = {"https://github.com/zju3dv/LoFTR/issues/41"},
       .kinds = {"SIN_FLOORDIV"}},
      {.id = "frequency_per_channel",
       .cause = "every channel has a frequency of its own, where a sine and a cosine share one",
       .fix = "take the exponent from the number of the pair, channel / 2, not of the channel",
       .shows = "position 1, channel 1",
       .change = OfEachChannel<Waves>(OfOwnFrequency, IsInterleaved),
       .links = {"https://github.com/BrianPulfer/PapersReimplementations/issues/9"},
       .kinds = {"SIN_FREQ_PER_COMPONENT"}},
      {.id = "waves_in_halves",
       .cause = "all sines come before all cosines, where they should take turns",
       .fix = "interleave: sin 0, cos 0, sin 1, ...",
       .shows = "position 1, at least four channels",
       .change = OfRows(PutInHalves)},
      {.id = "sines_and_cosines_swapped",
       .cause = "cosines stand where sines belong, and the other way round",
       .fix = "honour the order of the model: flip_sin_to_cos, or the layout of its table",
       .shows = "position 0",
       .change = OfRows(SwapSinesAndCosines),
       .links = {"https://github.com/huggingface/diffusers/pull/1369"},
       .kinds = {"SINCOS_ORDER"}},
      {.id = "row_sines_negated",
       .cause = "the sines of the added rows have the wrong sign",
       .fix = "take the sine of the angle, not of its negative",
       .shows = "position 1",
       .change = OfFunction(Wave::sin, -1)},
      {.id = "row_cosines_negated",
       .cause = "the cosines of the added rows have the wrong sign",
       .fix = "take the cosine of the angle; a shift of pi/2 is added, not taken away",
       .shows = "position 0",
       .change = OfFunction(Wave::cos, -1)},
      {.id = "row_normalised",
       .cause = "rows are scaled to length 1",
       .fix = "add sines and cosines of amplitude 1",
       .shows = "position 0",
       .change = OfRows([](const Question& question, std::vector<double>& rows) {
         if (!HasWaves(question.scheme)) return false;
         for (double& value : rows) {
           value /= std::sqrt(static_cast<double>(WidthOf(question.scheme)) / 2);
         }
         return true;
       })},
      {.id = "start_negated",
       .cause = "the index of the first row is taken off positions, not added",
       .fix = "row index = position + start",
       .shows = "start other than 0, position 0",
       .change = Of<Waves>([](Waves& params) {
         params.start = -params.start;
         return params.start != 0;
       })},
      {.id = "index_absolute",
       .cause = "rows of negative indices are those of positive ones",
       .fix = "let the sign of the position through: sines are odd",
       .shows = "a position below -start",
       .change = Given<Waves>([](const Waves& params, NamedInputs& inputs) {
         const auto start = static_cast<double>(params.start);
         bool any = false;
         for (double& position : inputs.tensors["positions"].values) {
           if (position + start >= 0) continue;
           position = -position - 2 * start;
           any = true;
         }
         return any;
       })},
      {.id = "timestep_truncated",
       .cause = "real positions (timesteps) are cut to whole numbers",
       .fix = "keep timesteps in floating point up to the angle",
       .shows = "a position with a fraction, 0.5",
       .change = Given<Waves>([](const Waves&, NamedInputs& inputs) {
         bool any = false;
         for (double& position : inputs.tensors["positions"].values) {
           any = any || position != std::trunc(position);
           position = std::trunc(position);
         }
         return any;
       })},
      {.id = "padding_by_position",
       .cause = "the padding row is told by the position, not by the index of its row",
       .fix = "compare position + start (or offset) with the padding index",
       .shows = "a padding index, and a start or offset other than 0",
       .change = Of<Waves>([](Waves& params) {
         if (!params.padding_index || params.start == 0) return false;
         *params.padding_index += params.start;
         return true;
       }),
       .more = {Of<learned::Params>([](learned::Params& params) {
         if (!params.padding_index || params.offset == 0) return false;
         *params.padding_index += params.offset;
         return true;
       })}},
      {.id = "added_twice",
       .cause = "rows are added twice",
       .fix = "add them once: in the embedding or in the first layer, not in both",
       .shows = "any position with a row other than zero",
       .change = OfSum([](double x, double row, double) { return x + 2 * row; })},
      {.id = "row_left_out",
       .cause = "rows are not added",
       .fix = "add the row of its position to every embedding",
       .shows = "any position with a row other than zero",
       .change = OfSum([](double x, double, double) { return x; })},
      {.id = "row_subtracted",
       .cause = "rows are taken away from embeddings",
       .fix = "add them",
       .shows = "any position with a row other than zero",
       .change = OfSum([](double x, double row, double) { return x - row; })},
      {.id = "embedding_scaled",
       .cause = "embeddings are multiplied by the root of the width where the model does not",
       .fix = "scale embeddings where the model's own code does, and only there",
       .shows = "an embedding other than zero, width above 1",
       .change = OfSum([](double x, double row, double w) { return x * std::sqrt(w) + row; })},
      {.id = "sum_scaled",
       .cause = "the root of the width multiplies the sum, rows included",
       .fix = "scale the embedding before the row is added",
       .shows = "width above 1",
       .change = OfSum([](double x, double row, double w) { return (x + row) * std::sqrt(w); })},
      {.id = "embedding_clamped",
       .cause = "embeddings are clamped to -1..1",
       .fix = "read embeddings as they are",
       .shows = "an embedding beyond 1",
       .change = ChangeInputs{[](const Scheme& scheme, NamedInputs& inputs) {
         const auto found = inputs.tensors.find("x");
         if (found == inputs.tensors.end() || IsRotary(scheme)) return false;
         bool any = false;
         for (double& value : found->second.values) {
           any = any || std::fabs(value) > 1;
           value = std::clamp(value, -1.0, 1.0);
         }
         return any;
       }}},
  };
}

}  // namespace posgauge
