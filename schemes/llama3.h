#pragma once

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge::llama3 {

/// Llama 3.x frequency scaling: pairs with a wavelength below original_length/high_frequency_factor
/// are kept, those above original_length/low_frequency_factor divided by factor, blended between.
/// Meta llama-models `apply_scaling`; equal to YaRN's by-parts ramp (arXiv:2309.00071, eqs. 17-20)
/// with alpha = low_frequency_factor, beta = high_frequency_factor and no temperature. Magnitude 1.
struct Params {
  static constexpr std::string_view kName = "llama3";
  static constexpr std::string_view kSummary = "Llama 3 frequency scaling by wavelength";
  static constexpr std::string_view kEquation =
      "frequency_i' = ((1 - s)/factor + s) frequency_i, s = clamp((r - low)/(high - low), 0, 1), r "
      "= original_length frequency_i / 2 pi";
  static constexpr std::string_view kSource = "Meta llama-models, apply_scaling";

  Rotary rotary{.base = 500000};
  double factor = 8;
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  int64_t original_length = 8192;

  void Validate() const {
    rotary.Validate();
    RequireScale("factor", factor, 1);
    RequireScale("low_frequency_factor", low_frequency_factor, kSmallestScale);
    RequireScale("high_frequency_factor", high_frequency_factor, kSmallestScale);
    Require(low_frequency_factor <= high_frequency_factor,
            "high_frequency_factor must be at least low_frequency_factor {}, got {}",
            low_frequency_factor, high_frequency_factor);
    RequireLength("original_length", original_length);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Rotary::Fields(self.rotary, visit);
    visit("factor", self.factor, "context extension s, at least 1");
    visit("low_frequency_factor", self.low_frequency_factor,
          "turns over original_length below which a pair is divided by factor");
    visit("high_frequency_factor", self.high_frequency_factor,
          "turns over original_length above which a pair is kept; equal to the low one: a step");
    visit("original_length", self.original_length, "tokens of the original context");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::llama3
