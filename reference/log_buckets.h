#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace posgauge {

/// The smallest whole n >= t (or, if `beyond`, > t), t = exact (farthest/exact)^(step/steps): where
/// a logarithmic bucket begins. n^steps is compared with farthest^step exact^(steps - step), whole
/// numbers, so that the ties of the logarithms are decided. 1 <= exact < farthest < 2^62,
/// 0 <= step <= steps, steps >= 1.
int64_t FirstInLogBucket(int64_t exact, int64_t farthest, int64_t step, int64_t steps, bool beyond);

/// Buckets of distances: one for each of 0..exact, and from there on logarithmic ones, each of
/// which begins at, or beyond, one of `steps` steps that lead from exact to farthest.
struct LogBuckets {
  int64_t exact, farthest;
  int64_t steps;     // 0: no logarithmic ones
  bool beyond;       // a bucket begins beyond its step: one beyond exact, none beyond farthest
  bool far = false;  // what is beyond farthest has a bucket of its own

  auto operator<=>(const LogBuckets&) const = default;
};

/// The smallest distance of every bucket, ascending; one that no distance reaches has that of the
/// next. Made once for equal buckets, and kept.
const std::vector<int64_t>& FirstDistances(const LogBuckets& buckets);

}  // namespace posgauge
