#pragma once

#include <vector>

#include "posgauge/properties/law.h"

namespace posgauge {

/// The laws of a rotation as its table of a cos(p f), a sin(p f) shows them: T(p) is the pair
/// (cos, sin) of one entry as a complex number.
std::vector<Law> TableLaws();

}  // namespace posgauge
