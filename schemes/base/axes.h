#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace posgauge {

/// How positions are laid out, [tokens, axes] in C order, and which axis each frequency multiplies.
/// Most schemes have one axis: then a position is one number a token.
struct Axes {
  int64_t count = 1;
  std::vector<int64_t> of_pair = {};  // [pairs]; empty where there is one axis

  bool operator==(const Axes&) const = default;

  int64_t Of(int64_t pair) const { return count == 1 ? 0 : of_pair[static_cast<size_t>(pair)]; }

  /// Whole tokens in a list of positions.
  size_t Tokens(std::span<const double> positions) const {
    return positions.size() / static_cast<size_t>(count);
  }

  /// The position of one token, [axes].
  std::span<const double> Row(std::span<const double> positions, size_t token) const {
    return positions.subspan(token * static_cast<size_t>(count), static_cast<size_t>(count));
  }

  /// The position that a pair counts.
  double At(std::span<const double> positions, size_t token, int64_t pair) const {
    return positions[token * static_cast<size_t>(count) + static_cast<size_t>(Of(pair))];
  }

  /// The coordinate of a token that is farthest from 0; of one axis its position.
  double Farthest(std::span<const double> positions, size_t token) const {
    double farthest = 0;
    for (double position : Row(positions, token)) {
      if (std::fabs(position) >= std::fabs(farthest)) farthest = position;
    }
    return farthest;
  }

  /// Farthest of every token, [tokens].
  std::vector<double> Farthest(std::span<const double> positions) const {
    std::vector<double> farthest;
    for (size_t token = 0; token < Tokens(positions); ++token) {
      farthest.push_back(Farthest(positions, token));
    }
    return farthest;
  }
};

}  // namespace posgauge
