#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "posgauge/schemes/base/fields.h"

namespace posgauge {

/// Which two channels of the rotary block form pair i:
///   half           (i, i + rotary_dim/2). NeoX's order
///   interleaved    (2i, 2i+1). GPT-J's
///   half_per_axis  the halves of each block of channels: (j, j + section[a]) in block a, of which
///                  the pair is the j-th. Only of axial, whose axes have blocks. Gemma 4's vision
enum class Pairing { half, interleaved, half_per_axis };
template <>
inline constexpr auto kVariantNames<Pairing> =
    std::array<std::string_view, 3>{"half", "interleaved", "half_per_axis"};

/// Sign of the rotation. Every common framework turns counter-clockwise: u' = u cos - v sin.
enum class Direction { counterclockwise, clockwise };
template <>
inline constexpr auto kVariantNames<Direction> =
    std::array<std::string_view, 2>{"counterclockwise", "clockwise"};

/// What all rotary schemes share: which channels rotate, how they pair, and the base.
/// Su et al. 2021, arXiv:2104.09864, eqs. 13-16, 34.
struct Rotary {
  int64_t head_dim = 128;    // channels of a head
  int64_t rotary_dim = 128;  // channels that rotate: [rotary_offset, rotary_offset + rotary_dim)
  int64_t rotary_offset = 0;
  Pairing pairing = Pairing::half;
  Direction direction = Direction::counterclockwise;
  double base = 10000;
  /// Pairs of each block of channels, one after another; a field of axial alone, whose axes have
  /// blocks.
  std::vector<int64_t> section = {};

  /// Number of pairs, rotary_dim / 2.
  int64_t Pairs() const { return rotary_dim / 2; }

  /// The two channels of pair i, counted from the head's first channel.
  std::array<int64_t, 2> Channels(int64_t pair) const;

  /// Throws ParameterError: "rotary_dim must be even and in 0..128 (head_dim), got 130".
  void Validate() const;

  /// Calls visit(name, value, description) for every field, in order.
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("head_dim", self.head_dim, "channels of a head");
    visit("rotary_dim", self.rotary_dim, "channels that rotate, even, at most head_dim");
    visit("rotary_offset", self.rotary_offset,
          "first channel that rotates: 0 is a prefix, head_dim - rotary_dim a suffix");
    visit("pairing", self.pairing,
          "half pairs (i, i + rotary_dim/2); interleaved pairs (2i, 2i+1); half_per_axis, of axial "
          "alone, pairs the halves of each axis' channels");
    visit("direction", self.direction, "sign of the rotation");
    visit("base", self.base,
          "frequency of pair i of a plain series is base^(-2i/rotary_dim) radians per token");
  }
  bool operator==(const Rotary&) const = default;
};

}  // namespace posgauge
