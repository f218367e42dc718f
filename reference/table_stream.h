#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "posgauge/reference/exact_rotation.h"

namespace posgauge {

/// Some consecutive rows of a table in several dtypes, every entry proven or counted undecided.
struct TableBlock {
  struct Values {
    Dtype dtype;
    std::span<const std::byte> cos, sin;  // encoded, in the machine's byte order, [tokens, pairs]
  };
  int64_t first = 0, tokens = 0;  // positions [first, first + tokens)
  std::vector<Values> values;     // one a dtype that was asked for
};

/// How the entries of one dtype came to be known.
struct StreamCounts {
  Dtype dtype = Dtype::f64;
  int64_t values = 0;     // cosines and sines
  int64_t by_mpfr = 0;    // those that double-double left open
  int64_t undecided = 0;  // of these, those that 1025 bits left open
  int max_bits = 0;       // the most that any of them needed
  bool operator==(const StreamCounts&) const = default;
};

/// Which way to go. `rows`: products of rows in double-double (RowCache). `direct`: every entry on
/// its own by DirectRotation, tens of times slower; shares nothing with the other but MPFR's last
/// word where it leaves a value open.
enum class StreamPath { rows, direct };

/// Calls consume(block) for the rows of every position in [first, end), in order, on the calling
/// thread; blocks are computed on `threads` threads (0: as many as there are), and their bytes do
/// not depend on how many. Memory does not grow with the number of positions. Requires
/// 0 <= first <= end <= 2^31. Where positions have several axes row p is at p on every one of them:
/// the table from which a kernel takes the column of each pair at the position on its axis.
std::vector<StreamCounts> StreamTable(const ExactRotation& rotation, int64_t first, int64_t end,
                                      std::span<const Dtype> dtypes, StreamPath path, int threads,
                                      const std::function<void(const TableBlock&)>& consume);

}  // namespace posgauge
