#pragma once

#include <optional>

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge {

/// Which channels of a head of attention turn, how they pair, and the base: of schemes whose
/// queries and keys turn within their scores (Su et al. 2021, arXiv:2104.09864, eqs. 13-16), in
/// ways that no rotation of either alone can express.
struct Turning {
  std::optional<int64_t> rotary_dim = {};
  Pairing pairing = Pairing::half;
  double base = 10000;

  /// The rotation of a head that has its first channels turn.
  Rotary Of(const Attention& attention) const {
    return {.head_dim = attention.head_dim,
            .rotary_dim = rotary_dim.value_or(attention.head_dim),
            .pairing = pairing,
            .base = base};
  }

  /// Throws ParameterError.
  void Validate(const Attention& attention) const { Of(attention).Validate(); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("rotary_dim", self.rotary_dim, "channels that turn, the first ones, even; or all");
    visit("pairing", self.pairing,
          "half pairs (i, i + rotary_dim/2); interleaved pairs (2i, 2i+1)");
    visit("base", self.base, "frequency of pair i is base^(-2i/rotary_dim) radians per token");
  }
  bool operator==(const Turning&) const = default;
};

}  // namespace posgauge
