#pragma once

#include <span>

#include "posgauge/verify/kernel.h"

namespace posgauge {

/// Kernels of biases that err as code in the field does, each of one scheme: its equation in
/// binary64 with one thing wrong, and one rounding to the dtype.
///
///   faulty.<fault>.bias.f32  faulty.<fault>.scores.f32  faulty.<fault>.buckets.i32
std::span<const posgauge_kernel> FaultyBiases();

}  // namespace posgauge
