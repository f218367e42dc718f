#pragma once

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::shaw {

/// What a table's row means: j - i + clip (the paper), or i - j + clip.
enum class Index { key_minus_query, query_minus_key };

/// Beyond the table: the last row (Shaw), or no vector at all (Music Transformer).
enum class Outside { clip, zero };

}  // namespace posgauge::shaw

namespace posgauge {
template <>
inline constexpr auto kVariantNames<shaw::Index> =
    std::array<std::string_view, 2>{"key_minus_query", "query_minus_key"};
template <>
inline constexpr auto kVariantNames<shaw::Outside> =
    std::array<std::string_view, 2>{"clip", "zero"};
}  // namespace posgauge

namespace posgauge::shaw {

/// Learned vectors of the clipped relative position, added to keys and to values:
///   s_ij = scale <q_i, k_j + a^K_r>,  o_i = sum over j of p_ij (v_j + a^V_r),  r = clip(j - i).
/// Shaw, Uszkoreit, Vaswani 2018, arXiv:1803.02155, eqs. 3 and 4. Huang et al. 2019,
/// arXiv:1809.04281 (Music Transformer): tables a head, zero beyond them.
struct Params {
  static constexpr std::string_view kName = "shaw";
  static constexpr std::string_view kSummary =
      "learned vectors of relative position on keys and values";
  static constexpr std::string_view kEquation =
      "score = scale <q_i, k_j + a^K_r>, output = sum over j of p_ij (v_j + a^V_r), r = clip(j - "
      "i)";
  static constexpr std::string_view kSource =
      "Shaw, Uszkoreit, Vaswani 2018, arXiv:1803.02155, eqs. 3-4; Huang et al. 2019, "
      "arXiv:1809.04281";

  Attention attention;
  int64_t clip = 16;  // tokens
  bool values = true;
  bool per_head = false;
  Index index = Index::key_minus_query;
  Outside outside = Outside::clip;

  void Validate() const {
    attention.Validate();
    Require(clip >= 1 && clip <= 1 << 20, "clip must be in 1..2^20, got {}", clip);
  }

  std::vector<Weight> Weights() const {
    const std::vector<int64_t> shape = {per_head ? attention.heads : 1, 2 * clip + 1,
                                        attention.head_dim};
    std::vector<Weight> weights = {{"key_table", shape, "a^K, row clip is distance 0"}};
    if (values) weights.push_back({"value_table", shape, "a^V"});
    return weights;
  }

  /// Throws ParameterError unless positions are whole.
  void CheckPositions(const std::vector<double>& queries, const std::vector<double>& keys) const {
    RequireWholePositions(queries);
    RequireWholePositions(keys);
  }

  /// Row of the tables, or -1 where there is none.
  int64_t Row(double query_position, double key_position) const {
    const double relative = index == Index::key_minus_query ? key_position - query_position
                                                            : query_position - key_position;
    const auto bound = static_cast<double>(clip);
    if (outside == Outside::zero && std::fabs(relative) > bound) return -1;
    return static_cast<int64_t>(std::min(std::max(relative, -bound), bound)) + clip;
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("clip", self.clip, "largest distance with a row of its own");
    visit("values", self.values, "also add vectors to the values");
    visit("per_head", self.per_head, "tables of every head; otherwise all share one");
    visit("index", self.index, "sign of the relative position that a row stands for");
    visit("outside", self.outside, "beyond the table: its last row, or nothing");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::shaw
