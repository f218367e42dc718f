// What code of a kernel library may leave behind.
#include "posgauge/verify/foreign_code.h"

#include <cfenv>
#include <cstdio>
#include <limits>

#include <gtest/gtest.h>

namespace posgauge {
namespace {

TEST(foreign_code, RoundingModeIsPutBack) {
  {
    const ForeignCode guard;
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  }
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

#ifdef __x86_64__
TEST(foreign_code, FlushingOfSubnormalsIsPutBack) {
  volatile double smallest = std::numeric_limits<double>::min();
  {
    const ForeignCode guard;
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);  // FTZ and DAZ
    volatile double flushed = smallest / 2;
    EXPECT_EQ(flushed, 0);
  }
  volatile double half = smallest / 2;
  EXPECT_NE(half, 0);
}
#endif

TEST(foreign_code, WhatItPrintsGoesToStandardError) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  std::printf("ours ");
  {
    const ForeignCode guard;
    std::printf("theirs ");
  }
  std::printf("ours again");
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "ours ours again");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "theirs ");
}

}  // namespace
}  // namespace posgauge
