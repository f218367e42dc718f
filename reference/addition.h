#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/base/channel.h"

namespace posgauge {

/// What a scheme of added rows yields: channel c of the row at position p is the function that it
/// holds of the angle (p + start) * frequency[wave]. R is double or an Interval.
template <class R>
struct Addition {
  std::vector<R> frequency;              // radians per token, one a wave, scale included
  std::vector<Channel> channels = {};    // [width]
  int64_t start = 0;                     // tokens
  std::optional<int64_t> zero_row = {};  // the row p + start that is all zeros
};

/// The waves of an addition as a rotation: pair k turns by the angle of wave k.
template <class R>
Rotation<R> AsRotation(Addition<R> addition) {
  return {.frequency = std::move(addition.frequency)};
}
template <class R>
Rotation<R> AsRotation(Rotation<R> rotation) {
  return rotation;
}

}  // namespace posgauge
