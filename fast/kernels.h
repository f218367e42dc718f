#pragma once

#include <cstddef>

#include "posgauge/kernel.h"

namespace posgauge {

/// The kernels of this library, as any other library would offer them: `fast.frequencies`,
/// `fast.table.<dtype>`, `fast.rotate.<io>`, `fast.rotate_positions.<io>` and their backward forms,
/// `fast.rows.<dtype>` and `fast.embed.<io>` of sinusoidal rows; of schemes of attention that give
/// a bias `fast.bias.<scheme>.<io>`, `fast.scores...`, `fast.attention...`, and where it has them
/// `fast.slopes...` and `fast.buckets...`.
/// Their contracts are those of the instruction set in use. The list lives as long as the program.
const posgauge_kernel* FastKernels(size_t* count);

}  // namespace posgauge
