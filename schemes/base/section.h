#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/schemes/base/rotary.h"

namespace posgauge {

/// How many pairs count each axis of the position, one entry an axis. Throws ParameterError unless
/// there are fewest..most entries, none negative, that sum to the rotary block's pairs.
void RequireSection(const std::vector<int64_t>& section, size_t fewest, size_t most,
                    const Rotary& rotary);

/// A pair by the block of `section` that it lies in, and its index there.
struct PlaceInSection {
  int64_t block = 0, index = 0;
};

/// Where blocks follow one another: pairs 0..section[0]-1, then section[1] pairs and so on.
PlaceInSection FindInSection(const std::vector<int64_t>& section, int64_t pair);

}  // namespace posgauge
