#pragma once

#include <optional>
#include <vector>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge::longrope {

/// LongRoPE as Phi-3 and its successors have it: every pair has a factor of its own, from one of
/// two lists: frequency_i = base^(-2i/rotary_dim) / long_factor[i] where the current length exceeds
/// original_length, else / short_factor[i]. Magnitude sqrt(1 + ln s/ln original_length), 1 for
/// s <= 1, the same in both regimes, unless the parameters replace it.
/// Ding et al. 2024, arXiv:2402.13753; rope types `longrope` and `su` in transformers.
struct Params {
  static constexpr std::string_view kName = "longrope";
  static constexpr std::string_view kSummary =
      "LongRoPE: a factor for every pair, by the current length";
  static constexpr std::string_view kEquation =
      "frequency_i = base^(-2i/rotary_dim) / F_i, F the long list beyond original_length, else the "
      "short one; magnitude sqrt(1 + ln factor/ln original_length)";
  static constexpr std::string_view kSource = "Ding et al. 2024, arXiv:2402.13753, eq. 1, sec. 3.3";

  Rotary rotary;
  std::optional<std::vector<double>> short_factor = {};  // [pairs]; not set: all 1
  std::optional<std::vector<double>> long_factor = {};   // [pairs]; not set: all 1
  int64_t original_length = 4096;
  std::optional<int64_t> length = {};  // tokens
  double factor = 1;
  std::optional<double> attention_factor = {};
  std::optional<double> short_mscale = {};
  std::optional<double> long_mscale = {};

  void Validate() const {
    rotary.Validate();
    ValidateList("short_factor", short_factor);
    ValidateList("long_factor", long_factor);
    // ln 1 = 0 divides.
    RequireLength("original_length", original_length, 2);
    if (length) RequireLength("length", *length, 0);
    const bool regimes = short_factor || long_factor || short_mscale || long_mscale;
    Require(length.has_value() || !regimes,
            "length must be given: the current length in tokens chooses between the short and the "
            "long factors");
    RequireScale("factor", factor, kSmallestScale);
    if (attention_factor) RequireScale("attention_factor", *attention_factor, kSmallestScale);
    if (short_mscale) RequireScale("short_mscale", *short_mscale, kSmallestScale);
    if (long_mscale) RequireScale("long_mscale", *long_mscale, kSmallestScale);
    Require(
        !attention_factor || (!short_mscale && !long_mscale),
        "attention_factor and short_mscale or long_mscale both replace the magnitude: keep one");
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Rotary::Fields(self.rotary, visit);
    visit("short_factor", self.short_factor,
          "divides pair i up to original_length: rotary_dim/2 numbers above 0; not set: all 1");
    visit("long_factor", self.long_factor,
          "divides pair i beyond original_length: rotary_dim/2 numbers above 0; not set: all 1");
    visit("original_length", self.original_length,
          "tokens of the original context, the last length of the short factors; at least 2");
    visit("length", self.length, "current length in tokens: largest position + 1");
    visit("factor", self.factor, "context extension s, from which the magnitude follows");
    visit("attention_factor", self.attention_factor, "replaces the magnitude altogether");
    visit("short_mscale", self.short_mscale, "replaces the magnitude up to original_length");
    visit("long_mscale", self.long_mscale, "replaces the magnitude beyond original_length");
  }
  bool operator==(const Params&) const = default;

 private:
  void ValidateList(std::string_view field, const std::optional<std::vector<double>>& list) const {
    if (!list) return;
    Require(static_cast<int64_t>(list->size()) == rotary.Pairs(),
            "{} must have {} entries (rotary_dim/2), got {}", field, rotary.Pairs(), list->size());
    for (size_t i = 0; i < list->size(); ++i) {
      RequireScale(fmt::format("{}[{}]", field, i), (*list)[i], kSmallestScale);
    }
  }
};

}  // namespace posgauge::longrope
