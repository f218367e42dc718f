#pragma once

#include <filesystem>
#include <vector>

#include "posgauge/verify/subject.h"

namespace posgauge {

/// The kernels that a shared library exports through posgauge/kernel.h, each descriptor read and
/// checked. The library stays loaded until the program ends. Throws FileError when it cannot be
/// loaded, FormatError when it lacks posgauge_kernels, serves another ABI version or describes no
/// kernel.
std::vector<KernelInfo> LoadKernels(const std::filesystem::path& library);

}  // namespace posgauge
