#pragma once

#include <span>

#include "posgauge/verify/kernel.h"

namespace posgauge {

/// Faults of the bank (verify/faults/) as kernels, faulty.<name>.<quantity>.<dtype>, of biases,
/// buckets and scores: computed in binary64 and rounded once to the dtype.
std::span<const posgauge_kernel> FaultyReplays();

}  // namespace posgauge
