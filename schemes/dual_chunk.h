#pragma once

#include <algorithm>
#include <cmath>

#include "posgauge/schemes/base/turning.h"

namespace posgauge::dual_chunk {

/// Which positions queries take: those of the scores, or those by which vLLM estimates scores to
/// choose the keys of its sparse attention.
enum class Queries { attention, critical };

}  // namespace posgauge::dual_chunk

namespace posgauge {
template <>
inline constexpr auto kVariantNames<dual_chunk::Queries> =
    std::array<std::string_view, 2>{"attention", "critical"};
}  // namespace posgauge

namespace posgauge::dual_chunk {

/// Dual Chunk Attention: rotary scores in which no distance exceeds chunk_size. Positions are cut
/// into chunks of c = chunk_size - local_size. A key at t turns by t mod c, a query at p by
///   p mod c                             against keys of its own chunk,
///   min((p mod c) + c, chunk_size)      of the chunk before,
///   min(2c - 1, chunk_size)             of those before that.
/// An et al. 2024, arXiv:2402.17463, sec. 2; as in vLLM's dual_chunk_rope.py, which serves
/// Qwen2.5-1M. `critical` leaves out the second line's minimum, and its third is (p mod c) +
/// chunk_size.
struct Params {
  static constexpr std::string_view kName = "dual_chunk";
  static constexpr std::string_view kSummary =
      "rotary scores of positions in chunks (Dual Chunk Attention)";
  static constexpr std::string_view kEquation =
      "score = scale <R(p) q, R(j mod c) k>, c = chunk_size - local_size; p = i mod c, one chunk "
      "later min(i mod c + c, chunk_size), after that min(2c - 1, chunk_size); of critical queries "
      "i mod c + c one chunk later, after that i mod c + chunk_size";
  static constexpr std::string_view kSource = "An et al. 2024, arXiv:2402.17463, sec. 2";

  Attention attention;
  Turning turning;
  int64_t chunk_size = 8192;  // tokens
  int64_t local_size = 1024;  // tokens
  Queries queries = Queries::attention;

  void Validate() const {
    attention.Validate();
    Require(attention.causal, "causal must be true: dual_chunk has no distance to later chunks");
    turning.Validate(attention);
    RequireLength("chunk_size", chunk_size);
    Require(local_size >= 0 && local_size < chunk_size,
            "local_size must be in 0..{} (below chunk_size), got {}", chunk_size - 1, local_size);
  }

  /// Throws ParameterError unless positions are whole and not negative.
  void CheckPositions(const std::vector<double>& query_positions,
                      const std::vector<double>& key_positions) const {
    RequirePositionsBelow(int64_t{1} << 53, query_positions);
    RequirePositionsBelow(int64_t{1} << 53, key_positions);
  }

  /// c.
  double Stride() const { return static_cast<double>(chunk_size - local_size); }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    Turning::Fields(self.turning, visit);
    visit("chunk_size", self.chunk_size, "largest distance in tokens");
    visit(
        "local_size", self.local_size,
        "tokens into the chunk before whose distances are kept; chunks are chunk_size - local_size "
        "long");
    visit("queries", self.queries, "positions of the scores, or of vLLM's choice of sparse keys");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::dual_chunk
