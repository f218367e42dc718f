#pragma once

#include <optional>

#include <mpfr.h>

#include "posgauge/reference/interval.h"
#include "posgauge/reference/proof.h"

namespace posgauge {

/// `value`, which is finite, rounded once to the format, to nearest, ties to even, with subnormals;
/// what rounds beyond the largest number is an infinity or, in a format without, a NaN of its sign.
/// Zero keeps its sign.
double RoundReal(mpfr_srcptr value, Format format);

/// (value - stored) / Ulp(stored) in units of 2^-16, rounded to nearest; stored finite.
int64_t DistanceInUlps(mpfr_srcptr value, Format format, double stored);

/// A rounding that an enclosure proves.
struct Decided {
  double value = 0;
  int32_t distance = 0;
  Proof proof = Proof::undecided;
};

/// The rounding of every number of the enclosure, if they all agree, sign of zero included;
/// rounding is monotone, so equality at the ends proves it for the real number in between.
/// `with_distance` asks the same of the distance.
template <unsigned Digits>
std::optional<Decided> Decide(const Interval<Digits>& enclosure, Format format,
                              bool with_distance) {
  using I = Interval<Digits>;
  // The two ends of a sum of zeros differ in sign by the directed roundings alone.
  if (enclosure.IsZero()) return Decided{0, 0, Proof::exact};
  const mpfr_srcptr lo = I::Ptr(enclosure.lo()), hi = I::Ptr(enclosure.hi());
  Decided decided;
  decided.value = RoundReal(lo, format);
  const double other = RoundReal(hi, format);
  // A NaN is what overflows in a format without infinities: one outcome like any other.
  const bool same = decided.value == other || (std::isnan(decided.value) && std::isnan(other));
  if (!same || std::signbit(decided.value) != std::signbit(other)) return std::nullopt;
  if (with_distance && std::isfinite(decided.value)) {
    const int64_t distance = DistanceInUlps(lo, format, decided.value);
    if (distance != DistanceInUlps(hi, format, decided.value)) return std::nullopt;
    decided.distance = static_cast<int32_t>(distance);
  }
  const bool exact =
      enclosure.IsPoint() && std::isfinite(decided.value) && mpfr_cmp_d(lo, decided.value) == 0;
  decided.proof = exact ? Proof::exact : Proof::proven;
  return decided;
}

}  // namespace posgauge
