#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "posgauge/schemes/base/scheme.h"

namespace posgauge {

/// A parameter as it crosses the C ABI (posgauge/kernel.h).
using Scalar = std::pair<std::string, double>;

/// Every numeric field by name, in order: a variant is the index of its spelling, true is 1, an
/// optional field that is not set is absent. Lists are not scalars: they travel as tensors.
std::vector<Scalar> ScalarsOf(const Scheme& scheme);

/// Inverse of ScalarsOf; validated. Throws ParameterError on an unknown scheme or name, a name
/// given twice, a field that is missing, and a value that the field's type cannot hold.
Scheme SchemeFromScalars(std::string_view name, std::span<const Scalar> scalars);

}  // namespace posgauge
