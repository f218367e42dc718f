#pragma once

#include <algorithm>
#include <vector>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/section.h"

namespace posgauge::axial {

/// The frequency of the j-th pair of axis a, of A axes.
///   restarting   base^(-j/section[a]): every axis has a full series over its own channels. FLUX,
///                EVA-02, the vision towers of Llama 4, Qwen2-VL and Gemma 4, rope-vit
///   alternating  base^(-2(A j + a)/rotary_dim): the axes take turns in one series; sections are
///                equal. Pixtral
enum class FrequencyIndex { restarting, alternating };

}  // namespace posgauge::axial

namespace posgauge {
template <>
inline constexpr auto kVariantNames<axial::FrequencyIndex> =
    std::array<std::string_view, 2>{"restarting", "alternating"};
}  // namespace posgauge

namespace posgauge::axial {

/// Axial rotary embedding of images and video: the pairs are in blocks, one an axis of the position
/// (height and width, or more), each a rotary embedding of its own. Fang et al. 2023 (EVA-02),
/// arXiv:2303.11331; Heo et al. 2024, arXiv:2403.13298, sec. 3.2.
struct Params {
  static constexpr std::string_view kName = "axial";
  static constexpr std::string_view kSummary =
      "rotary embedding over image axes: a block of pairs with its own frequencies for each";
  static constexpr std::string_view kEquation =
      "pair j of axis a turns by p_a base^(-j/section_a) radians, or by p_a base^(-2(A j + "
      "a)/rotary_dim) where the A axes take turns";
  static constexpr std::string_view kSource =
      "Heo et al. 2024, arXiv:2403.13298, sec. 3.2; Fang et al. 2023, arXiv:2303.11331";

  Rotary rotary = {.section = {32, 32}};  // pairs of each axis
  FrequencyIndex frequency_index = FrequencyIndex::restarting;

  /// Positions are [tokens, axes].
  int64_t AxisCount() const { return static_cast<int64_t>(rotary.section.size()); }

  /// The axis whose position pair i counts.
  int64_t AxisOf(int64_t pair) const { return FindInSection(rotary.section, pair).block; }

  /// The frequency of a pair is base^(-index/pairs).
  struct Exponent {
    int64_t index, pairs;
  };
  Exponent ExponentOf(int64_t pair) const {
    const PlaceInSection place = FindInSection(rotary.section, pair);
    if (frequency_index == FrequencyIndex::alternating) {
      return {AxisCount() * place.index + place.block, rotary.Pairs()};
    }
    return {place.index, rotary.section[static_cast<size_t>(place.block)]};
  }

  void Validate() const {
    const std::vector<int64_t>& section = rotary.section;
    rotary.Validate();
    RequireSection(section, 2, 8, rotary);
    Require(frequency_index == FrequencyIndex::restarting ||
                std::ranges::all_of(section, [&](int64_t pairs) { return pairs == section[0]; }),
            "section must have equal entries where frequencies alternate, got {}",
            fmt::join(section, ", "));
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Rotary::Fields(self.rotary, visit);
    visit("section", self.rotary.section,
          "pairs that count each axis, in blocks; they sum to rotary_dim/2");
    visit("frequency_index", self.frequency_index,
          "restarting: pair j of an axis has base^(-j/section); alternating: the axes take turns "
          "in base^(-2i/rotary_dim)");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::axial
