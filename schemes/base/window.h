#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/schemes/base/attention.h"

namespace posgauge {

/// Tokens of a side of a window at most: above any that is published, and few enough for a number
/// for every offset.
inline constexpr int64_t kLargestWindow = 256;

/// A window of tokens: that of row y and column x is at position y w + x.
struct Window {
  int64_t h = 7;
  int64_t w = 7;

  int64_t Tokens() const { return h * w; }

  /// Ways in which the place of one token may differ from another's.
  int64_t Offsets() const { return (2 * h - 1) * (2 * w - 1); }

  /// Throws ParameterError.
  void Validate() const {
    for (const auto& [name, side] : {std::pair("window_h", h), std::pair("window_w", w)}) {
      Require(side >= 1 && side <= kLargestWindow, "{} must be in 1..{}, got {}", name,
              kLargestWindow, side);
    }
  }

  /// Throws ParameterError unless every position is one of a token.
  void CheckPositions(const std::vector<double>& queries, const std::vector<double>& keys) const {
    RequirePositionsBelow(Tokens(), queries);
    RequirePositionsBelow(Tokens(), keys);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("window_h", self.h, "tokens of a column of the window");
    visit("window_w", self.w, "tokens of a row of the window");
  }
  bool operator==(const Window&) const = default;
};

/// Throws ParameterError where keys after the query are to be masked: tokens of a window have no
/// order.
inline void RequireNoOrder(const Attention& attention) {
  Require(!attention.causal, "causal must be false, got true: tokens of a window have no order");
}

}  // namespace posgauge
