#pragma once

#include <cstddef>

#include "posgauge/kernel.h"

namespace posgauge {

/// The kernels of this library, as any other library would offer them: `fast.frequencies`,
/// `fast.table.<dtype>`, `fast.rotate.<io>`, `fast.rotate_positions.<io>` and their backward forms,
/// `fast.rows.<dtype>` and `fast.embed.<io>` of sinusoidal rows, `fast.rows.<scheme>.<io>` and
/// `fast.embed.<scheme>.<io>` of rows that are no waves; of schemes of attention
/// `fast.scores.<scheme>.<io>`, `fast.attention...` and where they have them `fast.bias...`,
/// `fast.slopes...` and `fast.buckets...`. Their contracts are those of the instruction set in use.
/// The list lives as long as the program.
const posgauge_kernel* FastKernels(size_t* count);

}  // namespace posgauge
