#pragma once

#include <string>

#include "posgauge/cli/command.h"
#include "posgauge/cli/scheme_options.h"

namespace posgauge::cli {

/// Prints how what a framework uses (a file of effective parameters) differs from what the config
/// means, and why: kHolds where nothing differs, else kViolated.
ExitCode DescribeAgainst(const SchemeOptions& options, const std::string& path, bool json);

/// {0, 1, 2, 5} as "0-2, 5".
std::string Ranges(const std::vector<int64_t>& indices);

}  // namespace posgauge::cli
