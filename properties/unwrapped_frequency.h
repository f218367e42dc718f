#pragma once

#include <vector>

#include "posgauge/properties/law.h"

namespace posgauge {

/// A frequency known to lie within `radius` of `middle`, radians per token, counter-clockwise
/// positive.
struct FrequencyInterval {
  double middle = 0, radius = 0;
};

/// How well one output agrees with the frequency seen at smaller positions.
struct Phase {
  double position;
  int64_t pair;
  double error, bound;  // radians
};

/// What the outputs of a rotating kernel or a table say about its frequencies.
struct UnwrappedFrequencies {
  std::vector<FrequencyInterval> frequencies;  // [pairs]
  std::vector<Phase> phases;                   // by position, then pair
};

/// Turns angles, which outputs show modulo 2 pi, into frequencies: at position 1 the angle itself,
/// taken in (-pi, pi]; at 2, 3, 4, 5, 7, 8, 9, ... (2^k and its neighbours up to `largest`) the one
/// among the equivalent angles that the frequency so far predicts. An angle's error is derived from
/// the contract; since it is divided by the position, the frequency comes out ever sharper. A pair
/// of 3 radians per token or more cannot be told from a slower one: its radius is infinite. Throws
/// Unsupported if `largest` is below 1 or the kernel serves no such position.
UnwrappedFrequencies UnwrapFrequencies(const Subject& subject, double largest);

/// The frequencies that a kernel works with, by the quantity it yields: exported ones with the
/// contract's error, otherwise unwrapped, that error added. Turned so that the scheme's own
/// direction counts as positive. Throws Unsupported if the kernel is handed its frequencies.
std::vector<FrequencyInterval> MeasureFrequencies(const Subject& subject, double largest);

/// The largest |position| that the case names.
double LargestPosition(const LawCase& law_case);

}  // namespace posgauge
