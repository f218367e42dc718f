#pragma once

#include <cmath>
#include <utility>

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::transformer_xl {

/// Scores of content and of sinusoidal offsets, with two learned biases:
///   s_ij = scale (<q_i + u, k_j> + <q_i + v, W R_(i-j)>),
/// R_o the sinusoid of offset o, all sines, then all cosines.
/// Dai et al. 2019, arXiv:1901.02860, sec. 3.3; `clamp_length` as in the authors' code.
struct Params {
  static constexpr std::string_view kName = "transformer_xl";
  static constexpr std::string_view kSummary = "scores of content and of sinusoidal offsets";
  static constexpr std::string_view kEquation =
      "score = scale (<q_i + u, k_j> + <q_i + v, W R_(i-j)>), R_o the sinusoid of offset o";
  static constexpr std::string_view kSource = "Dai et al. 2019, arXiv:1901.02860, sec. 3.3";

  Attention attention;
  int64_t model_width = 512;
  double base = 10000;
  std::optional<int64_t> clamp_length = {};  // tokens

  void Validate() const {
    attention.Validate();
    Require(model_width >= 2 && model_width % 2 == 0 && model_width <= 65536,
            "model_width must be even and in 2..65536, got {}", model_width);
    Require(base > 1, "base must be above 1, got {}", base);
    if (clamp_length) {
      Require(*clamp_length >= 1, "clamp_length must be at least 1, got {}", *clamp_length);
    }
  }

  std::vector<Weight> Weights() const {
    // A matrix that keeps the size of what it multiplies, as models are initialised.
    Weight matrix{"position_weight", {attention.heads, attention.head_dim, model_width}, "W"};
    matrix.typical = 1 / std::sqrt(static_cast<double>(model_width));
    return {{"content_bias", {attention.heads, attention.head_dim}, "u"},
            {"position_bias", {attention.heads, attention.head_dim}, "v"},
            std::move(matrix)};
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("model_width", self.model_width, "channels of the sinusoid");
    visit("base", self.base, "frequency k is base^(-2k/model_width) radians per token");
    visit("clamp_length", self.clamp_length, "larger offsets count as this one");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::transformer_xl
