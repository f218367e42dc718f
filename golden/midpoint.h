#pragma once

#include <map>
#include <optional>

#include "posgauge/golden/manifest.h"

namespace posgauge::golden {

/// How near the real numbers of one output come to a midpoint between two neighbours of `dtype`,
/// where rounding to nearest turns: the smallest distance over the finite values, in ulp of the
/// stored value, rounded down to eight significant bits. From the output in f64 and its distances,
/// so right to 2^-17 ulp of f64; 0 is below that. Nothing where f64 is not among the output's
/// dtypes, of integers, and where no value is finite.
std::optional<double> SmallestMidpointDistance(const std::map<Dtype, Rounding>& output,
                                               Dtype dtype);

}  // namespace posgauge::golden
