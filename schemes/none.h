#pragma once

#include <optional>

#include "posgauge/schemes/base/attention.h"

namespace posgauge::none {

/// No positional encoding: scores are scale <q, k>, and only a causal mask tells positions apart.
/// Kazemnejad et al. 2023, arXiv:2305.19466.
///
/// With a temperature, as in the layers of Llama 4 that do not rotate, late queries are sharpened:
/// a query at position p is multiplied by
///   temperature_scale ln(floor((p + 1)/temperature_floor_scale) + 1) + 1.
/// `attn_temperature_tuning`, `floor_scale` and `attn_scale` of transformers' Llama4TextAttention.
struct Params {
  static constexpr std::string_view kName = "none";
  static constexpr std::string_view kSummary = "no positional encoding (NoPE)";
  static constexpr std::string_view kEquation =
      "score = scale <q_i, k_j>, times temperature_scale ln(floor((i + 1)/temperature_floor_scale) "
      "+ 1) + 1 where they are set";
  static constexpr std::string_view kSource = "Kazemnejad et al. 2023, arXiv:2305.19466";

  Attention attention;
  std::optional<int64_t> temperature_floor_scale = {};  // tokens
  std::optional<double> temperature_scale = {};

  void Validate() const {
    attention.Validate();
    Require(temperature_floor_scale.has_value() == temperature_scale.has_value(),
            "temperature_floor_scale and temperature_scale must be given together, {} is missing",
            temperature_scale ? "temperature_floor_scale" : "temperature_scale");
    if (!temperature_scale) return;
    RequireLength("temperature_floor_scale", *temperature_floor_scale);
    RequireScale("temperature_scale", *temperature_scale, 0);
  }

  /// Throws ParameterError unless those of queries with a temperature are whole and not negative.
  void CheckPositions(const std::vector<double>& queries, const std::vector<double>&) const {
    if (temperature_scale) RequirePositionsBelow(int64_t{1} << 53, queries);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("temperature_floor_scale", self.temperature_floor_scale,
          "tokens of a step of the temperature");
    visit("temperature_scale", self.temperature_scale,
          "growth of the factor on queries, with the logarithm of the steps");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::none
