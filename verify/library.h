#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "posgauge/verify/isolated_library.h"
#include "posgauge/verify/subject.h"

namespace posgauge {

/// The kernels that a shared library exports through posgauge/kernel.h, each descriptor read and
/// checked. The library stays loaded until the program ends, in this process. Throws FileError when
/// it cannot be loaded, FormatError when it lacks posgauge_kernels, serves another ABI version or
/// describes no kernel.
std::vector<KernelInfo> LoadKernels(const std::filesystem::path& library);

/// The same in a process of its own, in which every call runs: whatever the library does, this
/// process goes on.
std::vector<KernelInfo> LoadKernels(const std::filesystem::path& library,
                                    const Isolation& isolation);

/// Throws FileError or FormatError unless loading brought kernels; `text` is the loader's.
void RequireKernels(const std::filesystem::path& library, child::LoadResult result,
                    std::string_view text);

}  // namespace posgauge
