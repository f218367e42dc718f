#pragma once

#include <bit>

#include "posgauge/schemes/base/attention.h"

namespace posgauge::alibi {

/// What is added to the score of query i and key j, with slope m. `relative`: -m (i - j), whatever
/// its sign. `symmetric`: -m |i - j|. `key`: m j (Press's code, BLOOM, Baichuan). `key_from_last`:
/// m (j - j_last) (MPT, vLLM). Under a causal mask all differ by a constant a row alone, which
/// softmax does not see; without one `symmetric` means something else.
enum class Form { relative, symmetric, key, key_from_last };

}  // namespace posgauge::alibi

namespace posgauge {
template <>
inline constexpr auto kVariantNames<alibi::Form> =
    std::array<std::string_view, 4>{"relative", "symmetric", "key", "key_from_last"};
}  // namespace posgauge

namespace posgauge::alibi {

/// Attention with linear biases: slope m_h of head h times the distance.
/// Press, Smith, Lewis 2022, arXiv:2108.12409, sec. 3; slopes of any number of heads as in the
/// authors' code (fairseq/models/transformer.py): 2^(-max_bias h/n) for h = 1..n, n the largest
/// power of two up to the number of heads, then the odd powers of 2^(-max_bias/(2n)).
struct Params {
  static constexpr std::string_view kName = "alibi";
  static constexpr std::string_view kSummary = "linear biases on scores, a slope a head";
  static constexpr std::string_view kEquation =
      "bias = -m_h (i - j), or as the form says; m_h = 2^(-max_bias h/n) for h = 1..n, n the "
      "largest power of two up to the heads, then the odd powers of 2^(-max_bias/(2n))";
  static constexpr std::string_view kSource = "Press, Smith, Lewis 2022, arXiv:2108.12409, sec. 3";

  Attention attention;
  double max_bias = 8;
  Form form = Form::relative;
  std::optional<int64_t> total_heads = {};
  int64_t first_head = 0;
  bool before_scale = false;

  /// Heads of the whole model, by which slopes go.
  int64_t TotalHeads() const { return total_heads.value_or(attention.heads); }

  void Validate() const {
    attention.Validate();
    Require(max_bias > 0 && max_bias <= 1024, "max_bias must be above 0 and at most 1024, got {}",
            max_bias);
    Require(TotalHeads() <= 65536, "total_heads must be at most 65536, got {}", TotalHeads());
    Require(first_head >= 0 && first_head + attention.heads <= TotalHeads(),
            "first_head + heads must be in 0..{} (total_heads), got {} + {}", TotalHeads(),
            first_head, attention.heads);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("max_bias", self.max_bias, "exponent range of the slopes, 8 in the paper");
    visit("form", self.form, "what the slope multiplies");
    visit("total_heads", self.total_heads,
          "heads of the model where these are a slice of them (tensor parallel)");
    visit("first_head", self.first_head, "index of the first of these heads in the model");
    visit("before_scale", self.before_scale,
          "the scale counts for the bias too: scale (<q, k> + bias), as in Falcon");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::alibi
