#pragma once

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::fire {

/// Functional interpolation of relative positions:
///   x = psi(i - j) / (psi(max(L, i)) + epsilon),  psi(t) = ln(1 + c |t|),
///   bias_h = w2_h . relu(w1 x + b1) + b2_h.
/// Li et al. 2024, arXiv:2310.04418, eqs. 6 to 8; epsilon as in the published listing.
struct Params {
  static constexpr std::string_view kName = "fire";
  static constexpr std::string_view kSummary = "a small network of the normalised log distance";
  static constexpr std::string_view kEquation =
      "bias = w2 . relu(w1 x + b1) + b2, x = psi(i - j)/(psi(max(L, i)) + epsilon), psi(t) = ln(1 "
      "+ c |t|)";
  static constexpr std::string_view kSource = "Li et al. 2024, arXiv:2310.04418, eqs. 6-8";

  Attention attention;
  int64_t mlp_width = 32;
  double epsilon = 1e-6;

  void Validate() const {
    attention.Validate();
    Require(mlp_width >= 1 && mlp_width <= 65536, "mlp_width must be in 1..65536, got {}",
            mlp_width);
    Require(epsilon >= 0 && epsilon <= 1, "epsilon must be in 0..1, got {}", epsilon);
  }

  std::vector<Weight> Weights() const {
    constexpr double kAboveZero = 0x1p-1022, kLargest = std::numeric_limits<double>::max();
    return {{"c", {1}, "rate of the logarithm, above 0", kAboveZero},
            {"threshold", {1}, "L, tokens, above 0", kAboveZero, kLargest, 512},
            {"w1", {mlp_width}, "first layer"},
            {"b1", {mlp_width}, "its offsets"},
            {"w2", {attention.heads, mlp_width}, "second layer"},
            {"b2", {attention.heads}, "its offsets"}};
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("mlp_width", self.mlp_width, "units of the hidden layer");
    visit("epsilon", self.epsilon, "added to the denominator, 0 in the paper");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::fire
