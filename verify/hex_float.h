#pragma once

#include <string>

namespace posgauge {

/// The exact value as C, Python and C++ read it, normalised, shortest: "-0x1.8c0496p-3", "0x0p+0",
/// "0x1p-1074", "inf", "nan".
std::string HexFloat(double value);

}  // namespace posgauge
