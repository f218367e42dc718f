#include "posgauge/schemes/base/rotary.h"

#include <cmath>

namespace posgauge {

namespace {
// Wider than any head in use; keeps a typing error from asking for gigabytes.
constexpr int64_t kMaxHeadDim = 65536;
}  // namespace

void Rotary::Validate() const {
  Require(head_dim >= 1 && head_dim <= kMaxHeadDim, "head_dim must be in 1..{}, got {}",
          kMaxHeadDim, head_dim);
  Require(rotary_dim >= 0 && rotary_dim <= head_dim && rotary_dim % 2 == 0,
          "rotary_dim must be even and in 0..{} (head_dim), got {}", head_dim, rotary_dim);
  Require(rotary_offset >= 0 && rotary_offset <= head_dim - rotary_dim,
          "rotary_offset must be in 0..{} (head_dim {} - rotary_dim {}), got {}",
          head_dim - rotary_dim, head_dim, rotary_dim, rotary_offset);
  // Outside this range frequencies leave binary64; published bases lie between 100 and 1e11.
  Require(std::isfinite(base) && base >= 1e-30 && base <= 1e30,
          "base must be a positive number in 1e-30..1e30, got {}", base);
}

}  // namespace posgauge
