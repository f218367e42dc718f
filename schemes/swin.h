#pragma once

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/weight.h"
#include "posgauge/schemes/base/window.h"

namespace posgauge::swin {

/// A learned bias a head and offset of two tokens of a window:
///   bias = table[(y_i - y_j + h - 1)(2w - 1) + x_i - x_j + w - 1][head].
/// Liu et al. 2021, arXiv:2103.14030, sec. 3.2, eq. 4; code in microsoft/Swin-Transformer,
/// models/swin_transformer.py. The mask of shifted windows is the caller's.
struct Params {
  static constexpr std::string_view kName = "swin";
  static constexpr std::string_view kSummary = "a learned bias for every offset within a window";
  static constexpr std::string_view kEquation =
      "bias = table[(y_i - y_j + h - 1)(2w - 1) + x_i - x_j + w - 1][head], token = y w + x";
  static constexpr std::string_view kSource = "Liu et al. 2021, arXiv:2103.14030, sec. 3.2, eq. 4";

  Attention attention = {.causal = false};
  Window window;

  int64_t PositionCount() const { return window.Tokens(); }

  void Validate() const {
    attention.Validate();
    RequireNoOrder(attention);
    window.Validate();
  }

  std::vector<Weight> Weights() const {
    return {{"table", {window.Offsets(), attention.heads}, "the bias of every offset and head"}};
  }

  /// Throws ParameterError unless every position is one of a token.
  void CheckPositions(const std::vector<double>& queries, const std::vector<double>& keys) const {
    window.CheckPositions(queries, keys);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    Window::Fields(self.window, visit);
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::swin
