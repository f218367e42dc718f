#include "posgauge/schemes/base/domain.h"

#include <cmath>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

void RequireWidth(int64_t width) {
  Require(width >= 1 && width <= kLargestWidth, "width must be in 1..{}, got {}", kLargestWidth,
          width);
}

void RequireGrid(std::string_view field, int64_t patches) {
  Require(patches >= 1 && patches <= kLargestGrid, "{} must be in 1..{}, got {}", field,
          kLargestGrid, patches);
}

void RequirePrefix(int64_t prefix) {
  Require(prefix >= 0 && prefix <= kLargestGrid, "prefix must be in 0..{}, got {}", kLargestGrid,
          prefix);
}

void RequireScale(std::string_view field, double value, double lowest) {
  Require(value >= lowest && value <= kLargestScale, "{} must be in {}..{}, got {}", field, lowest,
          kLargestScale, value);
}

void RequireLength(std::string_view field, int64_t tokens, int64_t lowest) {
  Require(tokens >= lowest && tokens <= kLargestLength, "{} must be in {}..{} tokens, got {}",
          field, lowest, kLargestLength, tokens);
}

void RequireWholePositions(const std::vector<double>& positions) {
  for (double position : positions) {
    Require(std::fabs(position) < 0x1p53 && position == std::trunc(position),
            "positions must be whole numbers below 2^53, got {}", position);
  }
}

void RequirePositionsBelow(int64_t count, const std::vector<double>& positions) {
  RequireWholePositions(positions);
  for (double position : positions) {
    Require(position >= 0 && position < static_cast<double>(count),
            "positions must be in 0..{}, got {}", count - 1, position);
  }
}

}  // namespace posgauge
