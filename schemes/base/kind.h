#pragma once

#include <concepts>
#include <cstdint>

#include "posgauge/schemes/base/rotary.h"

namespace posgauge {

// What a scheme does follows from what its parameters are. Every scheme is of one kind.

/// A rotation: pairs of channels of queries and keys turn by an angle.
template <class Params>
concept Rotates = requires(const Params& params) {
  { params.rotary } -> std::convertible_to<const Rotary&>;
};

/// An addition: rows [positions, width] that are added to embeddings.
template <class Params>
concept Adds = requires(const Params& params) {
  { params.width } -> std::convertible_to<int64_t>;
};

}  // namespace posgauge
