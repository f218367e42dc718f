#pragma once

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::cope {

/// Where the position logit is added: to <q, k> before it is scaled (RAM's default), or after.
enum class Placement { before_scale, after_scale };

}  // namespace posgauge::cope

namespace posgauge {
template <>
inline constexpr auto kVariantNames<cope::Placement> =
    std::array<std::string_view, 2>{"before_scale", "after_scale"};
}  // namespace posgauge

namespace posgauge::cope {

/// Contextual positions: gates g_ij = sigmoid(scale <q_i, k_j>) count the keys from j up to the
/// query,
///   P_ij = min(sum of g_it over visible t from j on, max_position),
/// and the score gains the interpolation of <q_i, e_n> between the whole numbers beside P_ij. Keys
/// are in ascending order of position. Golovneva et al. 2024, arXiv:2405.18719, eqs. 3 to 5.
struct Params {
  static constexpr std::string_view kName = "cope";
  static constexpr std::string_view kSummary = "positions counted by gates of the content";
  static constexpr std::string_view kEquation =
      "score += <q_i, e(P_ij)> interpolated, P_ij = min(sum of sigmoid(scale <q_i, k_t>) for "
      "visible t >= j, num_positions - 1)";
  static constexpr std::string_view kSource = "Golovneva et al. 2024, arXiv:2405.18719, eqs. 3-5";

  Attention attention;
  int64_t num_positions = 64;
  Placement placement = Placement::after_scale;

  void Validate() const {
    attention.Validate();
    Require(num_positions >= 2 && num_positions <= 1 << 20,
            "num_positions must be in 2..2^20, got {}", num_positions);
  }

  std::vector<Weight> Weights() const {
    return {{"embedding", {num_positions, attention.head_dim}, "e, shared by the heads"}};
  }

  /// Throws ParameterError unless the keys ascend.
  void CheckPositions(const std::vector<double>&, const std::vector<double>& keys) const {
    for (size_t j = 1; j < keys.size(); ++j) {
      Require(keys[j - 1] < keys[j], "key positions must ascend, got {} after {}", keys[j],
              keys[j - 1]);
    }
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("num_positions", self.num_positions, "rows of the embedding; counts end one below");
    visit("placement", self.placement, "where the position logit is added");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::cope
