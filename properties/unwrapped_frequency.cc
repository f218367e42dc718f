#include "posgauge/properties/unwrapped_frequency.h"

#include <algorithm>
#include <numbers>
#include <set>

#include "posgauge/properties/law_bounds.h"
#include "posgauge/properties/pairs.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/random.h"

namespace posgauge {

namespace {

constexpr double kPi = std::numbers::pi;

// Beyond this the first angle could be mistaken for its other turn; 3 leaves 0.14 rad of error.
constexpr double kFastest = 3;

// Vectors tried at every position: their roundings differ, so their intervals intersect to less.
constexpr int64_t kHeads = 4;

std::vector<double> LadderOfPositions(const Subject& subject, double largest) {
  std::set<double> positions;
  for (double power = 1; power <= largest; power *= 2) {
    for (double near : {-1.0, 0.0, 1.0}) {
      if (power + near >= 1 && power + near <= largest) positions.insert(power + near);
    }
  }
  std::vector<double> served =
      ServedPositions(subject.info(), {positions.begin(), positions.end()});
  if (served.empty()) throw Unsupported("no position to see a frequency at");
  return served;
}

// An angle as an output shows it, modulo 2 pi, with the error against the kernel's own angle.
struct Angle {
  size_t position;
  int64_t pair;
  double radians, error;
};

// atan2 of two rounded dot products, each within a few 2^-53 of the norms.
constexpr double kAtanError = 0x1p-48;

// Every pair counts the same position, whatever its axis.
std::vector<double> OnEveryAxis(const Subject& subject, const std::vector<double>& positions) {
  std::vector<double> on_every_axis;
  for (double position : positions) {
    on_every_axis.insert(on_every_axis.end(), static_cast<size_t>(subject.axes().count), position);
  }
  return on_every_axis;
}

std::vector<Angle> AnglesOfTable(const Subject& subject, const std::vector<double>& positions) {
  const TablePair table = subject.Table(OnEveryAxis(subject, positions));
  const RotaryBound bound = FixedAngleBound(subject);
  std::vector<Angle> angles;
  for (size_t at = 0; at < positions.size(); ++at) {
    for (int64_t pair = 0; pair < subject.layout().Pairs(); ++pair) {
      const size_t index =
          at * static_cast<size_t>(subject.layout().Pairs()) + static_cast<size_t>(pair);
      // A vector moved by tau times its length turns by at most asin(tau).
      const double tau = bound.Table(0, pair);
      angles.push_back({at, pair, std::atan2(table.sin.Value(index), table.cos.Value(index)),
                        tau < 1 ? std::asin(tau) + kAtanError : HUGE_VAL});
    }
  }
  return angles;
}

std::vector<Angle> AnglesOfRotation(const Subject& subject, const std::vector<double>& positions) {
  Random random(1, "unwrapped frequency");
  const Rotary& layout = subject.layout();
  Tensor x(subject.io(), {static_cast<int64_t>(positions.size()), kHeads, layout.head_dim});
  for (size_t i = 0; i < x.size(); ++i) {
    // Both components in [1, 2): no pair is small beside its rounding.
    x.Set(i, random.Bits() % 2 == 0 ? 1 + random.Uniform() : -1 - random.Uniform());
  }
  const Tensor out = subject.Rotate(OnEveryAxis(subject, positions), x);
  const RotaryBound bound = FixedAngleBound(subject);
  const double turn = subject.info().quantity == "rotate_backward" ? -1 : 1;
  std::vector<Angle> angles;
  ForEachPair(layout, x, [&](const PairPlace& place) {
    const PairValue from = At(x, place), to = At(out, place);
    const double r = Norm(from);
    const double tau = bound.Pair(0, place.pair, r) / (bound.magnitude() * r) * (1 + 0x1p-50);
    const double radians =
        turn * std::atan2(from.u * to.v - from.v * to.u, from.u * to.u + from.v * to.v);
    angles.push_back(
        {place.row, place.pair, radians, tau < 1 ? std::asin(tau) + kAtanError : HUGE_VAL});
  });
  return angles;
}

}  // namespace

UnwrappedFrequencies UnwrapFrequencies(const Subject& subject, double largest) {
  const std::vector<double> positions = LadderOfPositions(subject, largest);
  const std::vector<Angle> angles = subject.info().quantity == "table"
                                        ? AnglesOfTable(subject, positions)
                                        : AnglesOfRotation(subject, positions);
  const RotaryBound bound = FixedFrequencyBound(subject);
  const auto pairs = static_cast<size_t>(subject.layout().Pairs());
  // Before any output: anything up to one half turn a token.
  UnwrappedFrequencies unwrapped{std::vector<FrequencyInterval>(pairs, {0, kPi}), {}};
  std::vector<bool> lost(pairs, false);
  for (size_t i = 0; i < pairs; ++i) {
    lost[i] = !(std::fabs(subject.frequencies()[i]) < kFastest);
    if (lost[i]) unwrapped.frequencies[i] = {0, HUGE_VAL};
  }
  for (const Angle& angle : angles) {
    const auto i = static_cast<size_t>(angle.pair);
    if (lost[i]) continue;
    FrequencyInterval& known = unwrapped.frequencies[i];
    const double position = positions[angle.position];
    const double predicted = position * known.middle;
    // The kernel's angle against position * its frequency, and the double arithmetic here.
    const double error =
        angle.error + bound.Angle(position, angle.pair) + 0x1p-50 * std::fabs(predicted);
    const double uncertain = position * known.radius + error;
    // At position 1 every angle is possible; later a guess that spans half a turn is none.
    if (!(uncertain < kPi) && position > 1) continue;
    const double difference = std::remainder(angle.radians - predicted, 2 * kPi);
    // A NaN angle is an error of half a turn: it fails, and every sum below stays a number.
    const double off = std::isnan(difference) ? kPi : std::fabs(difference);
    unwrapped.phases.push_back(
        {position, angle.pair, std::isnan(difference) ? NAN : off, uncertain});
    if (!(off <= uncertain)) continue;
    const double low =
        std::max(known.middle - known.radius, known.middle + (difference - error) / position);
    const double high =
        std::min(known.middle + known.radius, known.middle + (difference + error) / position);
    // Vectors that contradict each other leave no interval: what was known stays, and the next
    // comparison shows it.
    if (low <= high) known = {(low + high) / 2, (high - low) / 2};
  }
  return unwrapped;
}

std::vector<FrequencyInterval> MeasureFrequencies(const Subject& subject, double largest) {
  if (!subject.NotCovered().empty()) throw Unsupported("the kernel is handed its frequencies");
  std::vector<FrequencyInterval> measured;
  // Exported in a dtype that does not hold it a frequency was rounded once more. So it was where it
  // is seen through angles whose arithmetic does not hold it, to the same number at every position.
  double rounding = 0;
  if (subject.info().quantity == "frequencies") {
    const Subject::FrequencyOutput output = subject.Frequencies();
    rounding = output.export_roundoff;
    for (size_t i = 0; i < output.high.size(); ++i) {
      measured.push_back({output.high[i] + output.low[i], 0});
    }
  } else {
    measured = UnwrapFrequencies(subject, largest).frequencies;
    const Contract& contract = subject.bound().contract();
    const double u = UnitRoundoff(contract.angle);
    if (u > 0 && !Holds(contract.angle, contract.frequency)) rounding = u;
  }
  const double sign = subject.layout().direction == Direction::clockwise ? -1 : 1;
  for (size_t i = 0; i < measured.size(); ++i) {
    // The kernel's frequency is f (1 + e): f is within |kernel's| e/(1 - e). One more rounding for
    // the sum of high and low.
    const double formed = subject.bound().Frequency(static_cast<int64_t>(i));
    const double e = formed + rounding * (1 + formed);
    FrequencyInterval& interval = measured[i];
    const double size = std::fabs(interval.middle) + interval.radius;
    interval.middle *= sign;
    interval.radius += e < 1 ? size * (e / (1 - e) + 0x1p-52) : HUGE_VAL;
  }
  return measured;
}

double LargestPosition(const LawCase& law_case) {
  double largest = 0;
  for (const auto* positions : {&law_case.positions, &law_case.others}) {
    for (double position : *positions) largest = std::max(largest, std::fabs(position));
  }
  return largest;
}

}  // namespace posgauge
