#include "posgauge/properties/linear.h"

#include <gtest/gtest.h>

#include "law_checks.h"
#include "posgauge/properties/laws.h"

namespace posgauge {
namespace {

TEST(linear, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(linear::AnyParams())); }

// Formed in f64 and handed out in f32: the contract is that of the forming, and the dtype rounds
// once more.
TEST(linear, FrequenciesMayComeInANarrowerDtypeThanTheyWereFormedIn) {
  static const Scheme scheme = ParseScheme("linear", {"factor=3"});
  static float off;
  const posgauge_kernel kernel = {
      .size = sizeof(posgauge_kernel),
      .name = "narrow",
      .schemes = "linear",
      .quantity = "frequencies",
      .inputs = "",
      .outputs = "frequency:f32",
      .pairings = "",
      .contract = "frequency=f64:pow flush=no",
      .invariances = "",
      .in_place = 0,
      .largest_rotary_dim = 0,
      .largest_position = 0,
      .run = [](const posgauge_call* call, char*, size_t) -> int32_t {
        auto* out = static_cast<float*>(call->outputs[0].tensor.data);
        for (double frequency : ExactRotation(scheme).Frequencies(Dtype::f64).values) {
          *out++ = static_cast<float>(frequency) * off;
        }
        return POSGAUGE_OK;
      }};
  const Subject subject(KernelInfo(kernel), scheme);
  for (const Law& law : linear::Laws(std::get<linear::Params>(scheme))) {
    off = 1;
    EXPECT_EQ(CheckLaw(law, subject, LawCase{}).outcome, Outcome::pass) << law.name;
    off = 1 + 0x1p-21f;
    EXPECT_EQ(CheckLaw(law, subject, LawCase{}).outcome, Outcome::fail) << law.name;
  }
}

}  // namespace
}  // namespace posgauge
