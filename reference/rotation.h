#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "posgauge/reference/float64.h"
#include "posgauge/reference/interval.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge {

/// What a rotary scheme yields: pair i of the vector at position p turns by p * frequency[i]
/// radians and is scaled by the magnitude. R is double or an Interval.
template <class R>
struct Rotation {
  std::vector<R> frequency;  // radians per token, one a pair
  R magnitude = R(1);        // factor a on cos and sin
  // a^2 = first/second where that is known to be a fraction; what it multiplies may then be exact.
  std::optional<std::array<int64_t, 2>> magnitude_squared = {};
  R softmax_multiplier = R(1);  // on the logits, besides a^2; model code applies it
};

/// base^(-2i/d), i in [0, d/2), d = rotary_dim. Su et al. 2021, arXiv:2104.09864, sec. 3.2.2.
template <class R>
std::vector<R> PlainFrequencies(const Rotary& rotary) {
  std::vector<R> frequency;
  for (int64_t i = 0; i < rotary.Pairs(); ++i) {
    frequency.push_back(RationalPower(R(rotary.base), -2 * i, rotary.rotary_dim));
  }
  return frequency;
}

/// min(max(x, 0), 1).
template <class R>
R ClampToUnit(const R& x) {
  return Min(Max(x, R(0)), R(1));
}

}  // namespace posgauge
