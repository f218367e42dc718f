#include "posgauge/schemes/base/domain.h"

#include "posgauge/schemes/base/error.h"

namespace posgauge {

void RequireScale(std::string_view field, double value, double lowest) {
  Require(value >= lowest && value <= kLargestScale, "{} must be in {}..{}, got {}", field, lowest,
          kLargestScale, value);
}

void RequireLength(std::string_view field, int64_t tokens, int64_t lowest) {
  Require(tokens >= lowest && tokens <= kLargestLength, "{} must be in {}..{} tokens, got {}",
          field, lowest, kLargestLength, tokens);
}

}  // namespace posgauge
