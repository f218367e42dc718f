#include "posgauge/properties/sinusoidal.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/waves.h"
#include "posgauge/verify/double_double.h"
#include "posgauge/verify/frequency_error.h"

namespace posgauge::sinusoidal {

namespace {

std::vector<double> Sum(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sum;
  for (size_t i = 0; i < a.size(); ++i) sum.push_back(a[i] + b[i]);
  return sum;
}

// Positions from row indices: index 0 is where every angle is 0.
std::vector<double> At(const Subject& subject, const std::vector<double>& indices) {
  const double start = subject.addition().exact().RowIndex(0);
  std::vector<double> positions;
  for (double index : indices) positions.push_back(index - start);
  return positions;
}

std::vector<double> IndicesOf(const Subject& subject, const std::vector<double>& positions) {
  std::vector<double> indices;
  for (double position : positions) {
    indices.push_back(subject.addition().exact().RowIndex(position));
  }
  return indices;
}

// v(p + D) = R(D w) v(p) for v = (cos, sin), with R exact: v(p) is off by B(p), which R keeps, and
// v(p + D) by B(p + D).
Verdict CheckShift(const Subject& subject, const LawCase& c) {
  const std::vector<double> shifted = Sum(c.positions, c.shifts);
  const Tensor before = RowsOf(subject, c.positions), after = RowsOf(subject, shifted);
  const ExactRotation& waves = subject.addition().exact().waves();
  const EnclosedTable turn = waves.EncloseTable(c.shifts);
  const AdditionBound& bound = subject.addition().bound();
  const size_t count = subject.addition().frequencies().size();
  Comparisons comparisons;
  ForEachWave(subject, c.positions, [&](const WavePlace& place) {
    const double from = c.positions[place.row], to = shifted[place.row];
    if (subject.addition().exact().ChannelAt(to, 0).function == Wave::zero) return;
    const size_t entry = place.row * count + static_cast<size_t>(place.wave);
    const DoubleDouble cos = turn.cos[entry], sin = turn.sin[entry];
    const PairValue v = posgauge::At(before, place), got = posgauge::At(after, place);
    const DoubleDouble want_u = cos * v.u - sin * v.v, want_v = sin * v.u + cos * v.v;
    const double error =
        std::hypot((DoubleDouble{got.u, 0} - want_u).high, (DoubleDouble{got.v, 0} - want_v).high);
    comparisons.Add(from, error,
                    WaveBound(subject, bound, from, place.wave) +
                        WaveBound(subject, bound, to, place.wave) + 4 * turn.radius +
                        8 * kMeasuringError,
                    1, [&] {
                      Witness witness = WitnessAt(subject, place, got, {want_u.high, want_v.high});
                      witness.where += fmt::format(", moved by {}", c.shifts[place.row]);
                      return witness;
                    });
  });
  return comparisons.Take();
}

// <v(p), v(q)> = cos((p - q) w) for any w: off by B(p) + B(q) + B(p) B(q), on both sides.
Verdict CheckDotProduct(const Subject& subject, const LawCase& c) {
  const std::vector<double> p_shifted = Sum(c.positions, c.shifts);
  const std::vector<double> q_shifted = Sum(c.others, c.shifts);
  const Tensor p = RowsOf(subject, c.positions), q = RowsOf(subject, c.others);
  const Tensor p_moved = RowsOf(subject, p_shifted), q_moved = RowsOf(subject, q_shifted);
  const AdditionBound bound = AnyFrequencyBound(subject);
  const ExactAddition& exact = subject.addition().exact();
  Comparisons comparisons;
  ForEachWave(subject, c.positions, [&](const WavePlace& place) {
    const size_t row = place.row;
    for (double position : {c.others[row], p_shifted[row], q_shifted[row]}) {
      if (exact.ChannelAt(position, 0).function == Wave::zero) return;
    }
    const auto allowed = [&](double left, double right) {
      const double b_left = WaveBound(subject, bound, left, place.wave);
      const double b_right = WaveBound(subject, bound, right, place.wave);
      return b_left + b_right + b_left * b_right;
    };
    const DoubleDouble before = Dot(posgauge::At(p, place), posgauge::At(q, place));
    const DoubleDouble after = Dot(posgauge::At(p_moved, place), posgauge::At(q_moved, place));
    comparisons.Add(c.positions[row], std::fabs((after - before).high),
                    allowed(c.positions[row], c.others[row]) +
                        allowed(p_shifted[row], q_shifted[row]) + 8 * kMeasuringError,
                    1, [&] {
                      Witness witness = WitnessAt(subject, place, {}, {});
                      witness.where += fmt::format(", against {}, both moved by {}", c.others[row],
                                                   c.shifts[row]);
                      witness.got = fmt::format("{:.17g}", after.high);
                      witness.want = fmt::format("{:.17g}", before.high);
                      return witness;
                    });
  });
  return comparisons.Take();
}

// |v|^2 = 1 whatever the angle: |v| is within B of 1, so its square within 2 B + B^2.
Verdict CheckNorm(const Subject& subject, const LawCase& c) {
  const Tensor rows = RowsOf(subject, c.positions);
  const AdditionBound bound = AnyAngleBound(subject), &own = subject.addition().bound();
  Comparisons comparisons;
  ForEachWave(subject, c.positions, [&](const WavePlace& place) {
    const double position = c.positions[place.row];
    const PairValue v = posgauge::At(rows, place);
    const double b = std::isinf(own.Angle(position, place.wave))
                         ? HUGE_VAL
                         : WaveBound(subject, bound, position, place.wave);
    const double error = std::fabs((Dot(v, v) - DoubleDouble{1, 0}).high);
    comparisons.Add(position, error, 2 * b + b * b + 8 * kMeasuringError, 1, [&] {
      Witness witness = WitnessAt(subject, place, v, {});
      witness.want = "a point on the unit circle";
      return witness;
    });
  });
  return comparisons.Take();
}

// v(-n) is the conjugate of v(n), n the row index, for any frequencies.
Verdict CheckParity(const Subject& subject, const LawCase& c) {
  std::vector<double> negated = IndicesOf(subject, c.positions);
  for (double& index : negated) index = -index;
  const std::vector<double> mirror = At(subject, negated);
  const Tensor rows = RowsOf(subject, c.positions), mirrored = RowsOf(subject, mirror);
  const AdditionBound bound = AnyFrequencyBound(subject);
  Comparisons comparisons;
  ForEachWave(subject, c.positions, [&](const WavePlace& place) {
    const double there = mirror[place.row], here = c.positions[place.row];
    if (subject.addition().exact().ChannelAt(there, 0).function == Wave::zero) return;
    const PairValue v = posgauge::At(rows, place), got = posgauge::At(mirrored, place);
    const PairValue want{v.u, -v.v};
    comparisons.Add(
        there, Distance(got, {1, 0}, want),
        WaveBound(subject, bound, here, place.wave) + WaveBound(subject, bound, there, place.wave),
        1, [&] { return WitnessAt(subject, place, got, want); });
  });
  return comparisons.Take();
}

// v(2n) = v(n)^2 as complex numbers, n the row index: v(n) is off by B(n), its square by
// 2 B(n) + B(n)^2, v(2n) by B(2n).
Verdict CheckDoubleAngle(const Subject& subject, const LawCase& c) {
  std::vector<double> halves = IndicesOf(subject, c.positions), wholes;
  for (double& index : halves) {
    index = std::trunc(index / 2);
    wholes.push_back(2 * index);
  }
  const std::vector<double> once = At(subject, halves), twice = At(subject, wholes);
  const Tensor single = RowsOf(subject, once), doubled = RowsOf(subject, twice);
  const AdditionBound bound = AnyFrequencyBound(subject);
  Comparisons comparisons;
  ForEachWave(subject, once, [&](const WavePlace& place) {
    if (subject.addition().exact().ChannelAt(twice[place.row], 0).function == Wave::zero) return;
    const PairValue v = posgauge::At(single, place), got = posgauge::At(doubled, place);
    const DoubleDouble want_u = DoubleDouble{v.u, 0} * v.u - DoubleDouble{v.v, 0} * v.v;
    const DoubleDouble want_v = DoubleDouble{2 * v.u, 0} * v.v;
    const double error =
        std::hypot((DoubleDouble{got.u, 0} - want_u).high, (DoubleDouble{got.v, 0} - want_v).high);
    const double b = WaveBound(subject, bound, once[place.row], place.wave);
    comparisons.Add(twice[place.row], error,
                    2 * b + b * b + WaveBound(subject, bound, twice[place.row], place.wave) +
                        8 * kMeasuringError,
                    1, [&] {
                      return WitnessAt(subject, place, got, {want_u.high, want_v.high});
                    });
  });
  return comparisons.Take();
}

// Channels and rows that are zero by definition are zero in every arithmetic.
Verdict CheckZeros(const Subject& subject, const LawCase& c) {
  const Params& params = std::get<Params>(subject.scheme());
  std::vector<double> positions = c.positions;
  if (params.padding_index) {
    positions.front() = At(subject, {static_cast<double>(*params.padding_index)}).front();
  }
  const Tensor rows = RowsOf(subject, positions);
  const auto width = static_cast<size_t>(params.width);
  Comparisons comparisons;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double position = positions[i / width];
    const auto channel = static_cast<int64_t>(i % width);
    const ExactAddition& exact = subject.addition().exact();
    if (exact.ChannelAt(position, channel).function != Wave::zero) continue;
    comparisons.AddExact(position, rows.Value(i) == 0, [&] {
      return Witness{.where = fmt::format("channel {} (zero)", channel),
                     .got = fmt::format("{}", rows.Value(i)),
                     .want = "0"};
    });
  }
  return comparisons.Take();
}

// w_k w_(k+2) = w_(k+1)^2 and w_0 = scale. Each w is off by its bound e, relatively, so the
// quotient of the two sides by (1 + e_k)(1 + e_(k+2))/(1 - e_(k+1))^2 - 1.
Verdict CheckGeometricSeries(const Subject& subject, const LawCase&) {
  const Subject::FrequencyOutput output = subject.Frequencies();
  const RotaryBound& bound = subject.addition().bound().waves();
  const auto error = [&](size_t k) {
    return Together(bound.Frequency(static_cast<int64_t>(k)), output.export_roundoff);
  };
  const auto frequency = [&](size_t k) { return DoubleDouble{output.high[k], output.low[k]}; };
  Comparisons comparisons;
  const auto compare = [&](size_t k, DoubleDouble got, DoubleDouble want, double allowed) {
    const double difference = std::fabs((got - want).high / want.high);
    comparisons.Add(0, difference, allowed + 8 * kMeasuringError, 1, [&] {
      return Witness{.where = fmt::format("frequency of wave {}", k),
                     .got = fmt::format("{:.17g}", got.high),
                     .want = fmt::format("{:.17g}", want.high)};
    });
  };
  const double scale = std::get<Params>(subject.scheme()).scale;
  compare(0, frequency(0), {scale, 0}, error(0));
  for (size_t k = 0; k + 2 < output.high.size(); ++k) {
    const double middle = error(k + 1), outer = Together(error(k), error(k + 2));
    compare(k + 1, frequency(k) * frequency(k + 2), frequency(k + 1) * frequency(k + 1),
            (outer + middle * (2 - middle)) / ((1 - middle) * (1 - middle)) * (1 + 0x1p-40));
  }
  return comparisons.Take();
}

constexpr std::string_view kQuantities = "table embed";

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"shift", "the row at p + D is the row at p, each wave turned by D times its frequency",
       kQuantities, false, CheckShift},
      {"dot_product", "the product of two rows depends on the distance of their positions alone",
       kQuantities, false, CheckDotProduct},
      {"norm", "cos^2 + sin^2 = 1 for every wave", kQuantities, false, CheckNorm},
      {"parity", "cosines are even and sines are odd around row 0", kQuantities, false,
       CheckParity},
      {"geometric_series", "the first frequency is the scale, and all ratios are one",
       "frequencies", true, CheckGeometricSeries},
      {"double_angle", "row 2n is the square of row n, each wave a complex number", kQuantities,
       false, CheckDoubleAngle},
  };
  if (params.padding_index || params.ChannelAt(params.width - 1).function == Wave::zero) {
    laws.push_back({"zeros",
                    "the row of the padding index and the last channel of an odd width "
                    "are zero",
                    kQuantities, false, CheckZeros});
  }
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](int64_t waves, bool odd, int64_t layout, int64_t denominator, double base,
                       double scale, int64_t start, int64_t padding) {
    Params params{.width = 2 * waves + (odd ? 1 : 0),
                  .layout = static_cast<Layout>(layout),
                  .base = base,
                  .scale = scale,
                  .start = start};
    if (denominator > 0 && waves > 1) params.frequency_shift = denominator - 1;
    if (padding > 0) params.padding_index = padding - 1;
    if (odd) {
      // Deployed conventions: a sine more without a shift, a zero with one.
      params.odd_width = params.frequency_shift ? OddWidth::zero : OddWidth::extra_sine;
      if (params.frequency_shift && params.layout == Layout::interleaved) {
        params.layout = Layout::halves;
      }
      if (!params.frequency_shift && params.layout == Layout::flipped) {
        params.layout = Layout::halves;
      }
    }
    return params;
  };
  const auto one_of = [](auto values) {
    return rc::gen::map(rc::gen::inRange<size_t>(0, values.size()),
                        [values](size_t index) { return values[index]; });
  };
  return rc::gen::apply(make, one_of(std::vector<int64_t>{2, 1, 4, 3, 8, 16, 33, 64, 128}),
                        one_of(std::vector<bool>{false, false, true}),
                        rc::gen::inRange<int64_t>(0, 3), rc::gen::inRange<int64_t>(0, 3),
                        one_of(std::vector<double>{10000, 100, 1, 1.5, 12345.678, 1e7}),
                        one_of(std::vector<double>{1, 1, 2, 0.25, 1000, 0.3}),
                        one_of(std::vector<int64_t>{0, 0, 1, 2, -5, 1000}),
                        one_of(std::vector<int64_t>{0, 0, 1, 2}));
}

}  // namespace posgauge::sinusoidal
