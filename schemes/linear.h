#pragma once

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge::linear {

/// Position interpolation: frequency_i = base^(-2i/rotary_dim) / factor, magnitude 1.
/// Chen et al. 2023, arXiv:2306.15595, eq. 4. Also called PI, `linear`, rope_condense_ratio.
struct Params {
  static constexpr std::string_view kName = "linear";
  static constexpr std::string_view kSummary = "position interpolation (PI): all angles divided";
  static constexpr std::string_view kEquation = "frequency_i = base^(-2i/rotary_dim) / factor";
  static constexpr std::string_view kSource = "Chen et al. 2023, arXiv:2306.15595, eq. 4";

  Rotary rotary;
  double factor = 1;

  void Validate() const {
    rotary.Validate();
    RequireScale("factor", factor, kSmallestScale);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Rotary::Fields(self.rotary, visit);
    visit("factor", self.factor,
          "every angle is divided by it; above 0 (below 1 it stretches, which is legal)");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::linear
