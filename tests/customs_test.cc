#include "posgauge/verify/customs.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "posgauge/verify/judge.h"
#include "posgauge/verify/subject.h"

namespace posgauge {
namespace {

const CustomFinding& Of(const CustomsCollector& customs, std::string_view name) {
  const auto found = std::ranges::find_if(customs.findings(), [&](const CustomFinding& finding) {
    return finding.custom.name == name;
  });
  if (found == customs.findings().end()) throw ParameterError(fmt::format("no rule {}", name));
  return *found;
}

void AddOne(CustomsCollector& customs, double position, double got, DoubleDouble exact) {
  customs.Add(position, std::vector<double>{got}, std::vector<DoubleDouble>{exact});
}

constexpr std::string_view kAssertClose = "torch.testing.assert_close";
constexpr std::string_view kNmse = "ggml NMSE 1e-7";

TEST(customs, AssertCloseHasTheTolerancesOfItsDtype) {
  for (const auto& [dtype, relative] :
       {std::pair(Dtype::f32, 1.3e-6), std::pair(Dtype::bf16, 1.6e-2),
        std::pair(Dtype::f16, 1e-3)}) {
    const std::vector<Custom> customs = CustomsOf(dtype);
    EXPECT_EQ(customs[0].name, kAssertClose);
    EXPECT_EQ(customs[0].relative, relative);
    EXPECT_EQ(customs[0].absolute, 1e-5);
  }
  // torch has none for eight bits.
  EXPECT_NE(CustomsOf(Dtype::f8e4m3)[0].name, kAssertClose);
}

TEST(customs, AToleranceIsReachedButNotPassed) {
  // want 1 in bf16: allowed 1e-5 + 1.6e-2, two spacings of 2^-7 are 1.5625e-2, three 2.34e-2.
  CustomsCollector customs(Dtype::bf16);
  AddOne(customs, 3, 1 + 2 * 0x1p-7, {1, 0});
  EXPECT_TRUE(Of(customs, kAssertClose).passes);
  AddOne(customs, 5, 1 + 3 * 0x1p-7, {1, 0});
  AddOne(customs, 9, 1 + 4 * 0x1p-7, {1, 0});
  const CustomFinding& finding = Of(customs, kAssertClose);
  EXPECT_FALSE(finding.passes);
  EXPECT_EQ(finding.count, 3u);
  EXPECT_EQ(finding.over, 2u);
  EXPECT_EQ(finding.fails_from, 5);
  EXPECT_EQ(Of(customs, "absolute 1e-2").fails_from, 3);
  EXPECT_EQ(Of(customs, "rtol=1e-5 atol=1e-1").fails_from, std::nullopt);
}

TEST(customs, NmseIsOfEverythingSoFar) {
  // (2^-10)^2 / (1 + 2^-10)^2 is 9.5e-7 alone, a tenth of it among ten like the exact one.
  CustomsCollector customs(Dtype::f32);
  AddOne(customs, 0, 1, {1, 0});
  EXPECT_TRUE(Of(customs, kNmse).passes);
  AddOne(customs, 1, 1 + 0x1p-10, {1, 0});
  EXPECT_FALSE(Of(customs, kNmse).passes);
  for (int position = 2; position < 12; ++position) AddOne(customs, position, 1, {1, 0});
  EXPECT_TRUE(Of(customs, kNmse).passes);
  EXPECT_EQ(Of(customs, kNmse).fails_from, 1);
}

TEST(customs, WhatIsNotFiniteBreaksEveryRuleUnlessItIsRight) {
  CustomsCollector right(Dtype::f16);
  AddOne(right, 1, HUGE_VAL, {1e6, 0});
  CustomsCollector wrong(Dtype::f16), unknown(Dtype::f16);
  AddOne(wrong, 1, -HUGE_VAL, {1e6, 0});
  AddOne(unknown, 1, NAN, {1, 0});
  for (size_t i = 0; i < right.findings().size(); ++i) {
    EXPECT_TRUE(right.findings()[i].passes) << right.findings()[i].custom.name;
    EXPECT_FALSE(wrong.findings()[i].passes) << wrong.findings()[i].custom.name;
    EXPECT_FALSE(unknown.findings()[i].passes) << unknown.findings()[i].custom.name;
  }
}

TEST(customs, WhatIsWantedIsRoundedOnce) {
  const Format bf16 = FormatOf(Dtype::bf16);
  const double tie = 1 + 0x1p-8;  // between 1, which is even, and 1 + 2^-7
  EXPECT_EQ(RoundTo(bf16, DoubleDouble{tie, 0}), 1);
  EXPECT_EQ(RoundTo(bf16, DoubleDouble{tie, 0x1p-80}), 1 + 0x1p-7);
  EXPECT_EQ(RoundTo(bf16, DoubleDouble{tie + 0x1p-7, -0x1p-80}), 1 + 0x1p-7);
  EXPECT_EQ(RoundTo(bf16, DoubleDouble{-tie, -0x1p-80}), -1 - 0x1p-7);
  EXPECT_EQ(RoundTo(FormatOf(Dtype::f64), DoubleDouble{1, 0x1p-54}), 1);
  EXPECT_THROW(CustomsCollector(Dtype::f32).Add(0, std::vector<double>{1}, {}), ParameterError);
}

// Frequencies in bf16, base 500000, 128 channels, x = (1, 0): the bound fails at the first position
// that turns, usual rules later, and one as wide as 0.1 at position 58. The figures are from cos
// and sin of p w and p bf16(w) as computed apart from this library.
TEST(customs, FrequenciesInBf16PassForLongWhereTheBoundFailsAtOnce) {
  const Scheme scheme = ParseScheme("rope", {"head_dim=128", "base=500000"});
  const Subject subject(FaultyKernel("faulty.frequency_bf16.rotate.bf16"), scheme);
  std::vector<double> positions, values;
  for (int p = 0; p < 64; ++p) {
    positions.push_back(p);
    for (int channel = 0; channel < 128; ++channel) values.push_back(channel < 64 ? 1 : 0);
  }
  const Tensor x = Tensor::FromValues(Dtype::bf16, {64, 1, 128}, values);
  const Tensor out = subject.Rotate(positions, x);
  const Rotated rotated{subject.layout(), positions, x, out};
  const TruthTable truth = TruthOf(subject.exact(), positions);
  const std::vector<DoubleDouble> exact = ExactValues(rotated, truth);
  const Finding finding = HoldToBound(rotated, truth, subject.bound());
  EXPECT_EQ(finding.first_failure->position, 1);

  // Element 67: the sine of pair 3 at position 1.
  const size_t element = 128 + 67;
  EXPECT_EQ(out.Value(element), 0.51171875);
  const double excess =
      RoundingIntervalExcess(Dtype::bf16, StoreRounding::rne, out.Value(element), exact[element]);
  EXPECT_EQ(fmt::format("{:.2e}", excess), "9.62e-04");
  EXPECT_GT(excess, 1000 * subject.bound().ElementExcess(1, 3, 1));

  CustomsCollector customs(Dtype::bf16);
  const std::vector<double> got = out.Values();
  for (size_t p = 0; p < positions.size(); ++p) {
    customs.Add(positions[p], std::span(got).subspan(p * 128, 128),
                std::span(exact).subspan(p * 128, 128));
  }
  EXPECT_EQ(Of(customs, kNmse).fails_from, 1);
  EXPECT_EQ(Of(customs, kAssertClose).fails_from, 2);
  EXPECT_EQ(Of(customs, "rtol=1e-2 atol=1e-2").fails_from, 8);
  EXPECT_EQ(Of(customs, "absolute 1e-2").fails_from, 8);
  EXPECT_EQ(Of(customs, "rtol=1e-5 atol=1e-1").fails_from, 58);
}

}  // namespace
}  // namespace posgauge
