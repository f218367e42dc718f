#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/properties/generator.h"
#include "posgauge/properties/standard_cases.h"
#include "posgauge/schemes/base/turning.h"

namespace posgauge {

// Generators for RapidCheck, which itself makes neither large nor small floats nor negative zeros.
// Include <rapidcheck.h> where they are used.

/// Any value of a floating dtype by its bits: every exponent alike, and often NaN, infinities,
/// zeros, subnormals, the largest and smallest numbers. Shrinks to 1, 0, fewer bits, exponent 0.
rc::Gen<double> AnyFloat(Dtype dtype);

/// Any position in [-largest, largest], often 0, 1, 2^k and its neighbours, 2^24 + 1, the ends.
/// Shrinks to 0, 1, powers of two, halves.
rc::Gen<double> AnyPosition(int64_t largest);

/// Head layouts: widths 2..512, prefix, suffix and offset, both pairings and directions, bases from
/// 0.5 to 1e7. Shrinks to small full heads, half, counter-clockwise, base 10000.
rc::Gen<Rotary> AnyRotary();

/// What schemes of attention share: 1..12 heads, small widths, both scales, mostly causal. Shrinks
/// to one head of one channel.
rc::Gen<Attention> AnyAttention();

/// Which channels of such a head turn: all, some or none; both pairings; bases from 1 to 500000.
/// Shrinks to all that are even in number, half, base 10000.
rc::Gen<Turning> AnyTurning(const Attention& attention);

/// A scale from `lowest` to 1024. Shrinks to 1, 2, 4.
rc::Gen<double> AnyFactor(double lowest);

/// A length in tokens, 1..2^20, mostly those of models. Shrinks to 4096.
rc::Gen<int64_t> AnyLength();

/// A law case for the subject, any bits among its vectors. Shrinks to one row, one head, zeros and
/// ones, small positions. The subject must outlive the generator.
rc::Gen<LawCase> AnyLawCase(const Subject& subject, const CasePlan& plan);

/// Simpler values to try in place of this one, the simplest first.
std::vector<double> SimplerFloats(Dtype dtype, double value);
std::vector<double> SimplerPositions(double position);
std::vector<LawCase> SimplerCases(const LawCase& law_case);

}  // namespace posgauge
