#include "posgauge/properties/law_bounds.h"

#include <cmath>

namespace posgauge {

namespace {

// The kernel's frequencies may be larger than the real ones by their error, and angles with them.
std::vector<double> LargestFrequencies(const Subject& subject) {
  std::vector<double> frequencies = subject.frequencies();
  for (size_t i = 0; i < frequencies.size(); ++i) {
    frequencies[i] *= 1 + subject.bound().Frequency(static_cast<int64_t>(i));
  }
  return frequencies;
}

RotaryBound Rebound(const Subject& subject, const Contract& contract, double magnitude,
                    GivenStages given = {}) {
  return RotaryBound(contract, subject.scheme(), LargestFrequencies(subject), magnitude, given);
}

Contract WithExactFrequency(const Subject& subject) {
  Contract contract = subject.bound().contract();
  contract.frequency = Arithmetic::exact;
  contract.frequency_formula = FrequencyFormula::rn;
  return contract;
}

Contract WithExactAngle(const Subject& subject) {
  Contract contract = WithExactFrequency(subject);
  contract.position = contract.angle = Arithmetic::exact;
  return contract;
}

}  // namespace

RotaryBound FixedFrequencyBound(const Subject& subject) {
  return Rebound(subject, WithExactFrequency(subject), subject.magnitude());
}

RotaryBound FixedAngleBound(const Subject& subject) {
  return Rebound(subject, WithExactAngle(subject), subject.magnitude());
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
