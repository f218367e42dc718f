#pragma once

#include <cstddef>
#include <vector>

#include "posgauge/fast/call.h"
#include "posgauge/fast/turns.h"

namespace posgauge::fast {

/// Memory for rows, on cache lines of its own.
class RowBuffer {
 public:
  explicit RowBuffer(size_t entries)
      : lines_((entries * sizeof(double) + sizeof(Line) - 1) / sizeof(Line)) {}
  std::byte* data() { return reinterpret_cast<std::byte*>(lines_.data()); }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_;
};

/// What a kernel that starts from positions is given, checked for all tokens before anything is
/// written.
struct Angles {
  std::vector<TurnPosition> positions;  // [tokens], or [tokens, axes]
  Turns turns;
  std::vector<int64_t> axis = {};  // [pairs], where positions have axes
  int64_t axes = 1;

  int64_t Tokens() const { return static_cast<int64_t>(positions.size()) / axes; }
};

/// From the tensors positions [tokens], frequency and frequency_low [pairs], or positions [tokens,
/// axes] and axis [pairs] besides; either length may be kAnyLength. `start` tokens are added to
/// every position, exactly. Throws ParameterError.
Angles AnglesOf(const Call& call, int64_t tokens, int64_t pairs, int64_t start = 0);

}  // namespace posgauge::fast
