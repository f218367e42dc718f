#pragma once

#include <array>
#include <cstdint>

#include "posgauge/schemes/base/domain.h"
#include "posgauge/schemes/base/fields.h"

namespace posgauge {

/// Factor on <q, k> before anything is added: 1/sqrt(head_dim), or 1 (T5, which folds it into its
/// weights).
enum class ScoreScale { inverse_sqrt, one };
template <>
inline constexpr auto kVariantNames<ScoreScale> =
    std::array<std::string_view, 2>{"inverse_sqrt", "one"};

/// What all schemes share that act in attention: s_ij = scale <q_i, k_j> + what the scheme adds,
/// p_ij = softmax over the visible keys j, o_i = sum over j of p_ij v_j.
/// Vaswani et al. 2017, arXiv:1706.03762, eq. 1.
struct Attention {
  int64_t heads = 8;
  int64_t head_dim = 64;
  bool causal = true;  // key j is visible to query i where position j <= position i
  ScoreScale scale = ScoreScale::inverse_sqrt;

  /// Throws ParameterError.
  void Validate() const {
    Require(heads >= 1 && heads <= 65536, "heads must be in 1..65536, got {}", heads);
    Require(head_dim >= 1 && head_dim <= 65536, "head_dim must be in 1..65536, got {}", head_dim);
  }

  bool Visible(double query_position, double key_position) const {
    return !causal || key_position <= query_position;
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("heads", self.heads, "attention heads");
    visit("head_dim", self.head_dim, "channels of a head");
    visit("causal", self.causal, "only keys at positions up to the query's are visible");
    visit("scale", self.scale, "factor on <q, k>: 1/sqrt(head_dim), or one");
  }
  bool operator==(const Attention&) const = default;
};

}  // namespace posgauge
