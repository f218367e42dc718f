#pragma once

#include <optional>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge::ntk {

/// How the base grows, with s the factor and d = rotary_dim.
/// `aware`: base * s^(d/(d-2)). Also NTK-alpha, as Hunyuan has it: its alpha is the factor.
/// `naive`: base * s.
/// `dynamic`: as `aware`, with s * max(length, trained_length)/trained_length - (s - 1) in place of
/// the factor, so that the frequencies are a function of the current length.
/// `qwen`: as `aware`, with 2^(ceil(log2(length/trained_length)) + 1) - 1, at least 1, in place of
/// the factor: NTK-alpha as Qwen-1 has it (use_dynamic_ntk), which grows when the length doubles.
/// `fixed`: base * s, and every frequency divided by s^(2/d): s^(-2(i+1)/d) in all.
/// `mixed`: every frequency times s^-(((i+1)/(d/2))^mixed_exponent): 0 is position interpolation, 1
/// is `fixed`. Both by Su 2023, kexue.fm/archives/9706; rope type `ntk` in vLLM.
enum class Form { aware, naive, dynamic, qwen, fixed, mixed };

}  // namespace posgauge::ntk

namespace posgauge {
template <>
inline constexpr auto kVariantNames<ntk::Form> =
    std::array<std::string_view, 6>{"aware", "naive", "dynamic", "qwen", "fixed", "mixed"};
}  // namespace posgauge

namespace posgauge::ntk {

/// NTK-aware scaling: frequency_i = b'^(-2i/d), d = rotary_dim, magnitude 1, and what its authors
/// and users made of it (Form).
/// Peng et al. 2023 (YaRN), arXiv:2309.00071, Def. 1, eqs. 14-16; dynamic form sec. 3.3.
struct Params {
  static constexpr std::string_view kName = "ntk";
  static constexpr std::string_view kSummary =
      "NTK-aware base scaling: aware, naive, dynamic, qwen, fixed, mixed";
  static constexpr std::string_view kEquation =
      "frequency_i = base'^(-2i/d), base' = base alpha^(d/(d-2)), d = rotary_dim; the other forms "
      "below";
  static constexpr std::string_view kSource =
      "Peng et al. 2023, arXiv:2309.00071, Def. 1, sec. 3.3; Su 2023, kexue.fm/archives/9706";

  Rotary rotary;
  Form form = Form::aware;
  double factor = 1;
  std::optional<int64_t> trained_length = {};  // tokens; dynamic and qwen only
  std::optional<int64_t> length = {};          // tokens; dynamic and qwen only
  std::optional<double> mixed_exponent = {};   // mixed only

  /// Whether the frequencies are a function of the current length.
  bool DependsOnLength() const { return form == Form::dynamic || form == Form::qwen; }

  void Validate() const {
    rotary.Validate();
    RequireScale("factor", factor, form == Form::dynamic ? 1 : kSmallestScale);
    Require(form != Form::qwen || factor == 1,
            "factor must be 1 in the qwen form, which scales by lengths alone, got {}", factor);
    const bool divides_by_zero = form == Form::aware || DependsOnLength();
    Require(!divides_by_zero || rotary.rotary_dim != 2,
            "rotary_dim must not be 2 in the NTK form {}: its exponent d/(d-2) divides by zero",
            VariantName(form));
    if (DependsOnLength()) {
      Require(trained_length.has_value(), "trained_length must be given for the {} form",
              VariantName(form));
      Require(length.has_value(),
              "length must be given for the {} form: its frequencies depend on the current "
              "length in tokens",
              VariantName(form));
      RequireLength("trained_length", *trained_length);
      RequireLength("length", *length, 0);
    } else {
      Require(!trained_length && !length,
              "trained_length and length belong to the dynamic and qwen forms, not {}",
              VariantName(form));
    }
    Require(mixed_exponent.has_value() == (form == Form::mixed), "mixed_exponent {} the {} form",
            form == Form::mixed ? "must be given for" : "belongs to the mixed form, not",
            VariantName(form));
    Require(!mixed_exponent || (*mixed_exponent >= 0 && *mixed_exponent <= 2),
            "mixed_exponent must be in 0..2, got {}", mixed_exponent.value_or(0));
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Rotary::Fields(self.rotary, visit);
    visit("form", self.form, "how the base grows");
    visit("factor", self.factor,
          "context extension s; at least 1 in the dynamic form, 1 in the qwen form");
    visit("trained_length", self.trained_length,
          "tokens up to which the dynamic and qwen forms change nothing (max_position_embeddings; "
          "Qwen-1: seq_length)");
    visit("length", self.length,
          "current length in tokens that the dynamic and qwen forms see: largest position + 1");
    visit(
        "mixed_exponent", self.mixed_exponent,
        "of the mixed form, 0..2: 0 divides all frequencies alike, 1 is the fixed form (mixed_b)");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::ntk
