#include "posgauge/properties/table_laws.h"

#include <algorithm>
#include <iterator>

#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/law_bounds.h"
#include "posgauge/properties/pairs.h"
#include "posgauge/verify/hex_float.h"
#include "posgauge/verify/judge.h"

namespace posgauge {

namespace {

// Calls visit(row, pair, index) for every entry of a table over these positions.
template <class Visit>
void ForEachEntry(const Subject& subject, const std::vector<double>& positions, Visit visit) {
  size_t index = 0;
  for (size_t row = 0; row < subject.axes().Tokens(positions); ++row) {
    for (int64_t pair = 0; pair < subject.layout().Pairs(); ++pair) visit(row, pair, index++);
  }
}

PairValue At(const TablePair& table, size_t index) {
  return {table.cos.Value(index), table.sin.Value(index)};
}

Witness EntryWitness(const Subject& subject, int64_t pair, PairValue got, std::string want) {
  return {.where = NameOfPair(subject, pair),
          .got = fmt::format("cos {:.9g} ({}), sin {:.9g} ({})", got.u, HexFloat(got.u), got.v,
                             HexFloat(got.v)),
          .want = std::move(want)};
}

std::string Text(PairValue value) {
  return fmt::format("cos {:.9g}, sin {:.9g}", value.u, value.v);
}

// | |T| - a | <= |T - a e^(i angle)| at the table's own angle, so the angle's error does not count.
Verdict CheckNorm(const Subject& subject, const LawCase& c) {
  const TablePair table = subject.Table(c.positions);
  const RotaryBound bound = FixedAngleBound(subject);
  const DoubleDouble a = MagnitudeOf(subject);
  Comparisons comparisons;
  ForEachEntry(subject, c.positions, [&](size_t row, int64_t pair, size_t index) {
    const double position = PositionOf(subject, c.positions, row, pair);
    const PairValue entry = At(table, index);
    const DoubleDouble squares = Dot(entry, entry) - a * a;
    const double error = std::fabs(squares.high) / (std::hypot(entry.u, entry.v) + a.high) -
                         8 * kMeasuringError * a.high;
    const bool lost = std::isinf(subject.bound().Angle(position, pair));
    comparisons.Add(
        position, error > 0 || std::isnan(error) ? error : 0,
        lost ? HUGE_VAL : EntryBound(bound, 0, pair), a.high,
        [&] { return EntryWitness(subject, pair, entry, fmt::format("norm {:.17g}", a.high)); });
  });
  return comparisons.Take();
}

// cos 0 = 1 and sin 0 = 0 in every arithmetic; a magnitude other than 1 is rounded.
Verdict CheckPositionZero(const Subject& subject, const LawCase&) {
  const std::vector<double> zero(static_cast<size_t>(subject.axes().count), 0.0);
  const TablePair table = subject.Table(zero);
  const RotaryBound bound = FixedAngleBound(subject);
  const DoubleDouble a = MagnitudeOf(subject);
  Comparisons comparisons;
  ForEachEntry(subject, zero, [&](size_t, int64_t pair, size_t index) {
    const PairValue entry = At(table, index);
    const auto describe = [&] { return EntryWitness(subject, pair, entry, Text({a.high, 0})); };
    if (subject.exact().IsPure()) {
      comparisons.AddExact(0, entry.u == 1 && entry.v == 0, describe);
      return;
    }
    const double cos = RoundingIntervalExcess(table.cos.dtype(), StoreRounding::rne, entry.u, a);
    comparisons.AddExact(0, entry.v == 0, describe);
    comparisons.Add(0, cos, bound.TableExcess(0, pair), a.high, describe);
  });
  return comparisons.Take();
}

PairValue Product(PairValue x, PairValue y, DoubleDouble* u_rest) {
  const DoubleDouble u = DoubleDouble{x.u, 0} * y.u - DoubleDouble{x.v, 0} * y.v;
  const DoubleDouble v = DoubleDouble{x.u, 0} * y.v + DoubleDouble{x.v, 0} * y.u;
  u_rest[0] = u;
  u_rest[1] = v;
  return {u.high, v.high};
}

// T(p) T(t) = a T(p + t) for any frequencies. Entries are off by B, so the product by
// a B(p) + a B(t) + B(p) B(t), the right side by a B(p + t).
Verdict CheckAddition(const Subject& subject, const LawCase& c) {
  std::vector<double> sums;
  for (size_t i = 0; i < c.positions.size(); ++i) sums.push_back(c.positions[i] + c.others[i]);
  const TablePair first = subject.Table(c.positions), second = subject.Table(c.others);
  const TablePair both = subject.Table(sums);
  const RotaryBound bound = FixedFrequencyBound(subject);
  const DoubleDouble a = MagnitudeOf(subject);
  Comparisons comparisons;
  ForEachEntry(subject, c.positions, [&](size_t row, int64_t pair, size_t index) {
    DoubleDouble product[2];
    const PairValue got = Product(At(first, index), At(second, index), product);
    const PairValue sum = At(both, index);
    const double error =
        std::hypot((product[0] - a * sum.u).high, (product[1] - a * sum.v).high) * (1 - 0x1p-50);
    const double b_first = EntryBound(bound, PositionOf(subject, c.positions, row, pair), pair);
    const double b_second = EntryBound(bound, PositionOf(subject, c.others, row, pair), pair);
    comparisons.Add(PositionOf(subject, c.positions, row, pair), error,
                    a.high * (b_first + b_second +
                              EntryBound(bound, PositionOf(subject, sums, row, pair), pair)) +
                        b_first * b_second + 8 * kMeasuringError * a.high * a.high,
                    a.high * a.high, [&] {
                      Witness witness =
                          EntryWitness(subject, pair, got, Text({a.high * sum.u, a.high * sum.v}));
                      witness.where += fmt::format(", rows {} and {} against row {}",
                                                   PositionOf(subject, c.positions, row, pair),
                                                   PositionOf(subject, c.others, row, pair),
                                                   PositionOf(subject, sums, row, pair));
                      return witness;
                    });
  });
  return comparisons.Take();
}

// cos is even and sin odd: T(-p) is the conjugate of T(p), each off by B.
Verdict CheckParity(const Subject& subject, const LawCase& c) {
  std::vector<double> back;
  for (double position : c.positions) back.push_back(-position);
  const TablePair table = subject.Table(c.positions), mirrored = subject.Table(back);
  const RotaryBound bound = FixedFrequencyBound(subject);
  Comparisons comparisons;
  ForEachEntry(subject, c.positions, [&](size_t row, int64_t pair, size_t index) {
    const PairValue entry = At(table, index), got = At(mirrored, index);
    const PairValue want{entry.u, -entry.v};
    comparisons.Add(-PositionOf(subject, c.positions, row, pair), Distance(got, {1, 0}, want),
                    EntryBound(bound, PositionOf(subject, c.positions, row, pair), pair) +
                        EntryBound(bound, -PositionOf(subject, c.positions, row, pair), pair),
                    subject.magnitude(),
                    [&] { return EntryWitness(subject, pair, got, Text(want)); });
  });
  return comparisons.Take();
}

// A row alone, after and before others.
Verdict CheckRows(const Subject& subject, const LawCase& c) {
  const size_t rows = subject.axes().Tokens(c.positions);
  std::vector<double> reversed;
  for (size_t row = rows; row-- > 0;) {
    std::ranges::copy(subject.axes().Row(c.positions, row), std::back_inserter(reversed));
  }
  const TablePair table = subject.Table(c.positions), again = subject.Table(reversed);
  const RotaryBound bound = FixedFrequencyBound(subject);
  const bool same_bits = subject.info().Declares("chunking");
  const auto pairs = static_cast<size_t>(subject.layout().Pairs());
  Comparisons comparisons;
  ForEachEntry(subject, c.positions, [&](size_t row, int64_t pair, size_t index) {
    const size_t mirrored = (rows - 1 - row) * pairs + static_cast<size_t>(pair);
    const PairValue want = At(table, index), got = At(again, mirrored);
    const auto describe = [&] { return EntryWitness(subject, pair, got, Text(want)); };
    if (same_bits) {
      comparisons.AddExact(PositionOf(subject, c.positions, row, pair),
                           table.cos.Bits(index) == again.cos.Bits(mirrored) &&
                               table.sin.Bits(index) == again.sin.Bits(mirrored),
                           describe);
      return;
    }
    comparisons.Add(PositionOf(subject, c.positions, row, pair), Distance(got, {1, 0}, want),
                    2 * EntryBound(bound, PositionOf(subject, c.positions, row, pair), pair),
                    subject.magnitude(), describe);
  });
  return comparisons.Take();
}

}  // namespace

std::vector<Law> TableLaws() {
  return {
      {"table_norm", "cos^2 + sin^2 = a^2 in every entry", "table", false, CheckNorm},
      {"table_position_zero", "row 0 is cos = a, sin = 0", "table", true, CheckPositionZero},
      {"table_addition", "T(p) T(t) = a T(p + t) for T = cos + i sin", "table", false,
       CheckAddition},
      {"table_parity", "cos is even and sin is odd in the position", "table", false, CheckParity},
      {"table_rows", "a row depends on its own position alone", "table", false, CheckRows},
  };
}

}  // namespace posgauge
