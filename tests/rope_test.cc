#include "posgauge/properties/rope.h"

#include <gtest/gtest.h>

#include "law_checks.h"

namespace posgauge {
namespace {

TEST(rope, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(rope::AnyParams())); }

}  // namespace
}  // namespace posgauge
