#include "posgauge/fast/t5.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "posgauge/fast/log_buckets.h"

namespace posgauge::t5 {

namespace {

fast::Steps StepsOf(const Params& params) {
  const std::vector<double> starts = BucketStarts(params);
  fast::Steps steps;
  const auto add = [&](double begin, size_t bucket) {
    steps.begin.push_back(begin);
    steps.bucket.push_back(static_cast<double>(bucket));
  };
  // Distance start is the last of its bucket on the way to the query.
  add(-std::numeric_limits<double>::infinity(), starts.size() - 1);
  for (size_t bucket = starts.size(); bucket-- > 1;) add(1 - starts[bucket], bucket - 1);
  for (size_t bucket = 1; params.bidirectional && bucket < starts.size(); ++bucket) {
    add(starts[bucket], starts.size() + bucket);
  }
  return steps;
}

}  // namespace

// Bucket m + k begins at the smallest n >= m (max_distance/m)^(k/E): m of the buckets are exact, E
// are not.
std::vector<double> BucketStarts(const Params& params) {
  const int64_t exact = params.ExactBuckets(), buckets = params.DirectionBuckets();
  const int64_t others = buckets - exact;
  std::vector<double> starts;
  for (int64_t bucket = 0; bucket <= exact && bucket < buckets; ++bucket) {
    starts.push_back(static_cast<double>(bucket));
  }
  for (int64_t k = 1; k < others; ++k) {
    starts.push_back(fast::LogBucketBegin(exact, params.max_distance, k, others, false));
  }
  return starts;
}

fast::MapOffsets Buckets(const Params& params) { return fast::MapBySteps(StepsOf(params)); }

}  // namespace posgauge::t5
