#pragma once

#include <cmath>

#include "posgauge/schemes/base/turning.h"

namespace posgauge::xpos {

/// Rotary scores whose pairs fade with the distance, the fast ones first:
///   s_ij = scale sum over pairs n of zeta_n^((i - j)/scale_base) Re(conj(q_n) k_n e^(i(j -
///   i)w_n)), zeta_n = (2n/rotary_dim + gamma) / (1 + gamma),
/// and the plain products of channels that do not turn. Sun et al. 2022, arXiv:2212.10554, eqs. 17
/// to 19 and algorithm 1. Code multiplies q by zeta^((i - c)/scale_base) and k by its inverse
/// power, c about the middle of the run; c cancels where queries and keys share it.
struct Params {
  static constexpr std::string_view kName = "xpos";
  static constexpr std::string_view kSummary = "rotary scores whose pairs fade with the distance";
  static constexpr std::string_view kEquation =
      "score = scale sum over pairs n of zeta_n^((i - j)/scale_base) Re(conj(q_n) k_n e^(i(j - i)"
      "w_n)), zeta_n = (2n/rotary_dim + gamma)/(1 + gamma)";
  static constexpr std::string_view kSource = "Sun et al. 2022, arXiv:2212.10554, eqs. 17-19";

  Attention attention;
  Turning turning = {.pairing = Pairing::interleaved};
  double scale_base = 512;  // tokens
  double gamma = 0.4;

  void Validate() const {
    attention.Validate();
    turning.Validate(attention);
    // From 2^89 on no power differs from 1 in double within the positions that kernels take: 2^32
    // and ln zeta above -13.9.
    Require(std::isfinite(scale_base) && scale_base >= kSmallestScale && scale_base <= 0x1p100,
            "scale_base must be in {}..2^100, got {}", kSmallestScale, scale_base);
    RequireScale("gamma", gamma, kSmallestScale);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    Turning::Fields(self.turning, visit);
    visit("scale_base", self.scale_base, "tokens within which pair n fades by zeta_n");
    visit("gamma", self.gamma, "zeta_n = (2n/rotary_dim + gamma)/(1 + gamma)");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::xpos
