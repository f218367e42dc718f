#include "posgauge/properties/llama3.h"

#include <gtest/gtest.h>

#include "law_checks.h"

namespace posgauge {
namespace {

TEST(llama3, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(llama3::AnyParams())); }

}  // namespace
}  // namespace posgauge
