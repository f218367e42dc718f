#include "posgauge/verify/pipeline.h"

#include <cmath>

#include "posgauge/verify/double_double.h"

namespace posgauge {

namespace {

// Rounds a binary64 result of one operation to the arithmetic. Products of f32 and narrower
// operands are exact in binary64 and their sums, quotients and roots round innocuously (53 >= 2 *
// 24 + 2).
class Rounder {
 public:
  Rounder(Arithmetic arithmetic, bool flush_to_zero)
      : exact_(Digits(arithmetic) >= 53),
        flush_(flush_to_zero),
        format_(exact_ ? FormatOf(Dtype::f64) : FormatOf(DtypeOf(arithmetic))) {}

  double operator()(double value) const {
    const double rounded = exact_ ? value : RoundTo(format_, value);
    const bool below = std::fabs(rounded) < std::ldexp(1.0, format_.min_exponent);
    return flush_ && below ? std::copysign(0.0, rounded) : rounded;
  }

 private:
  static Dtype DtypeOf(Arithmetic arithmetic) { return ParseDtype(VariantName(arithmetic)); }
  bool exact_, flush_;
  Format format_;
};

std::vector<double> FormFrequencies(const Contract& contract, const Scheme& scheme,
                                    const ExactRotation& exact) {
  const Rounder round(contract.frequency, contract.flush_to_zero);
  std::vector<double> frequencies = exact.Frequencies(Dtype::f64).values;
  if (contract.frequency_formula == FrequencyFormula::rn) {
    for (double& frequency : frequencies) frequency = round(frequency);
    return frequencies;
  }
  const Rotary& layout = RotaryOf(scheme);
  const double half = static_cast<double>(layout.Pairs());
  const auto power = [&](double index) {
    return round(1 / round(std::pow(layout.base, round(index / half))));
  };
  const double step = layout.Pairs() > 1 ? power(1) : 1;
  double product = 1;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const auto index = static_cast<double>(i);
    const double plain = std::pow(layout.base, -index / half);
    double formed = product;
    if (contract.frequency_formula == FrequencyFormula::pow) formed = power(index);
    if (contract.frequency_formula == FrequencyFormula::exp) {
      formed = round(std::exp(-round(round(index * round(std::log(layout.base))) / half)));
    }
    // A scaled schedule multiplies the plain frequency by a ratio of its own.
    const double ratio = frequencies[i] / plain;
    frequencies[i] = Name(scheme) == "rope" ? formed : round(formed * round(ratio));
    product = round(product * step);
  }
  return frequencies;
}

}  // namespace

Pipeline::Pipeline(const Contract& contract, const Scheme& scheme)
    : contract_(contract),
      layout_(RotaryOf(scheme)),
      exact_(scheme),
      held_(exact_),
      magnitude_(exact_.Magnitude(Dtype::f64).values[0]) {
  if (contract.frequency == Arithmetic::exact || contract.frequency == Arithmetic::dd) {
    frequencies_ = exact_.Frequencies(Dtype::f64).values;
    return;
  }
  frequencies_ = FormFrequencies(contract, scheme, exact_);
  std::vector<DoubleDouble> held;
  for (double frequency : frequencies_) held.push_back({frequency, 0});
  held_ = ExactRotation(layout_, held, {magnitude_, 0});
}

// Fixed-point turns differ from exact by less than this emulation could show.
bool Pipeline::AngleIsExact() const { return contract_.angle <= Arithmetic::dd; }

double Pipeline::RoundedAngle(double position, size_t pair) const {
  const Rounder round_position(contract_.position, contract_.flush_to_zero);
  const Rounder round_angle(contract_.angle, contract_.flush_to_zero);
  return round_angle(round_position(position) * frequencies_[pair]);
}

std::vector<double> Pipeline::AngleErrors(Positions positions) const {
  const std::vector<DoubleDouble> exact = exact_.EncloseFrequencies().values;
  const Rounder round_position(contract_.position, contract_.flush_to_zero);
  std::vector<double> errors;
  for (double position : positions) {
    for (size_t pair = 0; pair < frequencies_.size(); ++pair) {
      const bool wide =
          contract_.frequency == Arithmetic::exact || contract_.frequency == Arithmetic::dd;
      const DoubleDouble held = wide ? exact[pair] : DoubleDouble{frequencies_[pair], 0};
      const DoubleDouble formed = AngleIsExact() ? held * round_position(position)
                                                 : DoubleDouble{RoundedAngle(position, pair), 0};
      errors.push_back(std::fabs((formed - exact[pair] * position).high));
    }
  }
  return errors;
}

Pipeline::Entries Pipeline::Table(Positions positions) const {
  const Rounder round_trig(contract_.trig_arithmetic, contract_.flush_to_zero);
  const Rounder round_table(contract_.table, contract_.flush_to_zero);
  const Rounder round_position(contract_.position, contract_.flush_to_zero);
  const double magnitude = round_trig(magnitude_);
  Entries entries;
  const auto push = [&](double cos, double sin) {
    const auto finish = [&](double value) {
      const double rounded = round_trig(value);
      return round_table(magnitude == 1 ? rounded : round_trig(rounded * magnitude));
    };
    entries.cos.push_back(finish(cos));
    entries.sin.push_back(finish(sin));
  };
  if (AngleIsExact()) {
    std::vector<double> seen;
    for (double position : positions) seen.push_back(round_position(position));
    const EnclosedTable exact = held_.EncloseTable(seen);
    for (size_t at = 0; at < exact.cos.size(); ++at) push(exact.cos[at].high, exact.sin[at].high);
    return entries;
  }
  for (double position : positions) {
    for (size_t pair = 0; pair < frequencies_.size(); ++pair) {
      const double angle = RoundedAngle(position, pair);
      push(std::cos(angle), std::sin(angle));
    }
  }
  return entries;
}

Tensor Pipeline::Rotate(Positions positions, const Tensor& x) const {
  const Rounder round(contract_.rotate, contract_.flush_to_zero);
  const Entries entries = Table(positions);
  std::vector<double> values = x.Values();
  const auto pairs = static_cast<size_t>(layout_.Pairs());
  const size_t rows = values.size() / static_cast<size_t>(layout_.head_dim);
  const size_t heads = positions.empty() ? 0 : rows / positions.size();
  for (size_t row = 0; row < rows; ++row) {
    const size_t start = row * static_cast<size_t>(layout_.head_dim);
    for (size_t pair = 0; pair < pairs; ++pair) {
      const auto [first, second] = layout_.Channels(static_cast<int64_t>(pair));
      double& u = values[start + static_cast<size_t>(first)];
      double& v = values[start + static_cast<size_t>(second)];
      const double c = round(entries.cos[row / heads * pairs + pair]);
      const double s = round(entries.sin[row / heads * pairs + pair]);
      const double a = round(u), b = round(v);
      if (contract_.fma) {
        u = round(std::fma(a, c, -round(b * s)));
        v = round(std::fma(a, s, round(b * c)));
      } else {
        u = round(round(a * c) - round(b * s));
        v = round(round(a * s) + round(b * c));
      }
    }
  }
  // RoundTo in FromValues is the nearest-even store; truncation takes the neighbour towards zero.
  if (contract_.store_rounding == StoreRounding::rtz) {
    const Format format = FormatOf(contract_.store);
    for (double& value : values) {
      const double nearest = RoundTo(format, value);
      if (std::fabs(nearest) > std::fabs(value)) {
        const double below = nearest - std::copysign(Ulp(format, value), nearest);
        value = below;
      }
    }
  }
  return Tensor::FromValues(contract_.store, x.shape(), values);
}

}  // namespace posgauge
