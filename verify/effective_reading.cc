#include "posgauge/verify/effective_reading.h"

#include <algorithm>
#include <cmath>

#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/frequency_error.h"

namespace posgauge {

namespace {

// The largest errors of the three formulas in use: torch's pow, exp as in MLX, ggml's recurrence;
// and two ulp (4 u), for functions that are less than the one ulp good that those take them for.
std::vector<double> ErrorsOf(const Scheme& scheme, Arithmetic arithmetic,
                             const std::vector<double>& frequencies) {
  std::vector<double> largest(frequencies.size(), 0);
  for (const auto formula :
       {FrequencyFormula::pow, FrequencyFormula::exp, FrequencyFormula::recurrence}) {
    const Contract contract{.frequency = arithmetic, .frequency_formula = formula};
    const std::vector<double> errors = FrequencyErrors(contract, scheme, frequencies);
    for (size_t i = 0; i < largest.size(); ++i) largest[i] = std::max(largest[i], errors[i]);
  }
  const double functions = Compound(4, UnitRoundoff(arithmetic));
  for (double& error : largest) error = Together(error, functions);
  return largest;
}

// Whether every number is `meant` to within `relative`, rounded to `rounding` unless that is
// nothing.
bool Agree(const std::vector<double>& numbers, const std::vector<double>& meant,
           const std::vector<double>& relative, std::optional<Format> rounding) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double size = std::fabs(meant[i]);
    double allowed = size == 0 ? 0 : size * relative[i];
    if (rounding) {
      if (RoundTo(*rounding, numbers[i]) != numbers[i]) return false;
      if (std::isfinite(allowed) && size > 0) allowed += Ulp(*rounding, size + allowed) / 2;
    }
    if (!(std::fabs(numbers[i] - meant[i]) <= allowed)) return false;
  }
  return true;
}

Fit FitOfNumbers(const HeldNumbers& held, const std::vector<double>& meant,
                 const std::vector<double>& relative) {
  if (held.values.size() != meant.size()) return Fit::no;
  if (Agree(held.values, meant, relative, std::nullopt)) return Fit::yes;
  if (held.dtype != Dtype::bf16 && Agree(held.values, meant, relative, FormatOf(Dtype::f16))) {
    return Fit::as_f16;
  }
  if (held.dtype != Dtype::f16 && Agree(held.values, meant, relative, FormatOf(Dtype::bf16))) {
    return Fit::as_bf16;
  }
  return Fit::no;
}

// Scalars are formed in binary32 or wider: a magnitude by a logarithm within one ulp (2 u) whose
// argument is a quotient, two products and a sum twice, their quotient and a square, each with
// rounded operands: below 24 roundings, none of which an operation enlarges (all terms are
// positive; the logarithm of a factor above e is less sensitive than its argument, that of one
// below is added to 1).
Fit FitOfScalar(double said, double meant) {
  const double allowed = std::fabs(meant) * Compound(24, UnitRoundoff(Arithmetic::f32));
  return std::fabs(said - meant) <= allowed ? Fit::yes : Fit::no;
}

Fit Equal(bool equal) { return equal ? Fit::yes : Fit::no; }

double LogitScaleOf(const Reading& reading) {
  if (ActsInAttention(reading.scheme)) {
    const Attention& attention = AttentionOf(reading.scheme);
    return attention.scale == ScoreScale::one
               ? 1
               : 1 / std::sqrt(static_cast<double>(attention.head_dim));
  }
  return reading.softmax_multiplier /
         std::sqrt(static_cast<double>(RotaryOf(reading.scheme).head_dim));
}

bool SaysRotation(const Effective& effective) {
  return effective.scheme ? *effective.scheme != "none"
                          : effective.inv_freq && !effective.inv_freq->values.empty();
}

Fit FitOfFrequencies(const Effective& effective, const Reading& reading) {
  if (!IsRotary(reading.scheme)) return Equal(effective.inv_freq->values.empty());
  return FitOfNumbers(*effective.inv_freq, reading.frequencies, reading.errors);
}

// base^k with the base rounded and the power one ulp, or k products: below k + 3 roundings.
Fit FitOfSlopes(const HeldNumbers& slopes, const Reading& reading) {
  const double u = UnitRoundoff(Arithmetic::f32);
  const auto heads = static_cast<double>(reading.slopes.size());
  const std::vector<double> relative(reading.slopes.size(), Compound(heads + 3, u));
  return FitOfNumbers(slopes, reading.slopes, relative);
}

Fit FitOfBuckets(const EffectiveField& field, const Effective& effective, const Scheme& scheme) {
  const auto* buckets = std::get_if<t5::Params>(&scheme);
  if (buckets == nullptr) return Fit::no;
  if (field == "num_buckets") return Equal(*effective.num_buckets == buckets->num_buckets);
  if (field == "max_distance") return Equal(*effective.max_distance == buckets->max_distance);
  return Equal(*effective.bidirectional == buckets->bidirectional);
}

}  // namespace

Reading ReadingOf(const Scheme& scheme, Arithmetic arithmetic) {
  Validate(scheme);
  Reading reading{.scheme = scheme};
  if (IsRotary(scheme)) {
    const ExactRotation rotation(scheme);
    reading.frequencies = rotation.Frequencies(Dtype::f64).values;
    reading.errors = ErrorsOf(scheme, arithmetic, reading.frequencies);
    reading.magnitude = rotation.Magnitude(Dtype::f64).values[0];
    reading.softmax_multiplier = rotation.SoftmaxMultiplier(Dtype::f64).values[0];
  } else if (std::holds_alternative<alibi::Params>(scheme)) {
    reading.slopes =
        ExactEquations(scheme).Evaluate(EquationQuantity::slopes, {}, Dtype::f64).values;
  }
  return reading;
}

std::vector<EffectiveField> FieldsSaid(const Effective& effective) {
  std::vector<EffectiveField> said;
  const auto add = [&](std::string_view name, bool is_said) {
    if (is_said) said.emplace_back(name);
  };
  add("scheme", effective.scheme.has_value());
  add("inv_freq", effective.inv_freq.has_value());
  add("attention_factor", effective.attention_factor.has_value());
  add("softmax_multiplier", effective.softmax_multiplier.has_value());
  add("logit_scale", effective.logit_scale.has_value());
  add("rotary_dim", effective.rotary_dim.has_value());
  add("rotary_offset", effective.rotary_offset.has_value());
  add("pairing", effective.pairing.has_value());
  add("slopes", effective.slopes.has_value());
  add("num_buckets", effective.num_buckets.has_value());
  add("max_distance", effective.max_distance.has_value());
  add("bidirectional", effective.bidirectional.has_value());
  return said;
}

std::vector<EffectiveField> FieldsOf(const Scheme& scheme) {
  if (IsRotary(scheme)) {
    return {"inv_freq",   "attention_factor", "softmax_multiplier",
            "rotary_dim", "rotary_offset",    "pairing"};
  }
  if (std::holds_alternative<alibi::Params>(scheme)) return {"slopes", "logit_scale"};
  if (std::holds_alternative<t5::Params>(scheme)) {
    return {"num_buckets", "max_distance", "bidirectional", "logit_scale"};
  }
  return {"scheme"};
}

Fit FitOf(const EffectiveField& field, const Effective& effective, const Reading& reading) {
  const Scheme& scheme = reading.scheme;
  if (field == "scheme") return Equal(*effective.scheme == Name(scheme));
  if (field == "inv_freq") return FitOfFrequencies(effective, reading);
  if (field == "slopes") return FitOfSlopes(*effective.slopes, reading);
  if (field == "logit_scale") {
    if (!IsRotary(scheme) && !ActsInAttention(scheme)) return Fit::no;
    return FitOfScalar(*effective.logit_scale, LogitScaleOf(reading));
  }
  if (field == "num_buckets" || field == "max_distance" || field == "bidirectional") {
    return FitOfBuckets(field, effective, scheme);
  }
  // What is left belongs to a rotation; where there is none, nothing is said by it.
  if (!IsRotary(scheme)) return Equal(!SaysRotation(effective));
  const Rotary& rotary = RotaryOf(scheme);
  if (field == "rotary_dim") return Equal(*effective.rotary_dim == rotary.rotary_dim);
  if (field == "rotary_offset") return Equal(*effective.rotary_offset == rotary.rotary_offset);
  if (field == "pairing") return Equal(*effective.pairing == rotary.pairing);
  if (field == "attention_factor")
    return FitOfScalar(*effective.attention_factor, reading.magnitude);
  return FitOfScalar(*effective.softmax_multiplier, reading.softmax_multiplier);
}

Arithmetic ArithmeticBehind(const Effective& effective) {
  if (!effective.inv_freq) return Arithmetic::f32;
  const auto& numbers = effective.inv_freq->values;
  const bool fit =
      std::ranges::all_of(numbers, [](double x) { return RoundTo(FormatOf(Dtype::f32), x) == x; });
  return fit ? Arithmetic::f32 : Arithmetic::f64;
}

}  // namespace posgauge
