#include "posgauge/fast/t5.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "posgauge/fast/wide.h"

namespace posgauge::t5 {

namespace {

// A natural number, words of 32 bits, the lowest first.
using Natural = std::vector<uint32_t>;

void MultiplyBy(Natural& number, uint32_t factor) {
  uint64_t carry = 0;
  for (uint32_t& word : number) {
    carry += uint64_t{word} * factor;
    word = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) number.push_back(static_cast<uint32_t>(carry));
}

Natural PowersOf(uint32_t a, int64_t exponent_of_a, uint32_t b, int64_t exponent_of_b) {
  Natural product = {1};
  for (int64_t i = 0; i < exponent_of_a; ++i) MultiplyBy(product, a);
  for (int64_t i = 0; i < exponent_of_b; ++i) MultiplyBy(product, b);
  return product;
}

bool IsLess(const Natural& a, const Natural& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

// Where each bucket begins along key - query, ascending; of several that begin together the last
// one counts.
struct Steps {
  std::vector<double> begin, bucket;
};

Steps StepsOf(const Params& params) {
  const std::vector<double> starts = BucketStarts(params);
  Steps steps;
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

// Bucket m + k begins at the smallest n >= t, t = m (max_distance/m)^(k/E) at most 2^31: m of the
// buckets are exact, E are not. The relative error of t is below 2^-94: 2^-100 each of the
// logarithm and its product with k/E at most 22, of the exponential 164 2^-106 (fast/wide.h).
// Within 2^-60 of a whole number r, 2^3 times the absolute error, n^E >= max_distance^k m^(E-k) is
// asked of r itself.
std::vector<double> BucketStarts(const Params& params) {
  const int64_t exact = params.ExactBuckets(), buckets = params.DirectionBuckets();
  const int64_t others = buckets - exact;
  const auto m = static_cast<uint32_t>(exact),
             farthest = static_cast<uint32_t>(params.max_distance);
  const fast::Wide log_ratio =
      fast::Log(fast::Wide(static_cast<double>(farthest)) / fast::Wide(static_cast<double>(m)));
  std::vector<double> starts;
  for (int64_t bucket = 0; bucket <= exact && bucket < buckets; ++bucket) {
    starts.push_back(static_cast<double>(bucket));
  }
  for (int64_t k = 1; k < others; ++k) {
    const fast::Wide share =
        fast::Wide(static_cast<double>(k)) / fast::Wide(static_cast<double>(others));
    const fast::Wide start = fast::Wide(static_cast<double>(m)) * fast::Exp(share * log_ratio);
    const fast::Wide nearest = fast::Floor(start + fast::Wide(0.5));
    const fast::Wide beyond = start - nearest;
    double begin = fast::Ceil(start).high;
    if (std::fabs(beyond.high) < 0x1p-60) {
      const bool reaches = !IsLess(PowersOf(static_cast<uint32_t>(nearest.high), others, 1, 0),
                                   PowersOf(farthest, k, m, others - k));
      begin = reaches ? nearest.high : nearest.high + 1;
    }
    starts.push_back(begin);
  }
  return starts;
}

fast::MapOffsets Buckets(const Params& params) {
  return [steps = StepsOf(params)](double* offsets, size_t count) {
    size_t step = 0;
    for (size_t i = 0; i < count; ++i) {
      while (step > 0 && offsets[i] < steps.begin[step]) --step;
      while (step + 1 < steps.begin.size() && offsets[i] >= steps.begin[step + 1]) ++step;
      offsets[i] = steps.bucket[step];
    }
  };
}

}  // namespace posgauge::t5
