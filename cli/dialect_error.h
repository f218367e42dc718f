#pragma once

#include <optional>
#include <vector>

#include "posgauge/schemes/base/scheme.h"

namespace posgauge::cli {

/// How far another reading of a config is off at a position.
struct DialectError {
  int64_t position = 0;  // tokens
  double angle = 0;      // radians, of the pair that is farthest off, not taken modulo a turn
  int64_t pair = 0;
  double norm = 0;  // of every rotated pair, relative to what it should be
};

/// The errors of a reading against the scheme.
struct DialectErrors {
  std::vector<DialectError> at;               // of rotations
  double logits = 1;                          // factor on the logits besides those of q and k
  std::optional<int64_t> first_other_bucket;  // of t5: the distance from which buckets differ

  /// Whether the two readings come to the same.
  bool AreNone() const;
};

/// By the proven frequencies and magnitudes of both; of several axes for a token of text, whose
/// position is one number on all but a fourth axis. Angles are good to 2^-51 p. Both turn the same
/// channels, or are both of t5. Throws ParameterError for an invalid scheme.
DialectErrors ErrorsOf(const Scheme& scheme, const Scheme& reading,
                       const std::vector<int64_t>& positions);

/// 1, 128, the trained length if the scheme has one and it is among them, and the last of `count`
/// positions; ascending, each once.
std::vector<int64_t> TellingPositions(const Scheme& scheme, int64_t count);

}  // namespace posgauge::cli
