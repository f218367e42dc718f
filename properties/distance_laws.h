#pragma once

#include <vector>

#include "posgauge/properties/law.h"

namespace posgauge {

// Laws of biases that know distances, for the schemes of which they are true.

/// The bias of a visible key never falls as its distance shrinks.
Law NearestLaw();

/// A bias is the same with query and key exchanged.
Law SymmetryLaw();

/// The largest position of a case, in tokens.
double FarthestPosition(const LawCase& law_case);

/// Distances from 0 to the largest that tell: small ones, powers of two and what is beside them.
/// Whole, ascending.
std::vector<double> TellingDistances(double largest);

/// One query, and keys at these distances before it (or after it); tensors of the case that go by
/// queries and keys are left out.
NamedInputs ProbeOf(const NamedInputs& weights, double query, const std::vector<double>& distances,
                    bool after = false);

}  // namespace posgauge
