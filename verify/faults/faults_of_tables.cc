#include <algorithm>
#include <cmath>
#include <numbers>

#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/links.h"
#include "posgauge/verify/faults/rounded.h"

namespace posgauge {

namespace {

Fault AngleIn(Dtype dtype, const char* from, std::vector<std::string> links = {},
              std::vector<std::string> kinds = {}) {
  const std::string name(Name(dtype));
  return {.id = "angle_" + name,
          .cause = "the product of position and frequency is formed in " + name,
          .fix = dtype == Dtype::f32
                     ? "form angles in binary64 or reduced turns, or declare angle=f32"
                     : "form angles in float32 and round the table at most",
          .shows = from,
          .change = ChangeAngle{[dtype](double, const EntryPlace& at) {
            return RoundedTo(dtype, RoundedTo(dtype, at.position) * RoundedTo(dtype, at.frequency));
          }},
          .links = std::move(links),
          .kinds = std::move(kinds)};
}

Fault EntriesIn(Dtype dtype, std::vector<std::string> links = {},
                std::vector<std::string> kinds = {}) {
  const std::string name(Name(dtype));
  return {.id = "table_" + name,
          .cause = "cos and sin are rounded to " + name + " before they are used",
          .fix = "keep the table in float32, or declare table=" + name,
          .shows = "position 1; the error does not grow with it",
          .change = ChangeEntry{[dtype](TableEntry& entry, const EntryPlace&) {
            entry = {RoundedTo(dtype, entry.cos), RoundedTo(dtype, entry.sin)};
          }},
          .links = std::move(links),
          .kinds = std::move(kinds)};
}

template <class Of>
ChangeEntry Each(Of of) {
  return {[of](TableEntry& entry, const EntryPlace& at) { entry = of(entry, at); }};
}

// Between 1024 points of a turn, linearly.
double Interpolated(double (*function)(double), double angle) {
  const double step = 2 * std::numbers::pi / 1024, point = std::floor(angle / step);
  const double left = function(point * step), right = function((point + 1) * step);
  return left + (angle / step - point) * (right - left);
}

}  // namespace

std::vector<Fault> FaultsOfTables() {
  return {
      AngleIn(Dtype::f32, "position times frequency beyond about 10 radians"),
      AngleIn(Dtype::bf16, "position 1",
              On({"EleutherAI/gpt-neox/pull/1016", "huggingface/candle/pull/3005"}),
              {"ANGLE_BF16"}),
      AngleIn(Dtype::f16, "position 1"),
      {.id = "angle_reduced_in_f32",
       .cause = "angles are reduced by 2 pi rounded to float32, as fast sines do",
       .fix = "reduce in two or three parts of pi, or form angles as turns",
       .shows = "beyond the first turns; the error grows with their number",
       .change = ChangeAngle{[](double angle, const EntryPlace&) {
         const auto turn = static_cast<double>(2 * std::numbers::pi_v<float>);
         return angle - std::round(angle / turn) * turn + 0.0;
       }},
       .links = On({"kekzl/imp/pull/1325"}),
       .kinds = {"FASTMATH_TRIG"}},
      {.id = "angle_in_degrees",
       .cause = "angles in radians go to functions of degrees",
       .fix = "use the functions of radians",
       .shows = "position 1",
       .change = ChangeAngle{[](double angle, const EntryPlace&) {
         return angle * std::numbers::pi / 180;
       }}},
      EntriesIn(Dtype::bf16, On({"huggingface/transformers/issues/25681"}),
                {"TABLE_BF16", "DTYPE_MIX"}),
      EntriesIn(Dtype::f16),
      {.id = "table_interpolated",
       .cause = "cos and sin are interpolated linearly from 1024 points a turn",
       .fix = "use a polynomial, or a table that is fine enough for the dtype",
       .shows = "position 1",
       .change = Each([](TableEntry, const EntryPlace& at) {
         const double sin = Interpolated(std::sin, at.angle) * at.magnitude;
         return TableEntry{Interpolated(std::cos, at.angle) * at.magnitude,
                           at.backward ? -sin : sin};
       })},
      {.id = "sin_and_cos_swapped",
       .cause = "cos and sin are exchanged",
       .fix = "hand cos over first, or by name",
       .shows = "position 0",
       .change = Each([](TableEntry e, const EntryPlace&) {
         return TableEntry{e.sin, e.cos};
       }),
       .links = On({"huggingface/diffusers/pull/1369"}),
       .kinds = {"SINCOS_ORDER"}},
      {.id = "sin_dropped",
       .cause = "sin is left out: vectors shrink instead of turning",
       .fix = "add the term with sin",
       .shows = "position 1",
       .change = Each([](TableEntry e, const EntryPlace&) {
         return TableEntry{e.cos, 0};
       })},
      {.id = "cos_dropped",
       .cause = "cos is left out",
       .fix = "multiply the vector itself by cos",
       .shows = "position 1",
       .change = Each([](TableEntry e, const EntryPlace& at) {
         return TableEntry{at.magnitude, e.sin};
       })},
      {.id = "cos_sign",
       .cause = "cos is negated",
       .fix = "check the quadrant of the reduction",
       .shows = "position 0",
       .change = Each([](TableEntry e, const EntryPlace&) {
         return TableEntry{-e.cos, e.sin};
       })},
      {.id = "quadrant_lost",
       .cause = "the reduction to a quarter turn forgets the signs of the quadrant",
       .fix = "take both bits of the quadrant into account",
       .shows = "the first position beyond a quarter turn",
       .change = Each([](TableEntry e, const EntryPlace& at) {
         const double sin = std::fabs(e.sin);
         return TableEntry{std::fabs(e.cos), at.backward ? -sin : sin};
       })},
      {.id = "table_row_zero",
       .cause = "the first row of the table is never written",
       .fix = "begin the table at position 0",
       .shows = "position 0",
       .change = Each([](TableEntry e, const EntryPlace& at) {
         return at.position == 0 ? TableEntry{0, 0} : e;
       })},
      {.id = "magnitude_dropped",
       .cause = "the magnitude (attention factor) is left out",
       .fix = "multiply cos and sin by it",
       .shows = "position 0: the norm of every pair is off by the same factor",
       .change = ChangeFrequencies{[](const Scheme&, FrequencySeries& series) {
         return std::exchange(series.magnitude, 1) != 1;
       }},
       .links = On({"ggml-org/llama.cpp/pull/17945"}),
       .kinds = {"MSCALE_INCONSISTENT"}},
      {.id = "magnitude_squared",
       .cause = "the magnitude (attention factor) is applied twice",
       .fix = "multiply cos and sin by it once; it is final where the config gives it",
       .shows = "position 0: the norm of every pair is off by the same factor",
       .change = ChangeFrequencies{[](const Scheme&, FrequencySeries& series) {
         series.magnitude *= series.magnitude;
         return series.magnitude != 1;
       }},
       .links = On({"sgl-project/sglang/pull/33558"}),
       .kinds = {"MSCALE_TWICE"}},
      {.id = "magnitude_inverted",
       .cause = "vectors are divided by the magnitude (attention factor)",
       .fix = "multiply cos and sin by it",
       .shows = "position 0: the norm of every pair is off by the same factor",
       .change = ChangeFrequencies{[](const Scheme&, FrequencySeries& series) {
         series.magnitude = 1 / series.magnitude;
         return series.magnitude != 1;
       }}},
      {.id = "magnitude_on_cos_only",
       .cause = "the magnitude (attention factor) is on cos alone",
       .fix = "multiply cos and sin by it",
       .shows = "position 1",
       .change = ChangeEntry{[](TableEntry& entry, const EntryPlace& at) {
         if (at.magnitude != 0) entry.sin /= at.magnitude;
       }}},
      {.id = "magnitude_bf16",
       .cause = "the magnitude (attention factor) is rounded to bf16",
       .fix = "keep it in float32",
       .shows = "position 0: the norm of every pair is off by the same factor",
       .change = ChangeFrequencies{[](const Scheme&, FrequencySeries& series) {
         const double was = series.magnitude;
         series.magnitude = RoundedTo(Dtype::bf16, was);
         return series.magnitude != was;
       }}},
  };
}

}  // namespace posgauge
