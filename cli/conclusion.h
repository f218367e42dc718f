#pragma once

#include <cstdint>
#include <string>

#include "posgauge/verify/report.h"

namespace posgauge::cli {

/// The exit code of a gate by its verdicts and whether its model is covered: a kernel that died
/// goes before one that failed; what fails is known to be wrong; short of that a gate that proved
/// nothing says only that.
int ExitCodeOf(const Report& report, bool covered);

/// The first line of its conclusion, by report.exit_code: "HOLDS: 8 checks passed, ...".
std::string Headline(const Report& report, uint64_t values, double seconds);

}  // namespace posgauge::cli
