#pragma once

#include <span>

#include "posgauge/verify/kernel.h"

namespace posgauge {

/// Kernels of disentangled and windowed attention that err as code in the field does, each of one
/// scheme (tests/faulty_elements.h).
std::span<const posgauge_kernel> FaultyWindows();

}  // namespace posgauge
