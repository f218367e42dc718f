#include "posgauge/properties/ntk.h"

#include <gtest/gtest.h>

#include "law_checks.h"

namespace posgauge {
namespace {

TEST(ntk, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(ntk::AnyParams())); }

TEST(ntk, WidthTwoIsRefusedWhereTheExponentDividesByZero) {
  const ntk::Params aware{.rotary = {.head_dim = 2, .rotary_dim = 2}, .factor = 4};
  EXPECT_THROW(aware.Validate(), ParameterError);
  ntk::Params naive = aware;
  naive.form = ntk::Form::naive;
  EXPECT_NO_THROW(naive.Validate());
}

TEST(ntk, LeavingPairsAndCachedKeysAreListed) {
  const auto note_of = [](const Scheme& scheme, std::string_view law) {
    const Subject subject(AnyKernel("honest.rotate.f32"), scheme);
    const Verdict verdict =
        CheckLaw(FindLaw(scheme, law).value(), subject, StandardCases(subject, {.cases = 1}, 1));
    EXPECT_EQ(verdict.outcome, Outcome::pass) << Line(verdict);
    return verdict.note;
  };
  // Width 16: eight pairs, all but the last turn further than in training.
  EXPECT_EQ(note_of(ParseScheme("ntk", {"head_dim=16", "factor=4"}), "leaving_pairs"),
            "pairs 0..6 leave the angles met in training before position s L0, pair 0 by the "
            "factor 4");
  const std::string cached = note_of(ParseScheme("ntk", {"head_dim=16", "factor=4", "form=dynamic",
                                                         "trained_length=4096", "length=16384"}),
                                     "cached_keys");
  EXPECT_TRUE(cached.starts_with("keys cached up to length 4096 no longer match at length 16384"))
      << cached;
}

}  // namespace
}  // namespace posgauge
