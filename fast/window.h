#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/schemes/base/window.h"

namespace posgauge::fast {

/// y (2w - 1) + x of every token. What two tokens differ by, and that of the last token added, is
/// the number of their offset.
inline std::vector<int64_t> TokenPlaces(const Window& window) {
  std::vector<int64_t> places;
  for (int64_t y = 0; y < window.h; ++y) {
    for (int64_t x = 0; x < window.w; ++x) places.push_back(y * (2 * window.w - 1) + x);
  }
  return places;
}

}  // namespace posgauge::fast
