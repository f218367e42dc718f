#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/schemes/base/turning.h"
#include "posgauge/schemes/base/weight.h"
#include "posgauge/schemes/base/window.h"

namespace posgauge::mixed {

/// Rotary scores of patches of an image whose pairs count both axes at once, by learned frequencies
/// of every head:
///   s_ij = scale sum over pairs n of Re(conj(q_n) k_n e^(i phi)),
///   phi = (x_j - x_i) x_frequency[head][n] + (y_j - y_i) y_frequency[head][n].
/// Heo et al. 2024 (RoPE-Mixed), arXiv:2403.13298, sec. 3.2.2, eq. 9; code in naver-ai/rope-vit,
/// compute_mixed_cis, whose frequencies have no base. A class token, which does not turn there, is
/// one at position 0.
struct Params {
  static constexpr std::string_view kName = "mixed";
  static constexpr std::string_view kSummary =
      "rotary scores of patches whose pairs count both axes, by learned frequencies";
  static constexpr std::string_view kEquation =
      "score = scale sum over pairs n of Re(conj(q_n) k_n e^(i((x_j - x_i) x_frequency_n + (y_j - "
      "y_i) y_frequency_n))), token = y window_w + x";
  static constexpr std::string_view kSource =
      "Heo et al. 2024, arXiv:2403.13298, sec. 3.2.2, eq. 9; naver-ai/rope-vit";

  Attention attention = {.causal = false};
  Turning turning = {.pairing = Pairing::interleaved};  // its base counts nowhere
  Window window = {.h = 14, .w = 14};

  int64_t PositionCount() const { return window.Tokens(); }

  void Validate() const {
    attention.Validate();
    RequireNoOrder(attention);
    turning.Validate(attention);
    Require(turning.Of(attention).Pairs() > 0,
            "rotary_dim must be at least 2, got {}: without pairs there are no frequencies",
            turning.Of(attention).rotary_dim);
    window.Validate();
  }

  std::vector<Weight> Weights() const {
    // Radians a patch; within the window an angle is then below 2^29.
    constexpr double kLargest = 0x1p20;
    const std::vector<int64_t> shape = {attention.heads, turning.Of(attention).Pairs()};
    return {{"x_frequency", shape, "radians a column of patches", -kLargest, kLargest},
            {"y_frequency", shape, "radians a row of patches", -kLargest, kLargest}};
  }

  /// Throws ParameterError unless every position is one of a patch.
  void CheckPositions(const std::vector<double>& queries, const std::vector<double>& keys) const {
    window.CheckPositions(queries, keys);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("rotary_dim", self.turning.rotary_dim,
          "channels that turn, the first ones, even and at least 2; or all");
    visit("pairing", self.turning.pairing,
          "half pairs (i, i + rotary_dim/2); interleaved pairs (2i, 2i+1)");
    Window::Fields(self.window, visit);
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::mixed
