#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/fields.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::resampled {

/// Linear between two rows of an axis, or cubic convolution over four.
enum class Filter { bilinear, bicubic };

}  // namespace posgauge::resampled

namespace posgauge {
template <>
inline constexpr auto kVariantNames<resampled::Filter> =
    std::array<std::string_view, 2>{"bilinear", "bicubic"};
}  // namespace posgauge

namespace posgauge::resampled {

/// A learned table of a grid of patches, resampled to another grid as torch's interpolate does it:
/// position prefix + h target_w + w is the row of target row h and column w. Rows of the prefix are
/// kept as they are. By model:
///
///   MAE               bicubic, cubic -3/4
///   timm              bicubic, cubic -1/2, antialias
///   DINOv2            bicubic, cubic -3/4, offset 0.1; or scale_h = scale_w = (target + 0.1)/grid
///                     as the program rounded it
///
/// Keys 1981, IEEE TASSP 29(6), eq. 4 of its cubic convolution; ATen/native/UpSample.h.
struct Params {
  static constexpr std::string_view kName = "resampled";
  static constexpr std::string_view kSummary = "a learned table resampled to another grid";
  static constexpr std::string_view kEquation =
      "row = sum over h, w of weight_h weight_w table[h, w], the weights those of cubic or linear "
      "resampling";
  static constexpr std::string_view kSource = "Keys 1981, IEEE TASSP 29(6); ATen/native/UpSample.h";

  int64_t width = 768;
  int64_t grid_h = 14;
  int64_t grid_w = 14;
  int64_t target_h = 16;
  int64_t target_w = 16;
  int64_t prefix = 1;
  Filter filter = Filter::bicubic;
  double cubic = -0.75;
  bool align_corners = false;
  bool antialias = false;
  double offset = 0;
  std::optional<double> scale_h = {};
  std::optional<double> scale_w = {};

  int64_t PositionCount() const { return prefix + target_h * target_w; }

  void Validate() const {
    RequireWidth(width);
    RequireGrid("grid_h", grid_h);
    RequireGrid("grid_w", grid_w);
    RequireGrid("target_h", target_h);
    RequireGrid("target_w", target_w);
    RequirePrefix(prefix);
    Require(prefix + grid_h * grid_w <= kLargestElements / width,
            "prefix + grid_h * grid_w must be at most {}, got {}", kLargestElements / width,
            prefix + grid_h * grid_w);
    Require(cubic >= -1 && cubic <= 0, "cubic must be in -1..0, got {}", cubic);
    Require(offset >= 0 && offset < 1, "offset must be at least 0 and below 1, got {}", offset);
    Require(!align_corners || (!antialias && offset == 0 && !scale_h && !scale_w),
            "align_corners goes with neither antialias nor offset nor scales");
    CheckScale("scale_h", scale_h, grid_h, target_h);
    CheckScale("scale_w", scale_w, grid_w, target_w);
  }

  std::vector<Weight> Weights() const {
    return {{"table", {prefix + grid_h * grid_w, width}, "learned rows, the prefix first"}};
  }

  /// Throws ParameterError unless every position is one of a token.
  void CheckPositions(const std::vector<double>& positions) const {
    RequirePositionsBelow(PositionCount(), positions);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("width", self.width, "channels of a row");
    visit("grid_h", self.grid_h, "rows of the table's grid");
    visit("grid_w", self.grid_w, "columns of the table's grid");
    visit("target_h", self.target_h, "rows of the grid that is asked for");
    visit("target_w", self.target_w, "columns of the grid that is asked for");
    visit("prefix", self.prefix, "rows before the grid's, kept as they are");
    visit("filter", self.filter, "bilinear or bicubic");
    visit("cubic", self.cubic,
          "the cubic's slope at 1: -0.75 of torch, -0.5 of Keys and antialias");
    visit("align_corners", self.align_corners, "the corners of both grids coincide");
    visit("antialias", self.antialias, "the filter widens where the grid shrinks");
    visit("offset", self.offset, "added to the target's size in the step (DINOv2: 0.1)");
    visit("scale_h", self.scale_h, "the step is its inverse; not set: sizes decide");
    visit("scale_w", self.scale_w, "the step is its inverse; not set: sizes decide");
  }
  bool operator==(const Params&) const = default;

 private:
  // torch makes the target's size from the scale.
  void CheckScale(std::string_view name, std::optional<double> scale, int64_t grid,
                  int64_t target) const {
    if (!scale) return;
    RequireScale(name, *scale, kSmallestScale);
    Require(offset == 0, "offset and {} say the same thing twice", name);
    const double size = std::floor(static_cast<double>(grid) * *scale);
    Require(size == static_cast<double>(target), "{} makes {} of {}, but the target is {}", name,
            size, grid, target);
  }
};

}  // namespace posgauge::resampled
