#pragma once

#include <string>
#include <string_view>

#include "posgauge/schemes/base/dtype.h"

namespace posgauge {

/// A number as a dtype holds it, rounded to nearest even.
inline double RoundedTo(Dtype dtype, double value) { return RoundTo(FormatOf(dtype), value); }

}  // namespace posgauge
