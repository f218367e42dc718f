#pragma once

#include <vector>

#include "posgauge/properties/law.h"

namespace posgauge {

/// What makes a kernel a rotation R(p) by p times fixed frequencies, scaled by the magnitude a: the
/// laws that bind its numbers. The transpose obeys them too, being R(-p).
std::vector<Law> RotationLaws();

}  // namespace posgauge
