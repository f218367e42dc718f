#pragma once

#include <functional>
#include <vector>

#include "posgauge/properties/law.h"

namespace posgauge {

/// Laws of positions of several axes.
std::vector<Law> AxisLaws();

/// The rotation that each pair is by itself, of a position of one axis: `pair` of `scheme`.
struct PairAlone {
  Scheme scheme;
  int64_t pair;
};

/// Holds every pair to the proven table of the rotation that it is by itself, at the position on
/// its own axis: `alone(pair)` names it.
Verdict HoldPairsAlone(const Subject& subject, const LawCase& law_case,
                       const std::function<PairAlone(int64_t)>& alone);

/// The case with the first axis' position, in every row, on all axes.
LawCase OnEqualAxes(const Subject& subject, const LawCase& law_case);

}  // namespace posgauge
