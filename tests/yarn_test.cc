#include "posgauge/properties/yarn.h"

#include <gtest/gtest.h>

#include "law_checks.h"

namespace posgauge {
namespace {

TEST(yarn, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(yarn::AnyParams())); }

TEST(yarn, InvertedRampIsRefusedUnlessAReadingIsChosen) {
  // Over one token no pair makes a turn: both ends lie below pair 0.
  const Scheme refused = ParseScheme("yarn", {"head_dim=16", "factor=4", "original_length=1"});
  EXPECT_THROW(ExactRotation{refused}, ParameterError);
  Scheme chosen = refused;
  Apply(chosen, {"inverted_ramp=huggingface"});
  EXPECT_NO_THROW(ExactRotation{chosen});
}

}  // namespace
}  // namespace posgauge
