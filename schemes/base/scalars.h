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

/// A list as it crosses the C ABI: an input tensor of its name.
using NamedList = std::pair<std::string, std::vector<double>>;

/// Every numeric field by name, in order: a variant is the index of its spelling, true is 1, an
/// optional field that is not set is absent. Lists are not scalars.
std::vector<Scalar> ScalarsOf(const Scheme& scheme);

/// Every list field by name, in order; an optional one that is not set is absent.
std::vector<NamedList> ListsOf(const Scheme& scheme);

/// The names of a scheme's list fields, in order. Throws ParameterError on an unknown scheme.
std::vector<std::string> ListFields(std::string_view name);

/// Inverse of ScalarsOf and ListsOf; validated. Throws ParameterError on an unknown scheme or name,
/// a name given twice, a field that is missing, and a value that the field's type cannot hold.
Scheme SchemeFromScalars(std::string_view name, std::span<const Scalar> scalars,
                         std::span<const NamedList> lists = {});

}  // namespace posgauge
