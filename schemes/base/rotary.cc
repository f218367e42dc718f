#include "posgauge/schemes/base/rotary.h"

#include <cmath>

#include "posgauge/schemes/base/section.h"

namespace posgauge {

namespace {
// Wider than any head in use; keeps a typing error from asking for gigabytes.
constexpr int64_t kMaxHeadDim = 65536;
}  // namespace

std::array<int64_t, 2> Rotary::Channels(int64_t pair) const {
  if (pairing == Pairing::half) return {rotary_offset + pair, rotary_offset + pair + Pairs()};
  const int64_t even = rotary_offset + 2 * pair;
  if (pairing == Pairing::interleaved) return {even, even + 1};
  // The pairs of the block that come before have two channels each, and one of them in its half.
  const PlaceInSection place = FindInSection(section, pair);
  const int64_t first = even - place.index;
  return {first, first + section[static_cast<size_t>(place.block)]};
}

void Rotary::Validate() const {
  Require(head_dim >= 1 && head_dim <= kMaxHeadDim, "head_dim must be in 1..{}, got {}",
          kMaxHeadDim, head_dim);
  Require(rotary_dim >= 0 && rotary_dim <= head_dim && rotary_dim % 2 == 0,
          "rotary_dim must be even and in 0..{} (head_dim), got {}", head_dim, rotary_dim);
  Require(rotary_offset >= 0 && rotary_offset <= head_dim - rotary_dim,
          "rotary_offset must be in 0..{} (head_dim {} - rotary_dim {}), got {}",
          head_dim - rotary_dim, head_dim, rotary_dim, rotary_offset);
  Require(pairing != Pairing::half_per_axis || !section.empty(),
          "pairing half_per_axis is of axial, whose axes have blocks of channels: it must be half "
          "or interleaved");
  // Outside this range frequencies leave binary64; published bases lie between 100 and 1e11.
  Require(std::isfinite(base) && base >= 1e-30 && base <= 1e30,
          "base must be a positive number in 1e-30..1e30, got {}", base);
}

}  // namespace posgauge
