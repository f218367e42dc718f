#pragma once

#include "posgauge/verify/double_double.h"
#include "posgauge/verify/subject.h"

namespace posgauge {

// A law that holds for any frequencies, any angles or any table is not broken by an error in them,
// so the bound of the stages that remain is all that it grants. Each is subject.bound() with the
// earlier stages taken as exact.

/// Against a rotation by position * f for the frequencies f that the kernel works with, whatever
/// they are, as long as they are the same at every position.
RotaryBound FixedFrequencyBound(const Subject& subject);

/// Against a rotation by the angles that the kernel works with, whatever they are.
RotaryBound FixedAngleBound(const Subject& subject);

/// Against the multiplication by the table that the kernel works with, whatever it is.
RotaryBound FixedTableBound(const Subject& subject);

/// bound.Pair, or infinity where the angle may overflow: the contract allows anything there.
double PairBound(const RotaryBound& bound, double position, int64_t pair, double r);

/// bound.Table times the magnitude, in the same way.
double EntryBound(const RotaryBound& bound, double position, int64_t pair);

/// The magnitude to 100 bits; exactly {1, 0} for a pure rotation.
DoubleDouble MagnitudeOf(const Subject& subject);

}  // namespace posgauge
