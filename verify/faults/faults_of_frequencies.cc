#include <cmath>
#include <numbers>
#include <optional>

#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/links.h"
#include "posgauge/verify/faults/replay_series.h"
#include "posgauge/verify/faults/rounded.h"

namespace posgauge {

namespace {

using Series = FrequencySeries;

// Each frequency of its own, with its index.
template <class Of>
ChangeFrequencies Each(Of of) {
  return {[of](const Scheme& scheme, Series& series) {
    for (size_t i = 0; i < series.frequency.size(); ++i) {
      series.frequency[i] = of(scheme, series.frequency[i], i);
    }
    return !series.frequency.empty();
  }};
}

double BaseOf(const Scheme& scheme) {
  if (const auto* waves = std::get_if<sinusoidal::Params>(&scheme)) return waves->base;
  return RotaryOf(scheme).base;
}

// Whether the frequencies are the powers of one base, over the whole width, and nothing else.
bool IsPlain(const Scheme& scheme) {
  return Name(scheme) == "rope" || Name(scheme) == "mrope" || Name(scheme) == "sinusoidal";
}

// Of a plain series: base^(-exponent(i, n)), n frequencies, with the sign that it had.
template <class Exponent>
ChangeFrequencies Powers(Exponent exponent) {
  return {[exponent](const Scheme& scheme, Series& series) {
    if (!IsPlain(scheme)) return false;
    const auto n = static_cast<double>(series.frequency.size());
    for (size_t i = 0; i < series.frequency.size(); ++i) {
      const double power = std::pow(BaseOf(scheme), -exponent(static_cast<double>(i), n));
      series.frequency[i] = std::copysign(power, series.frequency[i]);
    }
    return true;
  }};
}

Fault Rounded(Dtype dtype, std::vector<std::string> links, std::vector<std::string> kinds) {
  const std::string name(Name(dtype));
  return {.id = "frequency_" + name,
          .cause = "inverse frequencies are rounded to " + name + " before the product",
          .fix = dtype == Dtype::f32
                     ? "form frequencies in binary64, or declare frequency=f32"
                     : "keep the buffer of inverse frequencies in float32 whatever dtype the model "
                       "is cast to, and form it there",
          .shows = "position 1, at the pairs whose frequency " + name + " does not hold",
          .change = Each([dtype](const Scheme&, double f, size_t) { return RoundedTo(dtype, f); }),
          .links = std::move(links),
          .kinds = std::move(kinds)};
}

Fault Off(const char* id, const char* cause, double relative) {
  return {
      .id = id,
      .cause = cause,
      .fix = "form powers by pow or exp in float32 or better, once",
      .shows = "positions beyond the accuracy of the dtype over that of the frequency",
      .change = Each([relative](const Scheme&, double f, size_t) { return f * (1 + relative); })};
}

}  // namespace

std::vector<Fault> FaultsOfFrequencies() {
  std::vector<Fault> faults = {
      Rounded(Dtype::bf16,
              On({"sgl-project/sglang-jax/issues/1472", "EleutherAI/gpt-neox/pull/1016",
                  "huggingface/candle/pull/3005"}),
              {"FREQ_BF16", "ANGLE_BF16"}),
      Rounded(Dtype::f16, {}, {}),
      Rounded(Dtype::f32, {}, {}),
      Off("frequency_3ppm", "frequencies are 3e-6 too large: an approximate power", 3e-6),
      Off("frequency_30ppm", "frequencies are 3e-5 too large: an approximate power", 3e-5),
      {.id = "frequency_index_from_one",
       .cause = "frequencies are counted from index 1: the fastest one is missing",
       .fix = "begin the range of indices at 0",
       .shows = "position 1, pair 0",
       .change = Powers([](double i, double n) { return (i + 1) / n; })},
      {.id = "frequency_index_per_channel",
       .cause = "the index of the channel counts where that of the pair should: exponents double",
       .fix = "divide 2i by the width, i counting pairs",
       .shows = "position 1, pair 1",
       .change = Powers([](double i, double n) { return 2 * i / n; }),
       .links = On({"BrianPulfer/PapersReimplementations/issues/9"}),
       .kinds = {"SIN_FREQ_PER_COMPONENT"}},
      {.id = "frequency_exponent_halved",
       .cause = "the exponent is i/d instead of 2i/d",
       .fix = "divide 2i, not i, by the rotary width",
       .shows = "position 1, pair 1",
       .change = Powers([](double i, double n) { return i / (2 * n); })},
      {.id = "frequency_denominator_minus_one",
       .cause = "exponents run over i/(n - 1): the last frequency is 1/base",
       .fix = "divide by the number of pairs, not by the last index",
       .shows = "position 1, pair 1",
       .change = Powers([](double i, double n) { return n > 1 ? i / (n - 1) : 0; }),
       .links = On({"openvinotoolkit/openvino_notebooks/pull/3327"}),
       .kinds = {"SIN_DENOM"}},
      {.id = "frequency_exponent_floored",
       .cause = "the rate of the exponent is floored to a whole number: frequencies are e^-i",
       .fix = "divide as real numbers",
       .shows = "position 1, pair 1",
       .change = {ChangeFrequencies{[](const Scheme& scheme, Series& series) {
         if (!IsPlain(scheme)) return false;
         for (size_t i = 0; i < series.frequency.size(); ++i) {
           series.frequency[i] =
               std::copysign(std::exp(-static_cast<double>(i)), series.frequency[i]);
         }
         return true;
       }}},
       .links = On({"zju3dv/LoFTR/issues/41"}),
       .kinds = {"SIN_FLOORDIV"}},
      {.id = "frequency_exp2",
       .cause = "2 is raised to an exponent that was formed for e",
       .fix = "use exp with ln(base), or exp2 with log2(base)",
       .shows = "position 1, pair 1",
       .change = Each([](const Scheme&, double f, size_t) {
         return f == 0 ? 0 : std::copysign(std::pow(std::fabs(f), std::numbers::ln2), f);
       })},
      {.id = "frequency_log10",
       .cause = "e is raised to an exponent that was formed with log10(base)",
       .fix = "use the natural logarithm of the base",
       .shows = "position 1, pair 1",
       .change = Each([](const Scheme&, double f, size_t) {
         return f == 0 ? 0 : std::copysign(std::pow(std::fabs(f), 1 / std::numbers::ln10), f);
       })},
      {.id = "frequency_inverted",
       .cause = "frequencies are base^(+2i/d): wavelengths stand for frequencies",
       .fix = "take the reciprocal once",
       .shows = "position 1, pair 1",
       .change = Each([](const Scheme&, double f, size_t) { return f == 0 ? 0 : 1 / f; })},
      {.id = "frequency_two_pi",
       .cause = "frequencies carry a factor 2 pi: turns are taken for radians",
       .fix = "leave out 2 pi: angles are position times frequency in radians",
       .shows = "position 1, pair 0",
       .change = Each([](const Scheme&, double f, size_t) { return f * 2 * std::numbers::pi; })},
      {.id = "frequency_reversed",
       .cause = "pairs take the frequencies in the other order",
       .fix = "the first pair turns fastest",
       .shows = "position 1, pair 0",
       .change = ChangeFrequencies{[](const Scheme&, Series& series) {
         std::vector<double>& f = series.frequency;
         for (size_t i = 0; i < f.size() / 2; ++i) std::swap(f[i], f[f.size() - 1 - i]);
         return f.size() > 1;
       }}},
      {.id = "frequency_repeated",
       .cause = "neighbouring pairs share a frequency: each is repeated before it is halved",
       .fix = "expand frequencies to channels once, in the pairing's order",
       .shows = "position 1, pair 1",
       .change = ChangeFrequencies{[](const Scheme&, Series& series) {
         const std::vector<double> f = series.frequency;
         for (size_t i = 0; i < f.size(); ++i) series.frequency[i] = f[i / 2];
         return f.size() > 1;
       }}},
      {.id = "frequency_zero",
       .cause = "the frequency buffer was never filled: it holds zeros, and nothing turns",
       .fix = "fill the buffer after the model is materialised, and test it",
       .shows = "position 1",
       .change = Each([](const Scheme&, double, size_t) { return 0.0; }),
       .links = On({"NovaSky-AI/SkyRL/issues/1709", "OpenMOSS/MOSS-TTS-Nano/issues/28",
                    "Synthyra/FastPLMs/pull/47"}),
       .kinds = {"UNINIT_FREQ", "ROPE_ABSENT", "ARG_ORDER"}},
      {.id = "frequency_first_zero",
       .cause = "the first frequency is lost: the fastest pair does not turn",
       .fix = "begin the loop over pairs at 0",
       .shows = "position 1, pair 0",
       .change = ChangeFrequencies{[](const Scheme&, Series& series) {
         if (series.frequency.empty()) return false;
         series.frequency.front() = 0;
         return true;
       }}},
      {.id = "last_pair_still",
       .cause = "the loop over pairs ends one too early: the last pair does not turn",
       .fix = "run to rotary_dim/2 inclusive of its last index",
       .shows = "positions at which the slowest pair has turned by more than the dtype's spacing",
       .change = ChangeFrequencies{[](const Scheme&, Series& series) {
         if (series.frequency.empty()) return false;
         series.frequency.back() = 0;
         return true;
       }}},
      {.id = "last_pairs_still",
       .cause = "a vector loop leaves its tail out: the last 8 pairs do not turn",
       .fix = "add the scalar or masked tail",
       .shows = "positions at which the slow pairs have turned by more than the dtype's spacing",
       .change = ChangeFrequencies{[](const Scheme&, Series& series) {
         std::vector<double>& f = series.frequency;
         if (f.size() < 9) return false;
         std::fill(f.end() - 8, f.end(), 0);
         return true;
       }}},
      {.id = "head_dim_in_exponent",
       .cause = "exponents are divided by head_dim where rotary_dim turns",
       .fix = "divide 2i by rotary_dim",
       .shows = "rotary_dim < head_dim, position 1, pair 1",
       .change = ChangeFrequencies{[](const Scheme& scheme, Series& series) {
         if (!IsRotary(scheme) || !IsPlain(scheme)) return false;
         const Rotary& rotary = RotaryOf(scheme);
         if (rotary.rotary_dim == rotary.head_dim) return false;
         for (size_t i = 0; i < series.frequency.size(); ++i) {
           const double power = std::pow(
               rotary.base, -2 * static_cast<double>(i) / static_cast<double>(rotary.head_dim));
           series.frequency[i] = std::copysign(power, series.frequency[i]);
         }
         return true;
       }}},
      {.id = "base_times_50",
       .cause = "the base is that of a sister model, fifty times as large",
       .fix = "read rope_theta from the config of the model that runs",
       .shows = "position 1, pair 1",
       .change = ChangeParameters{[](Scheme& scheme) {
         if (!IsRotary(scheme)) return false;
         RotaryOf(scheme).base *= 50;
         return true;
       }}},
      {.id = "base_bf16",
       .cause = "the base is rounded to bf16",
       .fix = "keep the base in float32 or better",
       .shows = "a base of more than 8 bits",
       .change = ChangeParameters{[](Scheme& scheme) {
         if (!IsRotary(scheme)) return false;
         RotaryOf(scheme).base = RoundedTo(Dtype::bf16, RotaryOf(scheme).base);
         return true;
       }}}};
  return faults;
}

}  // namespace posgauge
