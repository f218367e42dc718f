#pragma once

#include <optional>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/rotary.h"

namespace posgauge::ntk {

/// How the base grows. `aware`: base * factor^(d/(d-2)). `naive`: base * factor. `dynamic`: as
/// `aware`, with factor * max(length, trained_length)/trained_length - (factor - 1) in place of the
/// factor, so that the frequencies are a function of the current length.
enum class Form { aware, naive, dynamic };

}  // namespace posgauge::ntk

namespace posgauge {
template <>
inline constexpr auto kVariantNames<ntk::Form> =
    std::array<std::string_view, 3>{"aware", "naive", "dynamic"};
}  // namespace posgauge

namespace posgauge::ntk {

/// NTK-aware scaling: frequency_i = b'^(-2i/d), d = rotary_dim, magnitude 1.
/// Peng et al. 2023 (YaRN), arXiv:2309.00071, Def. 1, eqs. 14-16; dynamic form sec. 3.3.
struct Params {
  static constexpr std::string_view kName = "ntk";
  static constexpr std::string_view kSummary = "NTK-aware base scaling: aware, naive, dynamic";

  Rotary rotary;
  Form form = Form::aware;
  double factor = 1;
  std::optional<int64_t> trained_length = {};  // tokens; dynamic only
  std::optional<int64_t> length = {};          // tokens; dynamic only

  void Validate() const {
    rotary.Validate();
    RequireScale("factor", factor, form == Form::dynamic ? 1 : kSmallestScale);
    Require(form == Form::naive || rotary.rotary_dim != 2,
            "rotary_dim must not be 2 in the NTK form {}: its exponent d/(d-2) divides by zero",
            VariantName(form));
    if (form == Form::dynamic) {
      Require(trained_length.has_value(), "trained_length must be given for the dynamic form");
      Require(length.has_value(),
              "length must be given for the dynamic form: its frequencies depend on the current "
              "length in tokens");
      RequireLength("trained_length", *trained_length);
      RequireLength("length", *length, 0);
    } else {
      Require(!trained_length && !length,
              "trained_length and length belong to the dynamic form, not {}", VariantName(form));
    }
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Rotary::Fields(self.rotary, visit);
    visit("form", self.form, "how the base grows");
    visit("factor", self.factor, "context extension s; at least 1 in the dynamic form");
    visit("trained_length", self.trained_length,
          "tokens up to which the dynamic form changes nothing (max_position_embeddings)");
    visit("length", self.length,
          "current length in tokens that the dynamic form sees: largest position + 1");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::ntk
