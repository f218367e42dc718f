#pragma once

#include <filesystem>
#include <vector>

#include "posgauge/verify/subject.h"
#include "posgauge/verify/verdict.h"

namespace posgauge::cli {

/// Holds a kernel to the golden vectors in `folder` that are for its scheme with the same
/// parameters and its quantity: its outputs from their inputs against their stored values, by the
/// kernel's bound. No verdict where the folder has none or their inputs are not exact in the
/// kernel's dtype.
std::vector<Verdict> CheckGolden(const Subject& subject, const std::filesystem::path& folder);

}  // namespace posgauge::cli
