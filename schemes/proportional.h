#pragma once

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge::proportional {

/// The fast part of the pairs turns, the slow rest stands still: with d = rotary_dim, published
/// models the whole head, and k = floor(proportion * d / 2),
///   frequency_i = base^(-2i/d) / factor for i < k, else 0. Magnitude 1.
/// Not partial rotary embedding: that pairs the channels of a narrower block and divides the
/// exponent by its width. Gemma 4's global layers; rope type `proportional` in transformers.
struct Params {
  static constexpr std::string_view kName = "proportional";
  static constexpr std::string_view kSummary =
      "the first pairs of the head turn, the others stand still";
  static constexpr std::string_view kEquation =
      "frequency_i = base^(-2i/d) / factor for i < floor(proportion d/2), else 0, d = rotary_dim";
  static constexpr std::string_view kSource =
      "huggingface/transformers, modeling_rope_utils, rope type proportional";

  Rotary rotary;
  double proportion = 1;
  double factor = 1;

  void Validate() const {
    rotary.Validate();
    Require(proportion >= 0 && proportion <= 1, "proportion must be in 0..1, got {}", proportion);
    RequireScale("factor", factor, kSmallestScale);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Rotary::Fields(self.rotary, visit);
    visit("proportion", self.proportion,
          "of the pairs that turn, 0..1: floor(proportion * rotary_dim / 2) of them "
          "(partial_rotary_factor)");
    visit("factor", self.factor, "every angle is divided by it; above 0");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::proportional
