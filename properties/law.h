#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "posgauge/verify/subject.h"
#include "posgauge/verify/verdict.h"

namespace posgauge {

/// What a law is tried on. Every row has its own positions and vectors, so that rows can be left
/// out, permuted and cut into chunks.
struct LawCase {
  // Tokens, one number a row; where positions have several axes [rows, axes], as the other two.
  std::vector<double> positions;
  std::vector<double> others;  // a second position for every row: a key's, or a further step
  std::vector<double> shifts;  // tokens that a law may add to both
  Tensor x,
      y;  // of the kernel's io dtype: [rows, heads, head_dim], or [rows, width] to be added to
  double alpha = 1, beta = 1;  // factors of a linear combination, powers of two
  uint64_t seed = 0;           // of what a law draws itself, such as a permutation

  /// Of a scheme that is given by equations, in place of positions and vectors: all that the
  /// quantity `embed` takes, or of attention the quantity `attention`. There Positions ascend, and
  /// every query sees a key. `shifts` holds one number of tokens.
  NamedInputs inputs;

  /// The kernel's transpose, where one is at hand; not owned.
  const Subject* transpose = nullptr;
};

/// A property that every kernel must have, whatever its arithmetic: plain data, for tests and the
/// gate alike.
struct Law {
  std::string_view name;
  std::string_view statement;   // one sentence: what holds
  std::string_view quantities;  // those it can be tried on, separated by spaces
  bool once;                    // takes nothing from the case but its largest position

  /// Fills outcome, use and witnesses. May throw Unsupported (the kernel does not offer what the
  /// law needs) and KernelFailure.
  Verdict (*check)(const Subject&, const LawCase&);
};

}  // namespace posgauge
