#pragma once

#include "posgauge/schemes/base/rotary.h"

namespace posgauge::rope {

/// Rotary position embedding: frequency_i = base^(-2i/rotary_dim), magnitude 1.
/// Su et al. 2021, arXiv:2104.09864, eqs. 13-16 (theta_i with i counted from 1 there).
struct Params {
  static constexpr std::string_view kName = "rope";
  static constexpr std::string_view kSummary = "rotary embedding, unscaled";
  static constexpr std::string_view kEquation =
      "frequency_i = base^(-2i/rotary_dim); pair i at position p turns by p frequency_i radians";
  static constexpr std::string_view kSource = "Su et al. 2021, arXiv:2104.09864, eqs. 13-16";

  Rotary rotary;

  void Validate() const { rotary.Validate(); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Rotary::Fields(self.rotary, visit);
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::rope
