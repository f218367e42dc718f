#include "posgauge/reference/log_buckets.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "posgauge/fast/log_buckets.h"

namespace posgauge {
namespace {

// t = exact (farthest/exact)^(step/steps), by hand.
struct Beginning {
  int64_t exact, farthest, step, steps, at, beyond;
};
const std::vector<Beginning> kBeginnings = {
    {4, 64, 0, 4, 4, 5},
    {4, 64, 1, 4, 8, 9},
    {4, 64, 2, 4, 16, 17},
    {4, 64, 3, 4, 32, 33},
    {4, 64, 4, 4, 64, 65},  // whole
    {1, 2, 0, 1, 1, 2},
    {1, 2, 1, 1, 2, 3},  // fewest
    {2, 3, 1, 2, 3, 3},  // sqrt 6
    {8, 10, 1, 4, 9, 9},
    {8, 10, 2, 4, 9, 9},                           // 8.46, 8.94: none of the first
    {1, 8, 1, 2, 3, 3},                            // 2.83
    {1, 1 << 30, 29, 30, 1 << 29, (1 << 29) + 1},  // 2^29
};

TEST(log_buckets, BothRoomsBeginThemWhereTheLogarithmSays) {
  for (const auto& [exact, farthest, step, steps, at, beyond] : kBeginnings) {
    SCOPED_TRACE(testing::Message() << exact << " " << farthest << " " << step << "/" << steps);
    EXPECT_EQ(FirstInLogBucket(exact, farthest, step, steps, false), at);
    EXPECT_EQ(FirstInLogBucket(exact, farthest, step, steps, true), beyond);
    EXPECT_EQ(fast::LogBucketBegin(exact, farthest, step, steps, false), static_cast<double>(at));
    EXPECT_EQ(fast::LogBucketBegin(exact, farthest, step, steps, true),
              static_cast<double>(beyond));
  }
}

TEST(log_buckets, FarDistancesMayHaveOneOfTheirOwn) {
  using Distances = std::vector<int64_t>;
  EXPECT_EQ(FirstDistances({.exact = 2, .farthest = 16, .steps = 3, .beyond = false}),
            (Distances{0, 1, 2, 4, 8}));
  EXPECT_EQ(FirstDistances({.exact = 2, .farthest = 16, .steps = 3, .beyond = true, .far = true}),
            (Distances{0, 1, 2, 3, 5, 9, 17}));
  EXPECT_EQ(FirstDistances({.exact = 2, .farthest = 2, .steps = 0, .beyond = true, .far = true}),
            (Distances{0, 1, 2, 3}));
}

// The bucket of every offset, one by one and in runs of every beginning and direction.
TEST(log_buckets, ARunMayBeginAnywhere) {
  const fast::MapOffsets map = fast::MapBySteps({{-HUGE_VAL, -3, 0, 0, 5}, {10, 11, 12, 13, 14}});
  const std::vector<double> offsets = {-9, -4, -3, -1, 0, 4, 5, 1e9};
  const std::vector<double> buckets = {10, 10, 11, 11, 13, 13, 14, 14};
  for (size_t begin = 0; begin < offsets.size(); ++begin) {
    for (size_t end = begin; end <= offsets.size(); ++end) {
      const auto first = static_cast<std::ptrdiff_t>(begin),
                 last = static_cast<std::ptrdiff_t>(end);
      std::vector<double> run(offsets.begin() + first, offsets.begin() + last);
      std::vector<double> expected(buckets.begin() + first, buckets.begin() + last);
      std::vector<double> back(run.rbegin(), run.rend());
      map(run.data(), run.size());
      map(back.data(), back.size());
      EXPECT_EQ(run, expected) << begin << " to " << end;
      std::reverse(back.begin(), back.end());
      EXPECT_EQ(back, expected) << end << " to " << begin;
    }
  }
}

}  // namespace
}  // namespace posgauge
