#include "posgauge/properties/law_bounds.h"

#include <cmath>

namespace posgauge {

namespace {

// The kernel's frequencies may be larger than the real ones by their error, and by another rounding
// where the angle's arithmetic does not hold them; angles with them.
std::vector<double> LargestFrequencies(const Subject& subject) {
  std::vector<double> frequencies = subject.frequencies();
  for (size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] *= (1 + subject.bound().Frequency(static_cast<int64_t>(i))) *
                      (1 + UnitRoundoff(subject.bound().contract().angle));
  }
  return frequencies;
}

RotaryBound Rebound(const Subject& subject, const Contract& contract, double magnitude,
                    GivenStages given) {
  return RotaryBound(contract, subject.scheme(), LargestFrequencies(subject), magnitude, given);
}

Contract WithExactAngle(const Subject& subject) {
  Contract contract = subject.bound().contract();
  contract.position = contract.angle = Arithmetic::exact;
  return contract;
}

}  // namespace

// Given in the angle's arithmetic: what it rounds them to is the same at every position.
RotaryBound FixedFrequencyBound(const Subject& subject) {
  const Contract& contract = subject.bound().contract();
  return Rebound(subject, contract, subject.magnitude(), {.frequency = contract.angle});
}

RotaryBound FixedAngleBound(const Subject& subject) {
  return Rebound(subject, WithExactAngle(subject), subject.magnitude(),
                 {.frequency = Arithmetic::exact});
}

// The kernel's own entries have a norm up to a (1 + tau), tau the error of the sines, magnitude and
// table at any angle (position 0 has no angle error). Where the rotation's arithmetic rounds them
// they are the rounded ones, given in that arithmetic.
RotaryBound FixedTableBound(const Subject& subject) {
  const Contract contract = WithExactAngle(subject);
  const double tau = subject.layout().Pairs() > 0 ? FixedAngleBound(subject).Table(0, 0) : 0;
  return Rebound(subject, contract, subject.magnitude() * (1 + tau), {.table = contract.rotate});
}

double PairBound(const RotaryBound& bound, double position, int64_t pair, double r) {
  return std::isinf(bound.Angle(position, pair)) ? HUGE_VAL : bound.Pair(position, pair, r);
}

double EntryBound(const RotaryBound& bound, double position, int64_t pair) {
  return std::isinf(bound.Angle(position, pair)) ? HUGE_VAL
                                                 : bound.magnitude() * bound.Table(position, pair);
}

DoubleDouble MagnitudeOf(const Subject& subject) {
  if (subject.exact().IsPure()) return {1, 0};
  return subject.exact().EncloseMagnitude().values[0];
}

}  // namespace posgauge
