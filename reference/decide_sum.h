#pragma once

#include <optional>

#include "posgauge/reference/rounding.h"
#include "posgauge/schemes/base/double_double.h"

namespace posgauge {

/// The rounding of the real number v, |middle.high + middle.low - v| <= radius, if the radius
/// proves it and proves that v is not itself a number of the format; nothing otherwise.
/// |middle.low| <= ulp(middle.high).
std::optional<Decided> Decide(DoubleDouble middle, double radius, Format format,
                              bool with_distance);

}  // namespace posgauge
