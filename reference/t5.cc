#include "posgauge/reference/t5.h"

#include <map>
#include <mutex>
#include <tuple>

#include <boost/multiprecision/gmp.hpp>

namespace posgauge::t5 {

namespace {

using Integer = boost::multiprecision::mpz_int;

Integer Power(int64_t base, int64_t exponent) {
  return boost::multiprecision::pow(Integer(base), static_cast<unsigned>(exponent));
}

std::vector<int64_t> Compute(const Params& params) {
  const int64_t exact = params.ExactBuckets(), buckets = params.DirectionBuckets();
  const int64_t logarithmic = buckets - exact;
  std::vector<int64_t> first;
  for (int64_t bucket = 0; bucket <= exact && bucket < buckets; ++bucket) first.push_back(bucket);
  for (int64_t k = 1; k < logarithmic; ++k) {
    const Integer right = Power(params.max_distance, k) * Power(exact, logarithmic - k);
    // The smallest n with n^E >= right; max_distance is one such, as k < E.
    int64_t below = exact, reached = params.max_distance;
    while (reached - below > 1) {
      const int64_t middle = below + (reached - below) / 2;
      (Power(middle, logarithmic) >= right ? reached : below) = middle;
    }
    first.push_back(reached);
  }
  return first;
}

}  // namespace

const std::vector<int64_t>& FirstDistances(const Params& params) {
  static std::mutex mutex;
  static std::map<std::tuple<int64_t, int64_t>, std::vector<int64_t>> known;
  const std::tuple key(params.DirectionBuckets(), params.max_distance);
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, Compute(params)).first->second;
}

}  // namespace posgauge::t5
