#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "posgauge/golden/manifest.h"

namespace posgauge::golden {

/// Fills the outputs of every case from the proven reference, adds kUndecidedFlag where a value is
/// undecided (and removes it elsewhere), and keeps of the notes those that some case has. Throws
/// ParameterError that begins with the case's id.
void Compute(Manifest& manifest);

/// Inputs for x, q and k: both signs, 2^-3 <= |value| < 2^4, eight significand bits, so that every
/// dtype holds them exactly. The same key and seed give the same tensor.
Tensor RandomInput(std::vector<int64_t> shape, uint64_t seed, std::string_view key);

/// The same for a weight, moved into its range.
Tensor RandomWeight(const Weight& weight, uint64_t seed, std::string_view key);

}  // namespace posgauge::golden
