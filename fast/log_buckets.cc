#include "posgauge/fast/log_buckets.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "posgauge/fast/wide.h"

namespace posgauge::fast {

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

}  // namespace

// The relative error of t <= 2^31 is below 2^-94: 2^-100 each of the logarithm and its product with
// step/steps at most 22, of the exponential 164 2^-106 (fast/wide.h). Within 2^-60 of a whole
// number r, 2^3 times the absolute error, r^steps is compared with farthest^step exact^(steps -
// step).
double LogBucketBegin(int64_t exact, int64_t farthest, int64_t step, int64_t steps, bool beyond) {
  const auto m = static_cast<uint32_t>(exact), last = static_cast<uint32_t>(farthest);
  const Wide log_ratio =
      Log(Wide(static_cast<double>(farthest)) / Wide(static_cast<double>(exact)));
  const Wide share = Wide(static_cast<double>(step)) / Wide(static_cast<double>(steps));
  const Wide start = Wide(static_cast<double>(exact)) * Exp(share * log_ratio);
  const Wide nearest = Floor(start + Wide(0.5));
  const double rest = (start - nearest).high;
  if (std::fabs(rest) >= 0x1p-60) return Ceil(start).high;
  const Natural power = PowersOf(static_cast<uint32_t>(nearest.high), steps, 1, 0);
  const Natural bound = PowersOf(last, step, m, steps - step);
  const bool reaches = beyond ? IsLess(bound, power) : !IsLess(power, bound);
  return reaches ? nearest.high : nearest.high + 1;
}

MapOffsets MapBySteps(Steps steps) {
  return [steps = std::move(steps)](double* offsets, size_t count) {
    if (count == 0) return;
    const auto above = std::upper_bound(steps.begin.begin() + 1, steps.begin.end(), offsets[0]);
    auto step = static_cast<size_t>(above - steps.begin.begin()) - 1;
    for (size_t i = 0; i < count; ++i) {
      while (step > 0 && offsets[i] < steps.begin[step]) --step;
      while (step + 1 < steps.begin.size() && offsets[i] >= steps.begin[step + 1]) ++step;
      offsets[i] = steps.bucket[step];
    }
  };
}

}  // namespace posgauge::fast
