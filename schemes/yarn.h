#pragma once

#include <optional>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge::yarn {

/// Magnitude a on cos and sin, with g(s, m) = 1 for s <= 1, else 0.1 m ln s + 1 (eq. 22).
/// `huggingface`: g(s, mscale)/g(s, mscale_all_dim) if both are given and not 0, else g(s, 1).
/// `deepseek`: the same ratio with mscale 1 and mscale_all_dim 0 where not given (vLLM, MLX,
/// Megatron). `telechat3`: 0.07 ln s + 1. `none`: 1, a pure rotation (DeepSeek-V3's own code).
enum class Magnitude { huggingface, deepseek, telechat3, none };

/// What to do when the ramp's ends are inverted (low > high), where deployed code and the paper
/// disagree. `refuse`: an error. `huggingface`: the clamp of the negative width, as transformers,
/// vLLM and MLX compute it. `ggml`: width max(0.001, high - low).
enum class InvertedRamp { refuse, huggingface, ggml };

/// In what the ramp between kept and divided pairs is linear. `pairs`: in the pair index, between
/// the pairs that make beta_fast and beta_slow turns over original_length, as all deployed code has
/// it, the authors' own included; the models were trained with it. `turns`: in the turns
/// themselves, as the paper has it (eqs. 17-20, alpha = beta_slow, beta = beta_fast): with
/// magnitude=none this is NTK-by-parts, and llama3 is that with other defaults. The two differ by
/// up to 4 times in a frequency.
enum class RampOver { pairs, turns };

/// YaRN: fast pairs are kept, slow ones divided by the factor, the ones between blended by a ramp;
/// cos and sin are multiplied by a magnitude. Peng et al. 2023, arXiv:2309.00071. Where `length` is
/// given, dynamic YaRN (sec. 3.3): the factor is max(1, length/original_length).
struct Params {
  static constexpr std::string_view kName = "yarn";
  static constexpr std::string_view kSummary = "YaRN, fixed or dynamic: ramp over pairs or turns";
  static constexpr std::string_view kEquation =
      "frequency_i' = ((1 - g)/factor + g) frequency_i, g a ramp from 1 to 0 over the pairs that "
      "make beta_fast to beta_slow turns; magnitude 0.1 ln factor + 1";
  static constexpr std::string_view kSource = "Peng et al. 2023, arXiv:2309.00071, eqs. 17-22";

  Rotary rotary;
  double factor = 1;
  int64_t original_length = 4096;
  double beta_fast = 32;
  double beta_slow = 1;
  RampOver ramp = RampOver::pairs;
  bool truncate = true;
  double extrapolation_factor = 1;
  Magnitude magnitude = Magnitude::huggingface;
  double attention_multiplier = 1;
  std::optional<double> attention_factor = {};
  std::optional<double> mscale = {};
  std::optional<double> mscale_all_dim = {};
  InvertedRamp inverted_ramp = InvertedRamp::refuse;
  std::optional<int64_t> length = {};  // tokens; dynamic YaRN

  void Validate() const {
    rotary.Validate();
    Require(rotary.base > 1 || ramp == RampOver::turns,
            "base must be above 1 for YaRN's ramp over pairs (it divides by ln base), got {}",
            rotary.base);
    Require(rotary.rotary_dim >= 2, "rotary_dim must be at least 2 for YaRN's ramp, got {}",
            rotary.rotary_dim);
    RequireScale("factor", factor, 1);
    RequireLength("original_length", original_length);
    RequireScale("beta_slow", beta_slow, kSmallestScale);
    RequireScale("beta_fast", beta_fast, kSmallestScale);
    Require(beta_slow <= beta_fast, "beta_fast must be at least beta_slow {}, got {}", beta_slow,
            beta_fast);
    Require(extrapolation_factor >= 0 && extrapolation_factor <= 1,
            "extrapolation_factor must be in 0..1, got {}", extrapolation_factor);
    RequireScale("attention_multiplier", attention_multiplier, kSmallestScale);
    if (attention_factor) RequireScale("attention_factor", *attention_factor, kSmallestScale);
    if (mscale) RequireScale("mscale", *mscale, 0);
    if (mscale_all_dim) RequireScale("mscale_all_dim", *mscale_all_dim, 0);
    if (length) RequireLength("length", *length, 0);
    Require(!length || factor == 1,
            "factor must be 1 where length is given (the factor is then length/original_length), "
            "got {}",
            factor);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Rotary::Fields(self.rotary, visit);
    visit("factor", self.factor, "context extension s, at least 1");
    visit("original_length", self.original_length, "tokens of the original context");
    visit("beta_fast", self.beta_fast, "turns over original_length above which a pair is kept");
    visit("beta_slow", self.beta_slow,
          "turns below which a pair is interpolated; above 0, at most beta_fast");
    visit("ramp", self.ramp,
          "in what it is linear: the pair index, as deployed, or turns, as the paper has it");
    visit("truncate", self.truncate,
          "round the ends of a ramp over pairs to whole pairs (gpt-oss: false)");
    visit("extrapolation_factor", self.extrapolation_factor,
          "weight of the unscaled frequencies, 0..1");
    visit("magnitude", self.magnitude, "rule for the magnitude of cos and sin");
    visit("attention_multiplier", self.attention_multiplier,
          "multiplies the magnitude (attn_factor in vLLM and ggml)");
    visit("attention_factor", self.attention_factor, "replaces the magnitude altogether");
    visit("mscale", self.mscale, "numerator of the magnitude ratio");
    visit("mscale_all_dim", self.mscale_all_dim, "denominator of the magnitude ratio");
    visit("inverted_ramp", self.inverted_ramp, "what to do when the ramp's ends are inverted");
    visit("length", self.length,
          "current length in tokens (largest position + 1): the factor is then max(1, "
          "length/original_length), and is not given");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::yarn

namespace posgauge {
template <>
inline constexpr auto kVariantNames<yarn::Magnitude> =
    std::array<std::string_view, 4>{"huggingface", "deepseek", "telechat3", "none"};
template <>
inline constexpr auto kVariantNames<yarn::InvertedRamp> =
    std::array<std::string_view, 3>{"refuse", "huggingface", "ggml"};
template <>
inline constexpr auto kVariantNames<yarn::RampOver> =
    std::array<std::string_view, 2>{"pairs", "turns"};
}  // namespace posgauge
