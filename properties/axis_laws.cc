#include "posgauge/properties/axis_laws.h"

#include <algorithm>
#include <map>

#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/law_bounds.h"
#include "posgauge/properties/pairs.h"
#include "posgauge/verify/judge.h"

namespace posgauge {

namespace {

// What a kernel answers for one pair, and what its bound allows there.
struct Answered {
  double position;
  PairValue value;
  bool same_bits;  // as the answer before
  double allowed, norm;
};

// Two answers for a pair: the same bits where the kernel promises them, else each within the
// contract of the same rotation, so within twice its bound of each other.
template <class Describe>
void AddPair(Comparisons& comparisons, const Subject& subject, const Answered& after,
             PairValue before, Describe describe) {
  if (subject.info().Declares("axes")) {
    comparisons.AddExact(after.position, after.same_bits, describe);
  } else {
    comparisons.Add(after.position, Distance(after.value, {1, 0}, before), 2 * after.allowed,
                    after.norm, describe);
  }
}

bool SameBits(const Tensor& a, const Tensor& b, size_t index) {
  return a.Bits(index) == b.Bits(index);
}

Verdict CheckAxesApart(const Subject& subject, const LawCase& c) {
  const RotaryBound bound = FixedFrequencyBound(subject);
  const Axes& axes = subject.axes();
  const auto pairs = static_cast<size_t>(subject.layout().Pairs());
  Comparisons comparisons;
  for (int64_t axis = 0; axis < axes.count; ++axis) {
    std::vector<double> moved = c.positions;
    for (size_t row = 0; row < axes.Tokens(moved); ++row) {
      const size_t at = row * static_cast<size_t>(axes.count) + static_cast<size_t>(axis);
      moved[at] = c.others[at];
    }
    if (subject.info().quantity == "table") {
      const TablePair before = subject.Table(c.positions), after = subject.Table(moved);
      for (size_t i = 0; i < before.cos.size(); ++i) {
        const auto pair = static_cast<int64_t>(i % pairs);
        if (axes.Of(pair) == axis) continue;
        const PairValue was{before.cos.Value(i), before.sin.Value(i)};
        const PairValue is{after.cos.Value(i), after.sin.Value(i)};
        const double position = PositionOf(subject, c.positions, i / pairs, pair);
        const bool same = SameBits(before.cos, after.cos, i) && SameBits(before.sin, after.sin, i);
        AddPair(comparisons, subject,
                {position, is, same, EntryBound(bound, position, pair), subject.magnitude()}, was,
                [&] {
                  return Witness{
                      .where = fmt::format("{}, moved on axis {}", NameOfPair(subject, pair), axis),
                      .got = fmt::format("cos {:.17g}, sin {:.17g}", is.u, is.v),
                      .want = fmt::format("cos {:.17g}, sin {:.17g}", was.u, was.v)};
                });
      }
      continue;
    }
    const Tensor before = subject.Rotate(c.positions, c.x), after = subject.Rotate(moved, c.x);
    ForEachPair(subject.layout(), c.x, [&](const PairPlace& place) {
      const PairValue in = At(c.x, place);
      if (axes.Of(place.pair) == axis || !IsFinite(in)) return;
      const double position = PositionOf(subject, c.positions, place);
      const bool same =
          SameBits(before, after, place.first) && SameBits(before, after, place.second);
      AddPair(comparisons, subject,
              {position, At(after, place), same, PairBound(bound, position, place.pair, Norm(in)),
               subject.magnitude() * Norm(in)},
              At(before, place), [&] {
                Witness witness = WitnessAt(subject, place, At(after, place), At(before, place));
                witness.where += fmt::format(", moved on axis {}", axis);
                return witness;
              });
    });
  }
  return comparisons.Take();
}

}  // namespace

LawCase OnEqualAxes(const Subject& subject, const LawCase& law_case) {
  LawCase equal = law_case;
  const auto count = static_cast<size_t>(subject.axes().count);
  for (size_t at = 0; at < equal.positions.size(); ++at) {
    equal.positions[at] = law_case.positions[at / count * count];
  }
  return equal;
}

Verdict HoldPairsAlone(const Subject& subject, const LawCase& c,
                       const std::function<PairAlone(int64_t)>& alone) {
  const Rotary& layout = subject.layout();
  const auto pairs = static_cast<size_t>(layout.Pairs());
  const size_t rows = subject.axes().Tokens(c.positions);
  TruthTable truth;
  truth.cos.resize(rows * pairs);
  truth.sin.resize(rows * pairs);
  // The tables of the rotations named, each at the positions of one axis.
  std::map<std::pair<std::string, int64_t>, TruthTable> tables;
  for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
    const PairAlone by_itself = alone(pair);
    const int64_t axis = subject.axes().Of(pair);
    const auto [known, is_new] = tables.try_emplace({Text(by_itself.scheme), axis});
    if (is_new) {
      std::vector<double> on_axis;
      for (size_t row = 0; row < rows; ++row) {
        on_axis.push_back(PositionOf(subject, c.positions, row, pair));
      }
      known->second = TruthOf(ExactRotation(by_itself.scheme), on_axis);
      truth.radius = std::max(truth.radius, known->second.radius);
    }
    const auto width = static_cast<size_t>(RotaryOf(by_itself.scheme).Pairs());
    for (size_t row = 0; row < rows; ++row) {
      const size_t to = row * pairs + static_cast<size_t>(pair);
      const size_t from = row * width + static_cast<size_t>(by_itself.pair);
      truth.cos[to] = known->second.cos[from];
      truth.sin[to] = known->second.sin[from];
    }
  }
  if (subject.info().quantity == "table") {
    return ToVerdict({}, {}, {},
                     HoldToBound(subject.Table(c.positions), layout, c.positions, truth,
                                 subject.bound(), subject.magnitude(), subject.axes()));
  }
  const Tensor out = subject.Rotate(c.positions, c.x);
  const bool backward = subject.info().quantity == "rotate_backward";
  return ToVerdict({}, {}, {},
                   HoldToBound(Rotated{layout, c.positions, c.x, out, backward, {}, subject.axes()},
                               truth, subject.bound()));
}

std::vector<Law> AxisLaws() {
  return {{"axes_apart", "moving a position on one axis moves no pair that counts another",
           "rotate rotate_backward table", false, CheckAxesApart}};
}

}  // namespace posgauge
