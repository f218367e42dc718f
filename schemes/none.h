#pragma once

#include "posgauge/schemes/base/attention.h"

namespace posgauge::none {

/// No positional encoding: scores are scale <q, k>, and only a causal mask tells positions apart.
/// Kazemnejad et al. 2023, arXiv:2305.19466.
struct Params {
  static constexpr std::string_view kName = "none";
  static constexpr std::string_view kSummary = "no positional encoding (NoPE)";
  static constexpr std::string_view kEquation = "score = scale <q_i, k_j>";
  static constexpr std::string_view kSource = "Kazemnejad et al. 2023, arXiv:2305.19466";

  Attention attention;

  void Validate() const { attention.Validate(); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::none
