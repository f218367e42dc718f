#include "posgauge/schemes/base/section.h"

namespace posgauge {

void RequireSection(const std::vector<int64_t>& section, size_t fewest, size_t most,
                    const Rotary& rotary) {
  const std::string allowed =
      fewest == most ? fmt::format("{}", fewest) : fmt::format("{}..{}", fewest, most);
  Require(section.size() >= fewest && section.size() <= most,
          "section must have {} entries (pairs of each axis), got {}", allowed, section.size());
  int64_t sum = 0;
  for (size_t axis = 0; axis < section.size(); ++axis) {
    Require(section[axis] >= 0 && section[axis] <= rotary.Pairs(),
            "section[{}] must be in 0..{} (rotary_dim/2), got {}", axis, rotary.Pairs(),
            section[axis]);
    sum += section[axis];
  }
  Require(sum == rotary.Pairs(), "section must sum to {} (rotary_dim/2), got {} ({})",
          rotary.Pairs(), sum, fmt::join(section, " + "));
}

PlaceInSection FindInSection(const std::vector<int64_t>& section, int64_t pair) {
  PlaceInSection place{0, pair};
  for (int64_t pairs : section) {
    if (place.index < pairs) break;
    place.index -= pairs;
    ++place.block;
  }
  return place;
}

}  // namespace posgauge
