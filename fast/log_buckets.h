#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/fast/bias.h"

namespace posgauge::fast {

/// The smallest whole n >= t (or, if `beyond`, > t), t = exact (farthest/exact)^(step/steps): where
/// a logarithmic bucket begins. By double-double, and in whole numbers where that does not tell. 1
/// <= exact < farthest <= 2^31, 0 <= step <= steps, steps >= 1.
double LogBucketBegin(int64_t exact, int64_t farthest, int64_t step, int64_t steps, bool beyond);

/// Where each bucket begins along key - query, whole, ascending, one or more; of several that begin
/// together the last one counts. The first one has all that is before it.
struct Steps {
  std::vector<double> begin, bucket;
};

/// The first offset is searched for; each of the others walks from the bucket of the one before it,
/// so that in a run of neighbours any number of buckets costs as much as few.
MapOffsets MapBySteps(Steps steps);

}  // namespace posgauge::fast
