#pragma once

#include <string>

namespace posgauge::cli {

/// The folder of golden vectors where no option names one: golden/vectors in the working directory
/// or, where that is missing, the one installed with this program.
std::string DefaultGoldenFolder();

}  // namespace posgauge::cli
