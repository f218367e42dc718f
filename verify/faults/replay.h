#pragma once

#include <optional>
#include <span>
#include <vector>

#include "posgauge/verify/faults/fault.h"

namespace posgauge {

/// How far the library functions of a replay are off: relative errors of up to `ulps` units of
/// binary32 in every frequency, sine and cosine, drawn from a seed.
struct LibraryNoise {
  double ulps = 0;
  uint64_t seed = 0;
};

/// What a kernel with these faults, honest but for them, answers: in binary64, unrounded, in C
/// order; of `table` the cosines and then the sines, of `frequencies` those and then the magnitude.
/// Nothing where one of them has nothing to act on. Faults act in the order of the stages; of one
/// stage in that of the list. Inputs are those of the kernel's own quantity; what a kernel is
/// handed ready-made ("cos", "rows", "frequency") counts in place of computing it.
std::optional<std::vector<double>> Replay(const Question& question,
                                          std::span<const Fault* const> faults,
                                          const LibraryNoise& noise = {});

}  // namespace posgauge
