#pragma once

#include <vector>

#include "posgauge/properties/law.h"

namespace posgauge {

/// What every kernel that adds rows must do whose rows are no waves: those that the scheme comes
/// under.
std::vector<Law> RowLaws(const Scheme& scheme);

}  // namespace posgauge
