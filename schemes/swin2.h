#pragma once

#include <optional>

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/weight.h"
#include "posgauge/schemes/base/window.h"

namespace posgauge::swin2 {

/// Coordinates over an axis of one token, whose formula is 0/0: refused, or 0 (transformers).
enum class OneToken { refuse, zero };

}  // namespace posgauge::swin2

namespace posgauge {
template <>
inline constexpr auto kVariantNames<swin2::OneToken> =
    std::array<std::string_view, 2>{"refuse", "zero"};
}  // namespace posgauge

namespace posgauge::swin2 {

/// Cosine attention and a bias that a small network makes of log-spaced coordinates:
///   s_ij = cos(q_i, k_j) exp(min(tau, ln 100)) + 16 sigmoid(w2 . relu(w1 (c_y, c_x) + b1)),
///   c = sign(u) log2(|u| + 1) / log2 8,  u = 8 (y_i - y_j) / (h - 1), and so for x,
/// the cosine with norms of at least 1e-12. Liu et al. 2022, arXiv:2111.09883, eqs. 2 to 4; code in
/// microsoft/Swin-Transformer, models/swin_transformer_v2.py.
struct Params {
  static constexpr std::string_view kName = "swin2";
  static constexpr std::string_view kSummary =
      "cosine scores and a network of log-spaced offsets within a window";
  static constexpr std::string_view kEquation =
      "score = cos(q_i, k_j) exp(min(tau, ln 100)) + 16 sigmoid(w2 . relu(w1 c + b1)), c = sign(u) "
      "log2(|u| + 1)/log2 8, u = 8 offset/(side - 1), the side of the pretrained window where "
      "there "
      "is one; norms in the cosine of at least 1e-12";
  static constexpr std::string_view kSource = "Liu et al. 2022, arXiv:2111.09883, eqs. 2-4";
  static constexpr bool kOwnContent = true;

  Attention attention = {.causal = false, .scale = ScoreScale::one};
  Window window = {.h = 8, .w = 8};
  std::optional<int64_t> pretrained_h = {};
  std::optional<int64_t> pretrained_w = {};
  int64_t mlp_width = 512;
  OneToken one_token = OneToken::refuse;

  /// Tokens that the coordinates of an axis run over.
  int64_t ExtentH() const { return pretrained_h.value_or(window.h); }
  int64_t ExtentW() const { return pretrained_w.value_or(window.w); }

  int64_t PositionCount() const { return window.Tokens(); }

  void Validate() const {
    attention.Validate();
    RequireNoOrder(attention);
    Require(attention.scale == ScoreScale::one,
            "scale must be one, got {}: cosines are scaled by exp(tau)",
            VariantName(attention.scale));
    window.Validate();
    for (const auto& [name, side] :
         {std::pair("pretrained_h", pretrained_h), std::pair("pretrained_w", pretrained_w)}) {
      Require(!side || (*side >= 1 && *side <= kLargestWindow), "{} must be in 1..{}, got {}", name,
              kLargestWindow, side.value_or(0));
    }
    Require(one_token == OneToken::zero || (ExtentH() > 1 && ExtentW() > 1),
            "one_token must be zero for an axis of one token, whose coordinates are 0/0");
    Require(mlp_width >= 1 && mlp_width <= 65536, "mlp_width must be in 1..65536, got {}",
            mlp_width);
  }

  std::vector<Weight> Weights() const {
    constexpr double kLowest = std::numeric_limits<double>::lowest(),
                     kLargest = std::numeric_limits<double>::max();
    return {{"w1", {mlp_width, 2}, "first layer: of the row's coordinate, of the column's"},
            {"b1", {mlp_width}, "its offsets"},
            {"w2", {attention.heads, mlp_width}, "second layer"},
            {"tau", {attention.heads}, "logarithm of the scale", kLowest, kLargest, 3}};
  }

  /// Throws ParameterError unless every position is one of a token.
  void CheckPositions(const std::vector<double>& queries, const std::vector<double>& keys) const {
    window.CheckPositions(queries, keys);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    Window::Fields(self.window, visit);
    visit("pretrained_h", self.pretrained_h,
          "coordinates run as over a window of this height; not set: the window's own");
    visit("pretrained_w", self.pretrained_w, "and of this width");
    visit("mlp_width", self.mlp_width, "units of the hidden layer");
    visit("one_token", self.one_token, "coordinates over an axis of one token: refused, or 0");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::swin2
