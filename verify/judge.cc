#include "posgauge/verify/judge.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "posgauge/verify/double_double.h"
#include "posgauge/verify/use_collector.h"

namespace posgauge {

namespace {

// What the arithmetic of verify/double_double.h may add to a rotated value, relative to the pair
// norm.
constexpr double kMeasuringError = 0x1p-97;

// And absolutely: a truth below the normal range of binary64 is rounded to multiples of 2^-1074,
// its high and low part each, and so is half an ulp there.
constexpr double kMeasuringUnderflow = 3 * 0x1p-1074;

std::string Describe(const Rotary& layout, double frequency, int64_t head, int64_t pair,
                     int64_t channel) {
  const double wavelength = frequency == 0 ? HUGE_VAL : 2 * std::numbers::pi / std::fabs(frequency);
  std::string text;
  if (head >= 0) text = fmt::format("head {}, ", head);
  return text + fmt::format("channel {} (pair {} of {}, wavelength {:.4g} tokens)", channel, pair,
                            layout.Pairs(), wavelength);
}

// " at 7 on axis 1 of (3, 7, 0)", where positions have several axes.
std::string OnAxis(const Axes& axes, Positions positions, size_t token, int64_t pair) {
  if (axes.count == 1) return "";
  return fmt::format(" at {} on axis {} of ({})", axes.At(positions, token, pair), axes.Of(pair),
                     fmt::join(axes.Row(positions, token), ", "));
}

double Magnitude(DoubleDouble value) { return std::fabs(value.high); }

DoubleDouble Scaled(DoubleDouble value, DoubleDouble magnitude) {
  return magnitude.high == 1 && magnitude.low == 0 ? value : value * magnitude;
}

// Rows of the rotated tensor, element by element.
struct Element {
  size_t token;
  int64_t head, pair, channel;
  size_t index;  // into x and out
  double r;      // norm of the input pair
  DoubleDouble truth;
  bool finite;  // both inputs of the pair are
};

template <class Visit, class VisitCopied>
void ForEachElement(const Rotated& rotated, const TruthTable& truth, int64_t begin, int64_t end,
                    Visit visit, VisitCopied copied) {
  const Rotary& layout = rotated.layout;
  const int64_t pairs = layout.Pairs();
  const auto tokens = static_cast<int64_t>(rotated.axes.Tokens(rotated.positions));
  const int64_t row = tokens == 0 ? 0 : static_cast<int64_t>(rotated.x.size()) / tokens;
  const int64_t heads = layout.head_dim == 0 ? 0 : row / layout.head_dim;
  for (int64_t token = begin; token < end; ++token) {
    for (int64_t head = 0; head < heads; ++head) {
      const int64_t start = (token * heads + head) * layout.head_dim;
      for (int64_t channel = 0; channel < layout.head_dim; ++channel) {
        const int64_t inside = channel - layout.rotary_offset;
        if (inside < 0 || inside >= layout.rotary_dim) {
          copied(static_cast<size_t>(token), head, channel, static_cast<size_t>(start + channel));
        }
      }
      for (int64_t pair = 0; pair < pairs; ++pair) {
        const auto [first, second] = layout.Channels(pair);
        const auto at = static_cast<size_t>(token * pairs + pair);
        const double u = rotated.x.Value(static_cast<size_t>(start + first));
        const double v = rotated.x.Value(static_cast<size_t>(start + second));
        const bool finite = std::isfinite(u) && std::isfinite(v);
        const bool known = !rotated.values.empty();
        const DoubleDouble c = known ? DoubleDouble{} : truth.cos[at];
        const DoubleDouble s = known              ? DoubleDouble{}
                               : rotated.backward ? -truth.sin[at]
                                                  : truth.sin[at];
        // Inputs scaled by a power of two, so that neither r nor a product over- or underflows.
        const double largest = std::max(std::fabs(u), std::fabs(v));
        const int exponent = finite && largest > 0 ? std::ilogb(largest) : 0;
        const double us = std::ldexp(u, -exponent), vs = std::ldexp(v, -exponent);
        const auto restore = [&](DoubleDouble value) {
          return DoubleDouble{std::ldexp(value.high, exponent), std::ldexp(value.low, exponent)};
        };
        const double r = std::ldexp(std::hypot(us, vs) * (1 + 0x1p-52), exponent);
        const auto element = [&](int64_t channel, DoubleDouble computed) {
          const auto index = static_cast<size_t>(start + channel);
          visit(Element{static_cast<size_t>(token), head, pair, channel, index, r,
                        known ? rotated.values[index] : restore(computed), finite});
        };
        element(first, c * us - s * vs);
        element(second, s * us + c * vs);
      }
    }
  }
}

// The frequency of a pair for wavelengths in messages, from the truth at hand: not kept there, so
// messages take it from the bound's layout instead.
double PlainFrequency(const Rotary& layout, int64_t pair) {
  return std::pow(layout.base,
                  -2.0 * static_cast<double>(pair) / static_cast<double>(layout.rotary_dim));
}

}  // namespace

TruthTable TruthOf(const ExactRotation& rotation, Positions positions) {
  EnclosedTable enclosed = rotation.EncloseTable(positions);
  TruthTable truth{std::move(enclosed.cos), std::move(enclosed.sin), enclosed.radius};
  if (rotation.IsPure()) return truth;
  const EnclosedValues magnitude = rotation.EncloseMagnitude();
  const DoubleDouble a = magnitude.values[0];
  for (auto* entries : {&truth.cos, &truth.sin}) {
    for (DoubleDouble& entry : *entries) entry = Scaled(entry, a);
  }
  truth.radius = (truth.radius + magnitude.radius + kMeasuringError) * Magnitude(a) * (1 + 0x1p-50);
  return truth;
}

TruthTable TruthOf(const TablePair& supplied) {
  TruthTable truth;
  for (size_t i = 0; i < supplied.cos.size(); ++i) {
    truth.cos.push_back({supplied.cos.Value(i), 0});
    truth.sin.push_back({supplied.sin.Value(i), 0});
  }
  return truth;
}

RoundingReach ReachOf(Dtype dtype, StoreRounding rounding, double stored) {
  const Format format = FormatOf(dtype);
  const double ulp = Ulp(format, stored);
  const double inner = std::fabs(stored) > std::ldexp(1.0, format.min_exponent) &&
                               std::fabs(stored) == std::ldexp(1.0, std::ilogb(stored))
                           ? ulp / 2
                           : ulp;  // spacing towards zero
  double away = ulp, towards = inner;
  if (rounding == StoreRounding::rne) {
    away /= 2;
    towards /= 2;
  }
  if (rounding == StoreRounding::rtz) towards = 0;
  if (stored == 0) return {away, away};
  return stored < 0 ? RoundingReach{away, towards} : RoundingReach{towards, away};
}

double RoundingIntervalExcess(Dtype dtype, StoreRounding rounding, double stored,
                              DoubleDouble truth) {
  const Format format = FormatOf(dtype);
  if (std::isnan(stored) && format.infinities) return HUGE_VAL;
  const double largest = Largest(format);
  // A NaN that stands for what overflows stands for both signs.
  const bool negative = std::isnan(stored) ? std::signbit(truth.high) : std::signbit(stored);
  const double sign = negative ? -1 : 1;
  if (!std::isfinite(stored)) {
    // What overflows: to nearest everything from half an ulp beyond the largest number,
    // stochastically everything beyond it; truncated nothing finite. For f64 that half ulp is
    // beyond what the difference can show: largest stands for it.
    if (rounding == StoreRounding::rtz) return std::isinf(truth.high) ? 0 : HUGE_VAL;
    const double limit =
        rounding == StoreRounding::rne ? largest + 0.5 * Ulp(format, largest) : largest;
    if (std::isinf(limit)) return std::max(0.0, largest - sign * truth.high);
    return std::max(0.0, (limit - sign * truth.high) - sign * truth.low);
  }
  // Truncation keeps what lies beyond the largest number at it.
  if (rounding == StoreRounding::rtz && sign * stored == largest && sign * truth.high > largest) {
    return 0;
  }
  const double difference = (truth.high - stored) + truth.low;  // truth - stored
  const RoundingReach reach = ReachOf(dtype, rounding, stored);
  return std::max(0.0, std::fabs(difference) - (difference < 0 ? reach.below : reach.above));
}

std::vector<DoubleDouble> ExactValues(const Rotated& rotated, const TruthTable& truth) {
  std::vector<DoubleDouble> values(rotated.out.size());
  const auto tokens = static_cast<int64_t>(rotated.axes.Tokens(rotated.positions));
  ForEachElement(
      rotated, truth, 0, tokens, [&](const Element& e) { values[e.index] = e.truth; },
      [&](size_t, int64_t, int64_t, size_t index) {
        values[index] = {rotated.x.Value(index), 0};
      });
  return values;
}

Finding HoldToBound(const Rotated& rotated, const TruthTable& truth, const RotaryBound& bound) {
  const Dtype io = rotated.out.dtype();
  const StoreRounding rounding = bound.contract().store_rounding;
  const auto witness = [&](const Element& e, double want) {
    return [&, want] {
      return Witness{.where = Describe(rotated.layout, PlainFrequency(rotated.layout, e.pair),
                                       e.head, e.pair, e.channel) +
                              OnAxis(rotated.axes, rotated.positions, e.token, e.pair),
                     .got = HexAndDecimal(rotated.out.Value(e.index)),
                     .want = HexAndDecimal(want)};
    };
  };
  const std::vector<double> farthest = rotated.axes.Farthest(rotated.positions);
  return Collect(farthest, [&](int64_t begin, int64_t end, UseCollector& collector) {
    ForEachElement(
        rotated, truth, begin, end,
        [&](const Element& e) {
          const double got = rotated.out.Value(e.index);
          const double position = rotated.axes.At(rotated.positions, e.token, e.pair);
          if (!e.finite) {
            // A NaN or an infinity in: not a finite number out, except where an exact kernel copies
            // at angle zero.
            const bool lawful = !std::isfinite(got) || position == 0;
            collector.Add(e.token, lawful ? 0 : HUGE_VAL, e.index, witness(e, NAN));
            return;
          }
          const double limit = bound.ElementExcess(position, e.pair, e.r);
          if (e.r == 0) {
            collector.AddIdle();
          } else if (!(limit <= kBlindShare * bound.magnitude() * e.r)) {
            collector.AddBlind();
          }
          const double excess = RoundingIntervalExcess(io, rounding, got, e.truth);
          const double measuring =
              e.r * 2 * (truth.radius + kMeasuringError * bound.magnitude()) + kMeasuringUnderflow;
          collector.Add(e.token, Use(std::max(0.0, excess - measuring), limit), e.index,
                        witness(e, e.truth.high));
        },
        [&](size_t token, int64_t head, int64_t channel, size_t index) {
          collector.AddIdle();
          const bool same = rotated.out.Bits(index) == rotated.x.Bits(index);
          collector.Add(token, same ? 0 : HUGE_VAL, index, [&] {
            return Witness{
                .where = fmt::format("head {}, channel {} (not rotated: a copy)", head, channel),
                .got = HexAndDecimal(rotated.out.Value(index)),
                .want = HexAndDecimal(rotated.x.Value(index))};
          });
        });
  });
}

Finding HoldToBudget(const Rotated& rotated, const TruthTable& truth, double magnitude,
                     double budget) {
  const Format format = FormatOf(rotated.out.dtype());
  const std::vector<double> farthest = rotated.axes.Farthest(rotated.positions);
  return Collect(farthest, [&](int64_t begin, int64_t end, UseCollector& collector) {
    Element first{};
    bool second = false;
    ForEachElement(
        rotated, truth, begin, end,
        [&](const Element& e) {
          second = !second;
          if (second) {
            first = e;
            return;
          }
          if (!e.finite) return;
          const auto error = [&](const Element& element) {
            const double got = rotated.out.Value(element.index);
            return (got - element.truth.high) - element.truth.low;
          };
          const double norm = magnitude * e.r;
          if (!std::isfinite(norm) || norm > std::ldexp(1.0, format.max_exponent)) return;
          collector.Add(
              e.token, std::hypot(error(first), error(e)) / (budget * Ulp(format, norm)),
              first.index, [&] {
                return Witness{
                    .where = Describe(rotated.layout, PlainFrequency(rotated.layout, e.pair),
                                      e.head, e.pair, first.channel) +
                             OnAxis(rotated.axes, rotated.positions, e.token, e.pair),
                    .got = fmt::format("({}, {})", HexAndDecimal(rotated.out.Value(first.index)),
                                       HexAndDecimal(rotated.out.Value(e.index))),
                    .want = fmt::format("({}, {})", HexAndDecimal(first.truth.high),
                                        HexAndDecimal(e.truth.high))};
              });
        },
        [](size_t, int64_t, int64_t, size_t) {});
  });
}

namespace {

template <class Visit>
void ForEachEntry(const TablePair& table, const Rotary& layout, size_t tokens,
                  const TruthTable& truth, Visit visit) {
  for (size_t token = 0; token < tokens; ++token) {
    for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
      const size_t at = token * static_cast<size_t>(layout.Pairs()) + static_cast<size_t>(pair);
      visit(token, pair, at, table.cos.Value(at), truth.cos[at], table.sin.Value(at),
            truth.sin[at]);
    }
  }
}

Witness EntryWitness(const Rotary& layout, int64_t pair, std::string on_axis, double cos,
                     double sin, DoubleDouble want_cos, DoubleDouble want_sin) {
  return {
      .where = Describe(layout, PlainFrequency(layout, pair), -1, pair, layout.Channels(pair)[0]) +
               on_axis,
      .got = fmt::format("cos {}, sin {}", HexAndDecimal(cos), HexAndDecimal(sin)),
      .want = fmt::format("cos {}, sin {}", HexAndDecimal(want_cos.high),
                          HexAndDecimal(want_sin.high))};
}

}  // namespace

Finding HoldToBound(const TablePair& table, const Rotary& layout, Positions positions,
                    const TruthTable& truth, const RotaryBound& bound, double magnitude,
                    const Axes& axes) {
  const std::vector<double> farthest = axes.Farthest(positions);
  UseCollector collector(farthest);
  ForEachEntry(table, layout, farthest.size(), truth,
               [&](size_t token, int64_t pair, size_t at, double cos, DoubleDouble want_cos,
                   double sin, DoubleDouble want_sin) {
                 const double limit = bound.TableExcess(axes.At(positions, token, pair), pair);
                 if (!(limit <= kBlindShare * magnitude)) collector.AddBlind();
                 const StoreRounding rounding = bound.TableRounding();
                 const double excess =
                     std::max(RoundingIntervalExcess(table.cos.dtype(), rounding, cos, want_cos),
                              RoundingIntervalExcess(table.sin.dtype(), rounding, sin, want_sin));
                 collector.Add(token, Use(std::max(0.0, excess - truth.radius), limit), at, [&] {
                   return EntryWitness(layout, pair, OnAxis(axes, positions, token, pair), cos, sin,
                                       want_cos, want_sin);
                 });
               });
  return collector.Take();
}

Finding HoldToBudget(const TablePair& table, const Rotary& layout, Positions positions,
                     const TruthTable& truth, double magnitude, double budget, const Axes& axes) {
  const std::vector<double> farthest = axes.Farthest(positions);
  UseCollector collector(farthest);
  const double spacing = Ulp(FormatOf(table.cos.dtype()), magnitude);
  ForEachEntry(table, layout, farthest.size(), truth,
               [&](size_t token, int64_t pair, size_t at, double cos, DoubleDouble want_cos,
                   double sin, DoubleDouble want_sin) {
                 const double error = std::hypot((cos - want_cos.high) - want_cos.low,
                                                 (sin - want_sin.high) - want_sin.low);
                 collector.Add(token, error / (budget * spacing), at, [&] {
                   return EntryWitness(layout, pair, OnAxis(axes, positions, token, pair), cos, sin,
                                       want_cos, want_sin);
                 });
               });
  return collector.Take();
}

Finding HoldToBound(const Subject::FrequencyOutput& output, const EnclosedValues& frequencies,
                    const EnclosedValues& magnitude, const RotaryBound& bound) {
  // Frequencies belong to no position; they are collected as if at position 0.
  const std::vector<double> nowhere(1, 0.0);
  UseCollector collector(nowhere);
  const auto add = [&](uint64_t place, std::string name, DoubleDouble got, DoubleDouble want,
                       double radius, double limit) {
    const double error = Magnitude(got - want);
    const double allowed = std::fabs(want.high) * limit;
    const double measured = std::max(0.0, error - std::fabs(want.high) * radius);
    collector.Add(0, !std::isfinite(got.high) ? HUGE_VAL : Use(measured, allowed), place, [&] {
      return Witness{.where = name,
                     .got = HexAndDecimal(got.high),
                     .want = HexAndDecimal(want.high),
                     .positioned = false};
    });
  };
  if (output.high.size() != frequencies.values.size()) {
    throw KernelFailure(fmt::format("{} frequencies came out, the scheme has {} pairs",
                                    output.high.size(), frequencies.values.size()));
  }
  for (size_t i = 0; i < frequencies.values.size(); ++i) {
    add(i, fmt::format("frequency of pair {}", i), {output.high[i], output.low[i]},
        frequencies.values[i], frequencies.radius,
        bound.Frequency(static_cast<int64_t>(i)) +
            output.export_roundoff * (1 + bound.Frequency(static_cast<int64_t>(i))));
  }
  const double one_rounding = 0x1p-53;  // the magnitude travels as one binary64 number
  add(frequencies.values.size(), "magnitude", {output.magnitude, 0}, magnitude.values[0],
      magnitude.radius, std::max(one_rounding, 2 * (output.high.empty() ? 0 : bound.Frequency(0))));
  return collector.Take();
}

}  // namespace posgauge
