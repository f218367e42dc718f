#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/fields.h"

namespace posgauge::sincos2d {

/// The axis that the first half of the channels tells of: the column, as in MAE and diffusers, or
/// the row (MoCo-v3 on square grids).
enum class FirstAxis { column, row };

}  // namespace posgauge::sincos2d

namespace posgauge {
template <>
inline constexpr auto kVariantNames<sincos2d::FirstAxis> =
    std::array<std::string_view, 2>{"column", "row"};
}  // namespace posgauge

namespace posgauge::sincos2d {

/// Two-dimensional sinusoidal rows of a grid of patches: the token of row h and column w is at
/// position prefix + h grid_w + w. Each axis has half of the channels, sines then cosines of
///   coordinate * base^(-k/D),  k = 0..D-1,  D = width/4,
/// the coordinate of an axis of G patches being index / (G/base_size) / interpolation_scale. Rows
/// of the prefix (class token) are zeros. He et al. 2022, arXiv:2111.06377 (MAE),
/// util/pos_embed.py; the scaling is that of diffusers' PatchEmbed.
struct Params {
  static constexpr std::string_view kName = "sincos2d";
  static constexpr std::string_view kSummary = "sinusoidal rows of a grid, added to patches";
  static constexpr std::string_view kEquation =
      "sines, then cosines, of row and of column: coordinate base^(-k/D), k = 0..D-1, D = width/4";
  static constexpr std::string_view kSource =
      "He et al. 2022, arXiv:2111.06377, util/pos_embed.py; diffusers PatchEmbed";

  int64_t width = 768;
  int64_t grid_h = 14;
  int64_t grid_w = 14;
  FirstAxis first_axis = FirstAxis::column;
  int64_t prefix = 0;
  double base = 10000;
  std::optional<int64_t> base_size = {};
  double interpolation_scale = 1;

  /// Frequencies of an axis, D.
  int64_t AxisWaves() const { return width / 4; }

  int64_t PositionCount() const { return prefix + grid_h * grid_w; }

  void Validate() const {
    RequireWidth(width);
    Require(width % 4 == 0, "width must be a multiple of 4, got {}", width);
    RequireGrid("grid_h", grid_h);
    RequireGrid("grid_w", grid_w);
    RequirePrefix(prefix);
    Require(std::isfinite(base) && base >= 1 && base <= 1e30,
            "base must be a number in 1..1e30, got {}", base);
    if (base_size) RequireGrid("base_size", *base_size);
    RequireScale("interpolation_scale", interpolation_scale, kSmallestScale);
  }

  /// Throws ParameterError unless every position is one of a token.
  void CheckPositions(const std::vector<double>& positions) const {
    RequirePositionsBelow(PositionCount(), positions);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("width", self.width, "channels of a row, a multiple of 4");
    visit("grid_h", self.grid_h, "patches of a column of the grid");
    visit("grid_w", self.grid_w, "patches of a row of the grid");
    visit("first_axis", self.first_axis, "what the first half of the channels tells of");
    visit("prefix", self.prefix, "rows of zeros before the grid's");
    visit("base", self.base, "the largest period over the smallest, at least 1");
    visit("base_size", self.base_size,
          "coordinates run as over a grid of this size (diffusers); not set: index by index");
    visit("interpolation_scale", self.interpolation_scale, "divides the coordinates");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::sincos2d
