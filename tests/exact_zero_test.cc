// Numbers that are exactly zero, or exactly halfway, where enclosures alone never decide.
#include <cmath>

#include <gtest/gtest.h>

#include "posgauge/reference/exact_rotation.h"

namespace posgauge {
namespace {

Scheme OnePair(std::vector<std::string> settings = {}, std::string_view scheme = "rope") {
  settings.insert(settings.begin(), "head_dim=2");
  return ParseScheme(scheme, settings);
}

// An irrational magnitude, 0.1 ln 40 + 1.
Scheme Scaled() { return OnePair({"factor=40"}, "yarn"); }

void ExpectExactZero(const RoundedValues& values, size_t i, bool negative) {
  EXPECT_EQ(values.values[i], 0);
  EXPECT_EQ(std::signbit(values.values[i]), negative);
  EXPECT_EQ(values.proofs[i], Proof::exact);
}

TEST(exact_zero, ZeroPairTurnsToPositiveZero) {
  // 1 and 2311 have sines of both signs.
  const std::vector<double> positions = {1, 2311};
  const std::vector<double> x = {-0.0, -0.0, 0.0, 0.0};
  for (const Scheme& scheme : {OnePair(), OnePair({"direction=clockwise"}), Scaled()}) {
    const ExactRotation exact(scheme);
    for (Dtype dtype : kFloatDtypes) {
      const RoundedValues forward = exact.Rotate(positions, x, 1, dtype);
      const RoundedValues backward = exact.RotateBackward(positions, x, 1, dtype);
      for (size_t i = 0; i < x.size(); ++i) {
        ExpectExactZero(forward, i, false);
        ExpectExactZero(backward, i, false);
      }
    }
  }
}

TEST(exact_zero, ZeroKeepsItsSignAtAngleZeroBesideANumber) {
  const std::vector<double> positions = {0, 0, -0.0};
  const std::vector<double> x = {-0.0, 1, 0.0, -1, 3, -0.0};
  for (const Scheme& scheme : {OnePair(), Scaled()}) {
    for (Dtype dtype : kFloatDtypes) {
      const RoundedValues out = ExactRotation(scheme).Rotate(positions, x, 1, dtype);
      ExpectExactZero(out, 0, true);
      ExpectExactZero(out, 2, false);
      ExpectExactZero(out, 5, true);
      EXPECT_EQ(out.counts.undecided, 0);
    }
  }
}

TEST(exact_zero, ScoreThatVanishesIsPositive) {
  const std::vector<double> queries = {0, 7}, keys = {0, 3};
  const std::vector<double> zero = {0, 0, -0.0, -0.0}, opposite = {1, 1, 1, 1}, k = {1, -1, 1, -1};
  for (const Scheme& scheme : {OnePair(), Scaled()}) {
    const ExactRotation exact(scheme);
    for (double scale : {1.0, -1.0}) {
      const RoundedValues scores = exact.Scores(queries, keys, zero, k, 1, scale, Dtype::f32);
      for (size_t i = 0; i < 4; ++i) ExpectExactZero(scores, i, false);
      // Of equal positions, where 1 * 1 + 1 * -1 cancels.
      ExpectExactZero(exact.Scores(queries, keys, opposite, k, 1, scale, Dtype::f32), 0, false);
    }
  }
}

TEST(exact_zero, PowerOfANaiveBaseIsExact) {
  // (2^31 2^19)^(-2/4) = 2^-25, although neither factor has a rational root; in fp16 it lies
  // halfway between 0 and the smallest number.
  const ExactRotation exact(
      ParseScheme("ntk", {"form=naive", "head_dim=4", "base=2147483648", "factor=524288"}));
  const RoundedValues wide = exact.Frequencies(Dtype::f64), narrow = exact.Frequencies(Dtype::f16);
  EXPECT_EQ(wide.values[1], 0x1p-25);
  EXPECT_EQ(wide.proofs[1], Proof::exact);
  EXPECT_EQ(narrow.values[1], 0);
  EXPECT_EQ(narrow.proofs[1], Proof::proven);
}

}  // namespace
}  // namespace posgauge
