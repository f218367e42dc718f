#pragma once

#include <cmath>
#include <optional>

#include "posgauge/schemes/base/turning.h"

namespace posgauge::rerope {

/// Rotary scores in which distances above a window count as it, so that none is longer than those
/// of training:
///   s_ij = scale f_i Re(conj(q) k e^(-i o w)),   o = i - j within [-window, window].
/// f_i = max(1, ln(i + 1)/ln(trained_length)) sharpens late queries; 1 without trained_length.
/// Su, "ReRoPE" (kexue.fm/archives/9708), and LlamaReRoPE of github.com/jquesnelle/yarn.
struct Params {
  static constexpr std::string_view kName = "rerope";
  static constexpr std::string_view kSummary = "rotary scores of distances up to a window";
  static constexpr std::string_view kEquation =
      "score = scale f_i Re(conj(q) k e^(-i o w)), o = i - j within [-window, window], f_i = "
      "max(1, ln(i + 1)/ln(trained_length))";
  static constexpr std::string_view kSource =
      "Su 2023, kexue.fm/archives/9708; github.com/jquesnelle/yarn, LlamaReRoPE";

  Attention attention;
  Turning turning;
  int64_t window = 512;  // tokens
  std::optional<int64_t> trained_length = {};

  void Validate() const {
    attention.Validate();
    turning.Validate(attention);
    RequireLength("window", window);
    if (trained_length) RequireLength("trained_length", *trained_length, 2);
  }

  /// Throws ParameterError unless positions are whole, and those of queries that are sharpened not
  /// negative.
  void CheckPositions(const std::vector<double>& queries, const std::vector<double>& keys) const {
    RequireWholePositions(queries);
    RequireWholePositions(keys);
    for (double query : queries) {
      Require(!trained_length || query >= 0,
              "query positions must be at least 0 with a trained_length, got {}", query);
    }
  }

  /// Whether a key is near enough for both vectors to turn by their own positions.
  bool IsNear(double query_position, double key_position) const {
    return std::fabs(query_position - key_position) <= static_cast<double>(window);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    Turning::Fields(self.turning, visit);
    visit("window", self.window, "largest distance in tokens that counts as itself");
    visit("trained_length", self.trained_length,
          "queries at position p are multiplied by max(1, ln(p + 1)/ln(trained_length))");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::rerope
