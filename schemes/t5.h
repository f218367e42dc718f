#pragma once

#include "posgauge/schemes/base/attention.h"
#include "posgauge/schemes/base/weight.h"

namespace posgauge::t5 {

/// A learned bias a head and bucket of relative positions: exact buckets up to half of them, then
/// logarithmic ones up to max_distance. Raffel et al. 2020, arXiv:1910.10683, sec. 2.1; code in
/// tensorflow/mesh transformer_layers.py. T5 does not scale <q, k>.
struct Params {
  static constexpr std::string_view kName = "t5";
  static constexpr std::string_view kSummary = "learned biases by buckets of relative position";
  static constexpr std::string_view kEquation =
      "bias = table[bucket(j - i)][h]; buckets are exact up to half of them, then logarithmic up "
      "to max_distance";
  static constexpr std::string_view kSource = "Raffel et al. 2020, arXiv:1910.10683, sec. 2.1";

  Attention attention = {.causal = false, .scale = ScoreScale::one};
  int64_t num_buckets = 32;
  int64_t max_distance = 128;  // tokens
  bool bidirectional = true;

  /// Buckets of one direction, and those of them that are one distance each.
  int64_t DirectionBuckets() const { return bidirectional ? num_buckets / 2 : num_buckets; }
  int64_t ExactBuckets() const { return DirectionBuckets() / 2; }

  void Validate() const {
    attention.Validate();
    const int64_t least = bidirectional ? 4 : 2;
    Require(num_buckets >= least && num_buckets <= 4096, "num_buckets must be in {}..4096, got {}",
            least, num_buckets);
    Require(max_distance > ExactBuckets() && max_distance <= int64_t{1} << 31,
            "max_distance must be above {} (half of the buckets of a direction) and at most 2^31, "
            "got {}",
            ExactBuckets(), max_distance);
  }

  std::vector<Weight> Weights() const {
    return {{"table", {num_buckets, attention.heads}, "the bias of every bucket and head"}};
  }

  /// Throws ParameterError unless positions are whole.
  void CheckPositions(const std::vector<double>& queries, const std::vector<double>& keys) const {
    RequireWholePositions(queries);
    RequireWholePositions(keys);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    Attention::Fields(self.attention, visit);
    visit("num_buckets", self.num_buckets, "buckets in all");
    visit("max_distance", self.max_distance, "tokens from which on there is one bucket");
    visit("bidirectional", self.bidirectional,
          "half of the buckets for keys after the query; otherwise those fall into bucket 0");
  }
  bool operator==(const Params&) const = default;
};

}  // namespace posgauge::t5
