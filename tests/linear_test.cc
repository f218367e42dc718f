#include "posgauge/properties/linear.h"

#include <gtest/gtest.h>

#include "law_checks.h"

namespace posgauge {
namespace {

TEST(linear, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(linear::AnyParams())); }

}  // namespace
}  // namespace posgauge
