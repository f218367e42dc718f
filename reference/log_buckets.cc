#include "posgauge/reference/log_buckets.h"

#include <map>
#include <mutex>

#include <boost/multiprecision/gmp.hpp>

namespace posgauge {

namespace {

using Integer = boost::multiprecision::mpz_int;

Integer Power(int64_t base, int64_t exponent) {
  return boost::multiprecision::pow(Integer(base), static_cast<unsigned>(exponent));
}

std::vector<int64_t> Compute(const LogBuckets& buckets) {
  std::vector<int64_t> first;
  for (int64_t distance = 0; distance <= buckets.exact; ++distance) first.push_back(distance);
  // What begins at exact itself, step 0, is there already.
  for (int64_t step = buckets.beyond ? 0 : 1; step < buckets.steps; ++step) {
    first.push_back(
        FirstInLogBucket(buckets.exact, buckets.farthest, step, buckets.steps, buckets.beyond));
  }
  if (buckets.far) first.push_back(buckets.farthest + 1);
  return first;
}

}  // namespace

int64_t FirstInLogBucket(int64_t exact, int64_t farthest, int64_t step, int64_t steps,
                         bool beyond) {
  const Integer bound = Power(farthest, step) * Power(exact, steps - step);
  // As exact <= t <= farthest, the one is never it, the other at the latest.
  int64_t below = exact - 1, reached = farthest + 1;
  while (reached - below > 1) {
    const int64_t middle = below + (reached - below) / 2;
    const Integer power = Power(middle, steps);
    ((beyond ? power > bound : power >= bound) ? reached : below) = middle;
  }
  return reached;
}

const std::vector<int64_t>& FirstDistances(const LogBuckets& buckets) {
  static std::mutex mutex;
  static std::map<LogBuckets, std::vector<int64_t>> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(buckets);
  if (found != known.end()) return found->second;
  return known.emplace(buckets, Compute(buckets)).first->second;
}

}  // namespace posgauge
