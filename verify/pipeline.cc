#include "posgauge/verify/pipeline.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "posgauge/reference/ntk.h"
#include "posgauge/verify/double_double.h"
#include "posgauge/verify/frequency_error.h"

namespace posgauge {

namespace {

// Not exact, dd or turns.
bool HasDoublesOnly(Arithmetic arithmetic) { return UnitRoundoff(arithmetic) >= 0x1p-53; }

// Rounds a sum of two doubles once. The odd neighbour of an inexact double carries the rest of the
// sum as a sticky bit: rounding it to a format at least two bits narrower is rounding the sum.
class Rounder {
 public:
  Rounder(Arithmetic arithmetic, bool flush_to_zero)
      : idle_(!HasDoublesOnly(arithmetic)), flush_(flush_to_zero), format_(FormatOf(arithmetic)) {}

  DoubleDouble operator()(DoubleDouble value) const {
    if (!std::isfinite(value.high)) return {value.high, 0};
    if (idle_) return value;
    double high = value.high;
    const bool even = (std::bit_cast<uint64_t>(high) & 1) == 0;
    if (format_.digits < 53 && value.low != 0 && even) {
      high = std::nextafter(high, value.low > 0 ? HUGE_VAL : -HUGE_VAL);
    }
    const double rounded = RoundTo(format_, high);
    const bool below = std::fabs(rounded) < std::ldexp(1.0, format_.min_exponent);
    return {flush_ && below ? std::copysign(0.0, rounded) : rounded, 0};
  }
  double operator()(double value) const { return (*this)(DoubleDouble{value, 0}).high; }

 private:
  bool idle_, flush_;
  Format format_;
};

// Products and sums of numbers of up to 53 bits are exact as sums of two doubles; those of wider
// ones are within 2^-100. Beside an infinity there is no rest.
DoubleDouble Product(DoubleDouble a, DoubleDouble b) {
  const double product = a.high * b.high;
  return std::isfinite(product) ? a * b : DoubleDouble{product, 0};
}
DoubleDouble Sum(DoubleDouble a, DoubleDouble b) {
  const double sum = a.high + b.high;
  return std::isfinite(sum) ? a + b : DoubleDouble{sum, 0};
}

// Whether the frequencies are powers of one base, and nothing is done to them: mrope and axial too.
bool ArePowers(const Scheme& scheme) {
  const auto* ntk = std::get_if<ntk::Params>(&scheme);
  return Name(scheme) == "rope" || AxesOf(scheme).count > 1 ||
         (ntk != nullptr && ntk->form != ntk::Form::fixed && ntk->form != ntk::Form::mixed);
}

// The base whose powers the frequencies are: NTK forms one of its own.
double BaseOf(const Rounder& round, const Scheme& scheme) {
  const double base = RotaryOf(scheme).base;
  const auto* params = std::get_if<ntk::Params>(&scheme);
  if (params == nullptr || !ArePowers(scheme)) return base;
  const double s = params->factor;
  if (params->form == ntk::Form::naive) return round(base * round(s));
  double alpha = round(ntk::Alpha<double>(*params));
  if (params->form == ntk::Form::dynamic) {
    const auto trained = static_cast<double>(*params->trained_length);
    const double length = std::max(static_cast<double>(*params->length), trained);
    alpha = round(round(round(s * length) / trained) - round(s - 1));
  }
  const auto d = static_cast<double>(params->rotary.rotary_dim);
  return round(base * round(std::pow(alpha, round(d / (d - 2)))));
}

std::vector<double> FormFrequencies(const Contract& contract, const Scheme& scheme,
                                    const ExactRotation& exact) {
  const Rounder round(contract.frequency, contract.flush_to_zero);
  if (contract.frequency_formula == FrequencyFormula::rn) {
    std::vector<double> frequencies;
    for (DoubleDouble frequency : exact.EncloseFrequencies().values) {
      frequencies.push_back(round(frequency).high);
    }
    return frequencies;
  }
  std::vector<double> frequencies = exact.Frequencies(Dtype::f64).values;
  const Rotary& layout = RotaryOf(scheme);
  const double base = BaseOf(round, scheme);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const auto [place, width] = PlainExponentOf(scheme, static_cast<int64_t>(i));
    const double half = static_cast<double>(width) / 2, index = static_cast<double>(place);
    const auto power = [&](double exponent) {
      return round(1 / round(std::pow(base, round(exponent / half))));
    };
    double formed = 1;
    if (contract.frequency_formula == FrequencyFormula::recurrence) {
      const double ratio = power(1);
      for (int64_t step = 0; step < place; ++step) formed = round(formed * ratio);
    }
    if (contract.frequency_formula == FrequencyFormula::pow) formed = power(index);
    if (contract.frequency_formula == FrequencyFormula::exp) {
      formed = round(std::exp(-round(round(index * round(std::log(base))) / half)));
    }
    // Blends multiply the plain frequency by a ratio of their own.
    const double ratio = frequencies[i] / std::pow(layout.base, -index / half);
    const auto* linear = std::get_if<linear::Params>(&scheme);
    frequencies[i] = ArePowers(scheme)   ? std::copysign(formed, frequencies[i])
                     : linear != nullptr ? std::copysign(round(formed / linear->factor), ratio)
                                         : round(formed * round(ratio));
  }
  return frequencies;
}

}  // namespace

Pipeline::Pipeline(const Contract& contract, const Scheme& scheme)
    : contract_(contract),
      layout_(RotaryOf(scheme)),
      exact_(scheme),
      held_(exact_),
      frequencies_(exact_.EncloseFrequencies().values),
      magnitude_(exact_.EncloseMagnitude().values[0]) {
  if (!HasDoublesOnly(contract.frequency)) return;
  frequencies_.clear();
  std::vector<DoubleDouble> finite;
  for (double value : FormFrequencies(contract, scheme, exact_)) {
    frequencies_.push_back({value, 0});
    finite.push_back({std::isfinite(value) ? value : 0, 0});
  }
  held_ = ExactRotation(layout_, finite, {1, 0}, exact_.axes());
}

double Pipeline::StoredPosition(double position) const {
  return Rounder(contract_.position, contract_.flush_to_zero)(position);
}

// Operands that the angle's arithmetic does not hold are rounded to it first.
DoubleDouble Pipeline::Angle(double position, size_t pair) const {
  const Rounder round(contract_.angle, contract_.flush_to_zero);
  return round(
      Product(round(DoubleDouble{StoredPosition(position), 0}), round(frequencies_[pair])));
}

std::vector<double> Pipeline::AngleErrors(Positions positions) const {
  const std::vector<DoubleDouble> exact = exact_.EncloseFrequencies().values;
  std::vector<double> errors;
  for (size_t token = 0; token < exact_.axes().Tokens(positions); ++token) {
    for (size_t pair = 0; pair < frequencies_.size(); ++pair) {
      const double position = exact_.axes().At(positions, token, static_cast<int64_t>(pair));
      const DoubleDouble formed = Angle(position, pair);
      errors.push_back(std::isfinite(formed.high)
                           ? std::fabs((formed - exact[pair] * position).high)
                           : HUGE_VAL);
    }
  }
  return errors;
}

Pipeline::Entries Pipeline::Table(Positions positions) const {
  const Rounder round_trig(contract_.trig_arithmetic, contract_.flush_to_zero);
  const Rounder round_table(contract_.table, contract_.flush_to_zero);
  const DoubleDouble magnitude = round_trig(magnitude_);
  const bool pure = magnitude_.high == 1 && magnitude_.low == 0;
  const Axes& axes = exact_.axes();
  Entries entries;
  const auto finish = [&](DoubleDouble value, bool finite) {
    if (!finite) return DoubleDouble{NAN, 0};
    const DoubleDouble rounded = round_trig(value);
    return round_table(pure ? rounded : round_trig(Product(rounded, magnitude)));
  };
  const auto push = [&](const EnclosedTable& exact, size_t at, bool finite) {
    entries.cos.push_back(finish(exact.cos[at], finite));
    entries.sin.push_back(finish(exact.sin[at], finite));
  };
  if (!HasDoublesOnly(contract_.angle)) {
    for (size_t token = 0; token < axes.Tokens(positions); ++token) {
      std::vector<double> stored, finite;  // [axes]
      for (double position : axes.Row(positions, token)) {
        stored.push_back(StoredPosition(position));
        finite.push_back(std::isfinite(stored.back()) ? stored.back() : 0);
      }
      const EnclosedTable exact = held_.EncloseTable(finite);
      for (size_t pair = 0; pair < frequencies_.size(); ++pair) {
        push(exact, pair,
             std::isfinite(axes.At(stored, 0, static_cast<int64_t>(pair))) &&
                 std::isfinite(frequencies_[pair].high));
      }
    }
    return entries;
  }
  // cos and sin of an angle are those of one radian a token at that position.
  const DoubleDouble one{1, 0};
  const ExactRotation unit(Rotary{.head_dim = 2, .rotary_dim = 2}, std::span(&one, 1), one);
  for (size_t token = 0; token < axes.Tokens(positions); ++token) {
    for (size_t pair = 0; pair < frequencies_.size(); ++pair) {
      const double position = axes.At(positions, token, static_cast<int64_t>(pair));
      const double angle = Angle(position, pair).high;
      const double at = std::isfinite(angle) ? angle : 0;
      push(unit.EncloseTable(std::span(&at, 1)), 0, std::isfinite(angle));
    }
  }
  return entries;
}

namespace {

// Rounds to the format of the store; `sr` takes the nearest, which is one of its outcomes.
double Store(const Contract& contract, DoubleDouble value) {
  const Rounder round(ArithmeticOf(contract.store), contract.flush_to_zero);
  const double nearest = round(value).high;
  if (contract.store_rounding != StoreRounding::rtz || !std::isfinite(value.high)) return nearest;
  const DoubleDouble rest = value - DoubleDouble{nearest, 0};
  const bool overflows = !std::isfinite(nearest);
  const bool beyond = overflows || (rest.high != 0 && nearest != 0 &&
                                    std::signbit(rest.high) != std::signbit(nearest));
  if (!beyond) return nearest;
  const Format format = FormatOf(contract.store);
  if (overflows) return std::copysign(Largest(format), value.high);
  // The spacing below a power of two is that of the binade below.
  const double inward = std::nextafter(nearest, 0.0);
  return nearest - std::copysign(Ulp(format, inward), nearest);
}

}  // namespace

Tensor Pipeline::Rotate(Positions positions, const Tensor& x) const {
  const Rounder round(contract_.rotate, contract_.flush_to_zero);
  const Entries entries = Table(positions);
  std::vector<double> values = x.Values();
  const auto pairs = static_cast<size_t>(layout_.Pairs());
  const size_t rows = values.size() / static_cast<size_t>(layout_.head_dim);
  const size_t tokens = exact_.axes().Tokens(positions);
  Require(tokens == 0 ? rows == 0 : rows % tokens == 0,
          "x must be [tokens {}, heads, head_dim {}], got [{}]", tokens, layout_.head_dim,
          fmt::join(x.shape(), ", "));
  const size_t heads = std::max<size_t>(1, rows / std::max<size_t>(1, tokens));
  for (size_t row = 0; row < rows; ++row) {
    const size_t start = row * static_cast<size_t>(layout_.head_dim);
    for (size_t pair = 0; pair < pairs; ++pair) {
      const auto [first, second] = layout_.Channels(static_cast<int64_t>(pair));
      double& u = values[start + static_cast<size_t>(first)];
      double& v = values[start + static_cast<size_t>(second)];
      const DoubleDouble c = round(entries.cos[row / heads * pairs + pair]);
      const DoubleDouble s = round(entries.sin[row / heads * pairs + pair]);
      const DoubleDouble a{round(u), 0}, b{round(v), 0};
      // a p + b q; fused, the first product is not rounded.
      const auto sum = [&](DoubleDouble p, DoubleDouble q) {
        const DoubleDouble product = Product(a, p);
        return round(Sum(contract_.fma ? product : round(product), round(Product(b, q))));
      };
      u = Store(contract_, sum(c, -s));
      v = Store(contract_, sum(s, c));
    }
  }
  return Tensor::FromValues(contract_.store, x.shape(), values);
}

}  // namespace posgauge
