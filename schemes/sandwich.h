#pragma once

#include "posgauge/schemes/base/attention.h"

namespace posgauge::sandwich {

/// The inner products of sinusoidal rows as a bias:
///   S(D) = sum over k of cos(D base^(-2k/width)),   bias_h = S(i - j) H / (8 h), h = 1..H.
/// Chi et al. 2023, arXiv:2212.10356, sec. 3; the paper's own index runs from 1, the Gram matrix of
/// the sinusoid from 0. `centred` subtracts width/2, a constant that softmax does not see.
struct Params {
  static constexpr std::string_view kName = "sandwich";
  static constexpr std::string_view kSummary = "inner products of sinusoidal rows as a bias";
  static constexpr std::string_view kEquation =
      "bias = H/(8 h) times the sum over k of cos((i - j) base^(-2k/width)), h = 1..H";
  static constexpr std::string_view kSource = "Chi et al. 2023, arXiv:2212.10356, sec. 3";

  Attention attention;
  int64_t sandwich_width = 128;
  int64_t first_index = 0;
  bool centred = false;
  double base = 10000;

  void Validate() const {
    attention.Validate();
    Require(sandwich_width >= 2 && sandwich_width % 2 == 0 && sandwich_width <= 65536,
            "sandwich_width must be even and in 2..65536, got {}", sandwich_width);
    Require(first_index == 0 || first_index == 1, "first_index must be 0 or 1, got {}",
            first_index);
    Require(base > 1, "base must be above 1, got {}", base);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("sandwich_width", self.sandwich_width, "channels of the sinusoid; half as many cosines");
    visit("first_index", self.first_index, "0: cosines k = 0..width/2-1; 1: k = 1..width/2");
    visit("centred", self.centred, "subtract width/2");
    visit("base", self.base, "frequency k is base^(-2k/width) radians per token");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::sandwich
