#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/properties/law.h"
#include "posgauge/verify/random.h"

namespace posgauge {

/// What cases are drawn from.
struct CasePlan {
  int64_t cases = 8, rows = 8, heads = 4;
  int64_t largest_position = 131071;  // tokens; the kernel's own limit holds too
  bool any_bits = false;              // also any bit pattern: NaN, infinities, subnormals
};

/// A value of a floating dtype by its bits, every exponent alike; one in four is a NaN, an
/// infinity, a zero, a subnormal or the largest or smallest number.
double DrawFloat(Dtype dtype, Random& random);

/// One case. Rows hold special positions (0, 1, 2^k and its neighbours, the scheme's lengths and
/// theirs, the largest, 2^24 + 1) or random ones, evenly or by logarithm; their sums and shifts
/// stay in range. Of several axes each has its own, or all have the same, or one alone is not 0.
/// Heads take turns: generic values over seven octaves; pairs directed at cancellation, (cos, sin)
/// of their own angle; sparse ones with zeros of both signs; values over the dtype's middle range;
/// any bits. Depends on seed and number only.
LawCase DrawCase(const Subject& subject, const CasePlan& plan, uint64_t seed, int64_t number);

/// The cases of the gate, without RapidCheck: 0..plan.cases-1, of a wide model's equations fewer,
/// the first with the largest position.
std::vector<LawCase> StandardCases(const Subject& subject, const CasePlan& plan, uint64_t seed);

}  // namespace posgauge
