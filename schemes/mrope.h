#pragma once

#include <algorithm>
#include <vector>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/section.h"

namespace posgauge::mrope {

/// Which axis pair i counts: 0 is time, 1 height, 2 width, 3 what a fourth position means.
///   contiguous        blocks in the order of `section`. Qwen2-VL; with four entries ggml's MROPE
///   interleaved       i % 3 == 1 and i < 3 section[1]: height; i % 3 == 2 and i < 3 section[2]:
///                     width; else time. Qwen3-VL. Where 3 section[1] or 3 section[2] exceeds the
///                     pairs, fewer pairs than the section says count that axis
///   interleaved_ggml  the same, but what is neither height nor width counts time only for
///                     i % 3 == 0 and i < 3 section[0], else the fourth axis. ggml's IMROPE
///   ernie             `section` is (height, width, time), the first two equal: they alternate,
///                     height on even pairs, then time. ERNIE 4.5 VL
///   openpangu         dealt pair by pair to the axis that has the smallest share of its section so
///                     far, the first of equals, and to none twice in a row while others have pairs
///                     left; the last pair of three axes counts time. Two axes are height and
///                     width. openPangu; vLLM's mrope_interleaved.py
enum class Order { contiguous, interleaved, interleaved_ggml, ernie, openpangu };

}  // namespace posgauge::mrope

namespace posgauge {
template <>
inline constexpr auto kVariantNames<mrope::Order> = std::array<std::string_view, 5>{
    "contiguous", "interleaved", "interleaved_ggml", "ernie", "openpangu"};
}  // namespace posgauge

namespace posgauge::mrope {

/// Rotary embedding of a position of several axes, (time, height, width) and maybe a fourth:
/// frequency_i = base^(-2i/rotary_dim) as in rope, and pair i turns by frequency_i times the
/// position on its axis. Wang et al. 2024 (Qwen2-VL), arXiv:2409.12191, sec. 2.1.
struct Params {
  static constexpr std::string_view kName = "mrope";
  static constexpr std::string_view kSummary =
      "rotary embedding over time, height and width: every pair counts one axis";
  static constexpr std::string_view kEquation =
      "frequency_i = base^(-2i/rotary_dim); pair i at position (t, h, w) turns by the one of them "
      "that it counts times frequency_i radians; openpangu deals pairs one by one to the axis with "
      "the smallest share of its section dealt, never the same twice where another is left, the "
      "last of three axes' pairs to the first, which is then not of its share";
  static constexpr std::string_view kSource = "Wang et al. 2024, arXiv:2409.12191, sec. 2.1";

  Rotary rotary;
  std::vector<int64_t> section = {16, 24, 24};  // pairs of each axis
  Order order = Order::contiguous;

  /// Positions are [tokens, axes].
  int64_t AxisCount() const { return static_cast<int64_t>(section.size()); }

  /// The axis whose position pair i counts.
  int64_t AxisOf(int64_t pair) const {
    if (order == Order::contiguous) return FindInSection(section, pair).block;
    if (order == Order::ernie) {
      return pair < section[0] + section[1] ? 1 + pair % 2 : 0;
    }
    if (order == Order::openpangu) return DealtTo(pair);
    const int64_t axis = pair % 3;
    const bool fits = pair < 3 * section[static_cast<size_t>(axis)];
    if (order == Order::interleaved) return fits ? axis : 0;
    return fits ? axis : 3;
  }

  void Validate() const {
    rotary.Validate();
    const bool four = order == Order::interleaved_ggml;
    RequireSection(section,
                   four                        ? 4
                   : order == Order::openpangu ? 2
                                               : 3,
                   four || order == Order::contiguous ? 4 : 3, rotary);
    Require(order != Order::ernie || section[0] == section[1],
            "section must begin with two equal entries (height, width, time) in the order ernie, "
            "got {} and {}",
            section[0], section[1]);
    Require(order != Order::openpangu || section.size() == 2 || section[0] >= 1,
            "section[0] must be at least 1 in the order openpangu, whose last pair counts time");
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Rotary::Fields(self.rotary, visit);
    visit("section", self.section,
          "pairs that count time, height, width and maybe a fourth axis (ernie: height, width, "
          "time; openpangu: also height and width alone); they sum to rotary_dim/2");
    visit("order", self.order,
          "which pairs: blocks in the order of section, or dealt in turn as Qwen3-VL, ggml's "
          "IMROPE, ERNIE 4.5 VL or openPangu do");
  }
  bool operator==(const Params&) const = default;

 private:
  // The axis that openPangu's deal gives pair `pair`.
  int64_t DealtTo(int64_t pair) const {
    std::vector<int64_t> dealt = section;
    if (section.size() == 3) {
      if (pair == rotary.Pairs() - 1) return 0;
      --dealt[0];
    }
    std::vector<int64_t> placed(dealt.size(), 0);
    const auto has_left = [&](size_t axis) { return placed[axis] < dealt[axis]; };
    size_t last = dealt.size();
    for (int64_t i = 0; i <= pair; ++i) {
      size_t best = dealt.size();
      for (size_t axis = 0; axis < dealt.size(); ++axis) {
        if (axis == last || !has_left(axis)) continue;
        // placed/dealt of the two, multiplied out.
        if (best == dealt.size() || placed[axis] * dealt[best] < placed[best] * dealt[axis]) {
          best = axis;
        }
      }
      if (best == dealt.size()) best = last;  // no other axis has pairs left
      ++placed[best];
      last = best;
    }
    return static_cast<int64_t>(last);
  }
};

}  // namespace posgauge::mrope
