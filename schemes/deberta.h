#pragma once

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::deberta {

/// Which relative position a key's product with the query table is of: that of the query's product,
/// i - j (microsoft/DeBERTa and transformers), or the reversed one, j - i (the paper).
enum class P2cIndex { same, reversed };

/// Distances of max_position tokens and more: taken for max_position - 1 before they are put into
/// buckets (microsoft/DeBERTa), or not (transformers). Keys that far after the query have row 1, or
/// row 0.
enum class Far { clamp, bucket };

}  // namespace posgauge::deberta

namespace posgauge {
template <>
inline constexpr auto kVariantNames<deberta::P2cIndex> =
    std::array<std::string_view, 2>{"same", "reversed"};
template <>
inline constexpr auto kVariantNames<deberta::Far> =
    std::array<std::string_view, 2>{"clamp", "bucket"};
}  // namespace posgauge

namespace posgauge::deberta {

/// Disentangled attention: scores of content and content, content and position (c2p), position and
/// content (p2c),
///   s_ij = (<q_i, k_j> + <q_i, K_r> + <k_j, Q_r>) / sqrt(terms head_dim),
///   r = clamp(b(i - j) + span, 0, 2 span - 1),
/// K and Q the projected embeddings of relative positions, r for Q as P2cIndex says. He et al.
/// 2021, arXiv:2006.03654, eq. 4. b is the identity up to mid = position_buckets/2, and beyond
///   sign(n) (mid + ceil((mid - 1) ln(|n|/mid) / ln((max_position - 1)/mid)));
/// code in microsoft/DeBERTa, deberta/da_utils.py and disentangled_attention.py.
struct Params {
  static constexpr std::string_view kName = "deberta";
  static constexpr std::string_view kSummary =
      "scores of content with relative positions, both ways";
  static constexpr std::string_view kEquation =
      "score = (<q_i, k_j> + <q_i, K_r> + <k_j, Q_r>) / sqrt(terms head_dim), undivided where "
      "scale "
      "is one; r = clamp(b(i - j) + span, 0, 2 span - 1), b the bucket of a distance, itself where "
      "position_buckets is 0";
  static constexpr std::string_view kSource =
      "He et al. 2021, arXiv:2006.03654, eq. 4; microsoft/DeBERTa, deberta/da_utils.py";
  static constexpr bool kOwnContent = true;

  Attention attention = {.causal = false};
  int64_t position_buckets = 256;
  int64_t max_position = 512;  // tokens
  bool c2p = true;
  bool p2c = true;
  P2cIndex p2c_index = P2cIndex::same;
  Far far = Far::clamp;

  /// Rows to either side of distance 0; the tables have twice as many.
  int64_t Span() const { return position_buckets > 0 ? position_buckets : max_position; }

  /// Kinds of products that a score adds up, by whose number the scale is smaller.
  int64_t Terms() const { return 1 + (c2p ? 1 : 0) + (p2c ? 1 : 0); }

  void Validate() const {
    attention.Validate();
    Require(position_buckets == 0 ||
                (position_buckets >= 4 && position_buckets <= 4096 && position_buckets % 2 == 0),
            "position_buckets must be 0 (a row for every distance) or an even number in 4..4096, "
            "got {}",
            position_buckets);
    if (position_buckets > 0) {
      Require(
          max_position > position_buckets / 2 + 1 && max_position <= int64_t{1} << 31,
          "max_position must be above {} (half of the buckets and one) and at most 2^31, got {}",
          position_buckets / 2 + 1, max_position);
    } else {
      Require(max_position >= 1 && max_position <= 1 << 20,
              "max_position must be in 1..2^20 without buckets, got {}", max_position);
    }
  }

  std::vector<Weight> Weights() const {
    const std::vector<int64_t> shape = {attention.heads, 2 * Span(), attention.head_dim};
    std::vector<Weight> weights;
    if (c2p) weights.push_back({"position_keys", shape, "K, row span is distance 0"});
    if (p2c) weights.push_back({"position_queries", shape, "Q, row span is distance 0"});
    return weights;
  }

  /// Throws ParameterError unless positions are whole.
  void CheckPositions(const std::vector<double>& queries, const std::vector<double>& keys) const {
    RequireWholePositions(queries);
    RequireWholePositions(keys);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("position_buckets", self.position_buckets,
          "rows to either side of distance 0, half of them logarithmic; 0: a row a distance");
    visit("max_position", self.max_position, "tokens from which on there is one row");
    visit("c2p", self.c2p, "add products of queries with positions");
    visit("p2c", self.p2c, "add products of keys with positions");
    visit("p2c_index", self.p2c_index,
          "the relative position of keys' products: that of queries' (code), or reversed (paper)");
    visit("far", self.far, "distances of max_position and more: clamped first, or not");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::deberta
