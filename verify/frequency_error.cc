#include "posgauge/verify/frequency_error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "posgauge/reference/longrope.h"
#include "posgauge/reference/ntk.h"
#include "posgauge/reference/yarn.h"

namespace posgauge {

double Compound(double n, double u) { return std::expm1(n * u / (1 - u)); }

Loss LossOf(Arithmetic arithmetic, bool flush_to_zero, double value) {
  const double u = UnitRoundoff(arithmetic);
  if (u == 0) return {};
  const bool held = arithmetic == Arithmetic::dd || RoundTo(FormatOf(arithmetic), value) == value;
  const double eta = UnderflowError(arithmetic, flush_to_zero);
  const bool flushed = flush_to_zero && value != 0 && std::fabs(value) < eta;
  return held && !flushed ? Loss{} : Loss{u, eta};
}

namespace {

// The power, log and exp of a library are taken as within one ulp, which is 2 u.
constexpr double kLibraryRoundoffs = 2;

// One schedule of frequencies in one arithmetic.
struct Former {
  const Contract& contract;
  double u, eta;

  // Whether the arithmetic holds a parameter; else it is rounded first, one u more.
  double Rounded(double parameter) const {
    return LossOf(contract.frequency, contract.flush_to_zero, parameter).relative > 0 ? 1 : 0;
  }
  bool Overflows(double value) const { return value > LargestFinite(contract.frequency); }
};

// The base that the powers are taken of: the model's own or, for NTK, a scaled one.
struct Base {
  double log;        // ln base
  double roundoffs;  // of the base itself, in u
};

// Of a power base^(-2i/d), d = rotary_dim (of a sinusoid 2 D, of an axial pair what its series
// counts by, and i its index there), i and d exact integers. With x =
// 2i/d:
//   pow         1/pow(b, x): pow one ulp (2u) and the quotient u. An error of u in b is x u in b^x;
//               one of d in x is d |ln b|, with d = x u + eta where x is not a number of the
//               format.
//   exp         exp(-i log(b)/half): log one ulp, product and quotient u each make 4u of the
//               argument t = x |ln b|, an error of u in b is x u in t, and two operations may lose
//               eta each; an error d of the argument is e^d - 1 of the result; exp itself one ulp.
//   recurrence  i products by a step whose own error is that of pow at i = 1.
// Where b^x overflows, or b itself does, the result is anything.
double PlainError(const Former& former, const Base& base, int64_t index, int64_t width) {
  const double u = former.u, eta = former.eta;
  const auto i = static_cast<double>(index), d = static_cast<double>(width);
  const double log_base = std::fabs(base.log);
  if (base.log > 0 && former.Overflows(std::exp(base.log))) return HUGE_VAL;
  const auto power = [&](double steps) {
    const double x = 2 * steps / d;
    const bool binary = std::fma(x, d, -2 * steps) == 0;
    const Loss loss =
        binary ? LossOf(former.contract.frequency, former.contract.flush_to_zero, x) : Loss{u, eta};
    const double argument = (x * loss.relative + loss.absolute) * log_base;
    const double roundoffs = kLibraryRoundoffs + 1 + x * base.roundoffs;
    // For b < 1 the power itself may lie below the normal range.
    const double lost = base.log < 0 ? eta / std::exp(x * base.log) : 0;
    return Together(Together(Compound(roundoffs, u), std::expm1(argument)), lost);
  };
  switch (former.contract.frequency_formula) {
    case FrequencyFormula::rn:
      return 0;  // only the final rounding
    case FrequencyFormula::pow:
      return power(i);
    case FrequencyFormula::exp: {
      const double x = 2 * i / d;
      if (former.Overflows(i * log_base)) return HUGE_VAL;
      const double argument =
          x * log_base * Compound(4, u) + x * base.roundoffs * u * (1 + Compound(4, u)) + 2 * eta;
      return Together(Compound(kLibraryRoundoffs, u), std::expm1(argument));
    }
    case FrequencyFormula::recurrence:
      break;
  }
  return std::expm1(i * (std::log1p(power(1)) + u / (1 - u)));
}

// w/s: s, 1/s and the product.
double DividedError(const Former& former, double factor, double plain) {
  return Together(plain, Compound(2 + former.Rounded(factor), former.u));
}

// The kept share k of a blended pair, and how far off it may be; anything where a rounding may put
// the pair on the other side of a step.
struct Share {
  double kept, error;
};

// w (1 - k)/s + w k. Six roundings at most on the longer term, with one for s: s, 1/s, w/s, 1 - k,
// product, sum. The share moves the result by error (1 - 1/s)/(k + (1 - k)/s), which is large where
// little is kept and s is large.
double BlendError(double plain, double u, double factor, double factor_roundoffs, Share share) {
  if (std::isinf(share.error)) return HUGE_VAL;
  const double kept = share.kept;
  const double moved = share.error * (1 - 1 / factor) / (kept + (1 - kept) / factor);
  return Together(Together(plain, Compound(5 + factor_roundoffs, u)), moved);
}

// r = L w/(2 pi) as L/(2 pi/w): 2 pi, two quotients and L, four roundings; then
// k = (r - low)/(high - low), three roundings, and the two parameters where they are not numbers of
// the arithmetic. Only pairs on the ramp, or so near it that the error reaches it, are concerned.
Share ShareByTurns(const Former& former, double low, double high, int64_t original_length,
                   double plain, double plain_frequency) {
  const double u = former.u;
  const double turns =
      static_cast<double>(original_length) * plain_frequency / (2 * std::numbers::pi);
  const double turns_error = turns * Together(plain, Compound(4, u));
  const double width = high - low;
  if (width == 0) {
    // A step: a rounding may put a pair that lies on it to the other side.
    const bool on_step = std::fabs(turns - high) <= turns_error + 2 * u * high;
    return {turns > high ? 1.0 : 0.0, on_step ? HUGE_VAL : 0};
  }
  const double ends = former.Rounded(low) * low + former.Rounded(high) * high;
  const double error = Together((turns_error + 2 * u * ends) / width, Compound(3, u));
  const bool near = turns > low - error * width && turns < high + error * width;
  return {std::clamp((turns - low) / width, 0.0, 1.0), near ? error : 0};
}

// The ends of the ramp are binary64 numbers in all deployed code, whatever the frequencies are;
// they are rounded where they are not numbers of the arithmetic. R = (i - low)/(high - low): three
// roundings; k = (1 - R) extrapolation_factor: three more.
Share ShareByPairs(const Former& former, const yarn::Params& params, int64_t pair) {
  const double u = former.u;
  const yarn::Ramp<double> ramp = yarn::ChosenRamp<double>(params);
  const double width = ramp.high - ramp.low, i = static_cast<double>(pair);
  const double on_ramp = std::clamp((i - ramp.low) / width, 0.0, 1.0);
  const double ends = former.Rounded(ramp.low) * std::fabs(ramp.low) +
                      former.Rounded(ramp.high) * std::fabs(ramp.high);
  const double error = Together(2 * u * ends / std::fabs(width), Compound(6, u));
  const double reach = error * std::fabs(width);
  const bool near =
      i > std::min(ramp.low, ramp.high) - reach && i < std::max(ramp.low, ramp.high) + reach;
  // Off the ramp the share is 0 or the extrapolation factor itself, rounded.
  return {(1 - on_ramp) * params.extrapolation_factor,
          near ? error : former.Rounded(params.extrapolation_factor) * u};
}

double YarnError(const Former& former, const yarn::Params& params, double plain,
                 double plain_frequency, int64_t pair) {
  const double factor = yarn::Factor<double>(params);
  // A factor of two lengths is a quotient of two rounded numbers.
  const double factor_roundoffs = params.length ? 3 : 1;
  if (params.ramp == yarn::RampOver::pairs) {
    return BlendError(plain, former.u, factor, factor_roundoffs,
                      ShareByPairs(former, params, pair));
  }
  Share share = ShareByTurns(former, params.beta_slow, params.beta_fast, params.original_length,
                             plain, plain_frequency);
  // Times the extrapolation factor, rounded, and the product.
  share.kept *= params.extrapolation_factor;
  share.error = Together(share.error, Compound(2, former.u));
  return BlendError(plain, former.u, factor, factor_roundoffs, share);
}

// b' = b alpha^k, k = d/(d - 2): an error of u in k is k ln(alpha) u in b', one of n u in alpha is
// k n u; pow one ulp, product u.
Base ScaledBase(const Former& former, const ntk::Params& params) {
  const auto d = static_cast<double>(params.rotary.rotary_dim);
  const double log = std::log(params.rotary.base), s = params.factor;
  const double own = former.Rounded(params.rotary.base);
  if (params.form == ntk::Form::naive || params.form == ntk::Form::fixed) {
    return {log + std::log(s), own + former.Rounded(s) + 1};
  }
  if (params.form == ntk::Form::mixed) return {log, own};
  // Qwen-1's alpha is an integer, chosen by two others.
  const double alpha = ntk::Alpha<double>(params);
  double alpha_roundoffs = former.Rounded(alpha);
  if (params.form == ntk::Form::dynamic) {
    // s L/L_trained - (s - 1): the quotient, with its three operands and two roundings, is
    // alpha + s - 1; the difference s - 1 and the last one round too.
    const auto trained = static_cast<double>(*params.trained_length);
    const double length = std::max(static_cast<double>(*params.length), trained);
    const double quotient =
        2 + 2 * former.Rounded(s) + former.Rounded(length) + former.Rounded(trained);
    alpha_roundoffs = (quotient * (alpha + s - 1) + (s - 1)) / alpha + 1;
  }
  const double k = d / (d - 2);
  return {log + k * std::log(alpha),
          own + k * alpha_roundoffs + k * std::fabs(std::log(alpha)) + kLibraryRoundoffs + 1};
}

// fixed: the powers of b s, divided by s^(2/d): pow one ulp, the quotient u, s itself by 2/d of its
// own rounding, and 2/d by ln s of its.
// mixed: divided by exp(A (i+1)^B), A = ln s/(d/2)^B. Of the argument t: log, both powers and exp
// one ulp each, a quotient, a product and the last quotient u each; an error of u in B is ln(i+1) u
// and ln(d/2) u in the powers, one of u in s is u in ln s. Two operations of t may lose eta each,
// the first of them times (i+1)^B.
double StretchError(const Former& former, const ntk::Params& params, double plain, int64_t pair) {
  const double u = former.u, s = params.factor, log_s = std::fabs(std::log(s));
  const auto pairs = static_cast<double>(params.rotary.Pairs());
  const double index = static_cast<double>(pair) + 1;
  if (params.form == ntk::Form::fixed) {
    const double exponent = 1 / pairs;
    return Together(
        Together(plain, Compound(kLibraryRoundoffs + 1 + exponent * former.Rounded(s), u)),
        std::expm1((exponent * u + former.eta) * log_s));
  }
  if (params.form != ntk::Form::mixed) return plain;
  const double b = *params.mixed_exponent;
  const double power = std::pow(index, b), all = std::pow(pairs, b), share = power / all;
  if (former.Overflows(std::max({power, all, s, 1 / s}))) return HUGE_VAL;
  const double powers = former.Rounded(b) * b * (std::log(index) + std::log(pairs));
  const double relative = Compound(3 * kLibraryRoundoffs + 2 + powers, u);
  const double absolute = share * former.Rounded(s) * u * (1 + relative) + former.eta * (power + 1);
  return Together(Together(plain, Compound(kLibraryRoundoffs + 1, u)),
                  std::expm1(share * log_s * relative + absolute));
}

}  // namespace

PlainExponent PlainExponentOf(const Scheme& scheme, int64_t pair) {
  if (const auto* axial = std::get_if<axial::Params>(&scheme)) {
    const auto [index, pairs] = axial->ExponentOf(pair);
    return {index, 2 * pairs};
  }
  if (const auto* waves = std::get_if<sinusoidal::Params>(&scheme)) {
    return {pair, waves->TwiceDenominator()};
  }
  return {pair, RotaryOf(scheme).rotary_dim};
}

std::vector<double> FrequencyErrors(const Contract& contract, const Scheme& scheme,
                                    std::span<const double> frequencies) {
  const double u = UnitRoundoff(contract.frequency);
  std::vector<double> errors(frequencies.size(), 0);
  if (u == 0) return errors;
  const Former former{contract, u, UnderflowError(contract.frequency, contract.flush_to_zero)};
  const auto* waves = std::get_if<sinusoidal::Params>(&scheme);
  const double plain_base = waves != nullptr ? waves->base : RotaryOf(scheme).base;
  const bool formed = contract.frequency_formula != FrequencyFormula::rn;
  Base base{std::log(plain_base), former.Rounded(plain_base)};
  if (const auto* params = std::get_if<ntk::Params>(&scheme)) base = ScaledBase(former, *params);
  for (size_t at = 0; at < errors.size(); ++at) {
    if (frequencies[at] == 0) continue;  // a pair that stands still: 0 in every arithmetic
    const auto pair = static_cast<int64_t>(at);
    const auto [index, width] = PlainExponentOf(scheme, pair);
    double error = PlainError(former, base, index, width);
    // How many operations may each lose eta of a quantity of the size of the result.
    double losses = 1;
    if (!formed) {
      error = Compound(1, u);
    } else if (std::isfinite(error)) {
      losses = contract.frequency_formula == FrequencyFormula::recurrence
                   ? static_cast<double>(index) + 1
                   : 1;
      const double plain =
          std::pow(plain_base, -2 * static_cast<double>(index) / static_cast<double>(width));
      if (waves != nullptr && waves->scale != 1) {
        // The scale, and the product with the frequency or, in the same arithmetic, the angle.
        error = Together(error, Compound(1 + former.Rounded(waves->scale), u));
        losses += 1;
      } else if (const auto* ntk = std::get_if<ntk::Params>(&scheme)) {
        error = StretchError(former, *ntk, error, pair);
        losses += 1;
      } else if (const auto* linear = std::get_if<linear::Params>(&scheme)) {
        error = DividedError(former, linear->factor, error);
        losses += 1;
      } else if (const auto* proportional = std::get_if<proportional::Params>(&scheme)) {
        error = DividedError(former, proportional->factor, error);
        losses += 1;
      } else if (const auto* longrope = std::get_if<longrope::Params>(&scheme)) {
        const auto& factors =
            longrope::IsLong(*longrope) ? longrope->long_factor : longrope->short_factor;
        error = DividedError(former, factors ? (*factors)[at] : 1, error);
        losses += 1;
      } else if (const auto* llama3 = std::get_if<llama3::Params>(&scheme)) {
        error = BlendError(
            error, u, llama3->factor, 1,
            ShareByTurns(former, llama3->low_frequency_factor, llama3->high_frequency_factor,
                         llama3->original_length, error, plain));
        losses += 4;
      } else if (const auto* yarn = std::get_if<yarn::Params>(&scheme)) {
        error = YarnError(former, *yarn, error, plain, pair);
        losses += 4;
      }
    }
    const double frequency = std::fabs(frequencies[at]);
    if (former.Overflows(frequency * (1 + error))) error = HUGE_VAL;
    errors[at] = (error + losses * former.eta / frequency) * (1 + 0x1p-48);
  }
  return errors;
}

}  // namespace posgauge
