#pragma once

#include <cstddef>
#include <vector>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// Tokens of several sequences on one axis, as a kernel that takes cu_seqlens is given them. Empty
/// sequences and ones of a single token are among them.
struct RaggedBatch {
  std::vector<double> boundaries;  // [sequences + 1]: cu_seqlens, from 0 to the number of tokens
  std::vector<double> offsets;     // [sequences]: the position of the first token of each
  std::vector<double> positions;   // [tokens]
  std::vector<size_t> rows;        // the token at which each position that is asked for stands

  /// The rows of x, one for every position that is asked for, at their tokens; zeros elsewhere.
  Tensor Scatter(const Tensor& x) const;
  /// Of a result over all tokens the rows that are asked for.
  Tensor Gather(const Tensor& out) const;
};

/// A sequence for every run of positions that grow by 1, so that no token is added. Sequences then
/// begin anywhere: for kernels that are told where.
RaggedBatch RunsAsSequences(Positions positions);

/// Sequences that begin at 0 and are as long as it takes, for kernels that know nothing else: a
/// short one, one of a single token, then one that reaches the farthest position, and more where a
/// position is asked for twice. Throws Unsupported unless positions are whole numbers in
/// 0..kLongestSequence-1.
RaggedBatch SequencesFromZero(Positions positions);

/// Tokens. A position further out would take as many tokens before it.
inline constexpr double kLongestSequence = 4096;

}  // namespace posgauge
