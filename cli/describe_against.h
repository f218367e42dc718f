#pragma once

#include <string>

#include "posgauge/cli/command.h"
#include "posgauge/cli/scheme_options.h"

namespace posgauge::cli {

/// Prints how what a framework uses (a file of effective parameters) differs from what the config
/// means, and why: kHolds where nothing differs, else kViolated.
ExitCode DescribeAgainst(const SchemeOptions& options, const std::string& path, bool json);

}  // namespace posgauge::cli
