#include <cmath>

#include "kernel_call.h"
#include "posgauge/fast/all.h"
#include "posgauge/reference/exact_rotation.h"

namespace posgauge {
namespace {

// What fast/<scheme>.h promise for published parameters.
constexpr double kBound = 0x1p-90;

FastRotation RotationOf(const std::string& name, const std::vector<std::string>& settings) {
  return std::visit(
      [](const auto& params) -> FastRotation {
        if constexpr (requires { Frequencies(params); }) return Frequencies(params);
        throw ParameterError("has no frequencies");
      },
      ParseScheme(name, settings));
}

void ExpectClose(DoubleDouble got, DoubleDouble want) {
  const double difference = (got.high - want.high) + (got.low - want.low);
  EXPECT_LE(std::fabs(difference), kBound * std::fabs(want.high))
      << std::hexfloat << got.high << " + " << got.low << " for " << want.high << " + " << want.low;
}

// Values from mpmath (mp.prec = 400), as h = float(x), float(x - h); d = 128 unless said:
//   w = mpf(b)**(-mpf(2*i)/d)
//   aware, dynamic: w * mpf(a)**(-mpf(2*i)/(d-2)), a = 8 or 1 + mpf(8)*(9001-4096)/4096
//   llama3: k = (L*w/(2*pi) - 1)/3 in 0..1;  yarn: k = 1 - (i-lo)/(hi-lo) in 0..1, lo, hi from
//   c = lambda n: d*log(L/(2*pi*n))/(2*log(mpf(b)));  both w/s*(1-k) + w*k
//   over turns: k = (L*w/(2*pi) - 1)/31 in 0..1;  dynamic: s = mpf(9001)/4096
//   fixed: w * mpf(8)**(-mpf(2*(i+1))/d);  mixed: w * exp(-log(mpf(8)) * (mpf(i+1)/64)**mpf(0.625))
//   qwen: w * mpf(7)**(-mpf(2*i)/(d-2));  longrope: 1/mpf(22.90118105)
//   proportional: mpf(10**6)**(-mpf(126)/512)/3
struct Expected {
  std::string scheme;
  std::vector<std::string> settings;
  size_t pair;
  DoubleDouble frequency;
};
const std::vector<Expected> kExpected = {
    {"rope", {}, 1, {0x1.bb5fad00ab22cp-1, 0x1.a1cecee7dcb25p-58}},
    {"rope", {"base=500000"}, 63, {0x1.4985fec80a8cbp-19, 0x1.6c73194a65546p-78}},
    {"rope",
     {"base=500000", "direction=clockwise"},
     63,
     {-0x1.4985fec80a8cbp-19, -0x1.6c73194a65546p-78}},
    {"linear", {"factor=8"}, 1, {0x1.bb5fad00ab22cp-4, 0x1.a1cecee7dcb25p-61}},
    {"ntk", {"factor=8"}, 31, {0x1.10055b8a9fddep-8, 0x1.21212b8029b49p-66}},
    {"ntk", {"factor=8", "form=naive"}, 31, {0x1.1467a6b5743abp-8, 0x1.1000a634d052cp-62}},
    {"ntk",
     {"factor=8", "form=dynamic", "trained_length=4096", "length=9001"},
     31,
     {0x1.da20fa397ebedp-9, 0x1.3b65d771e43fcp-63}},
    {"ntk", {"factor=8", "form=fixed"}, 31, {0x1.0b91875307090p-8, -0x1.81cf5255486adp-63}},
    {"ntk",
     {"factor=8", "form=mixed", "mixed_exponent=0.625"},
     31,
     {0x1.8908552248604p-9, 0x1.2aa29dfb1483fp-65}},
    {"ntk",
     {"form=qwen", "trained_length=4096", "length=8193"},
     31,
     {0x1.227e9cf9a023ap-8, -0x1.7f987a9a07ec9p-62}},
    {"yarn", {"factor=16", "ramp=turns"}, 30, {0x1.01f2ee4640657p-8, -0x1.17fa6c8340156p-66}},
    {"yarn", {"length=9001"}, 38, {0x1.5833907b83956p-9, 0x1.b3355a2527e49p-63}},
    {"longrope",
     {"rotary_dim=2", "long_factor=[22.90118105]", "length=4097"},
     0,
     {0x1.65b5f793cc204p-5, -0x1.2e578997d8a8ap-62}},
    {"proportional",
     {"rotary_dim=512", "base=1000000", "proportion=0.25", "factor=3"},
     63,
     {0x1.6c8ec02e35efcp-7, -0x1.5e760b883ade8p-63}},
    {"proportional", {"proportion=0.25"}, 16, {0, 0}},
    {"llama3", {}, 28, {0x1.a4ee3f0a6907bp-9, 0x1.15807c4617a07p-63}},
    {"llama3", {}, 31, {0x1.c12f3a64f3002p-11, 0x1.1029c0b149ad3p-68}},
    {"llama3", {}, 35, {0x1.90d10c806f8c1p-14, -0x1.735eb279d0e45p-69}},
    {"llama3",
     {"factor=16", "high_frequency_factor=1"},
     34,
     {0x1.ec07d4a69338fp-11, 0x1.d9f05e4045054p-68}},
    {"llama3",
     {"factor=16", "high_frequency_factor=1"},
     35,
     {0x1.90d10c806f8c1p-15, -0x1.735eb279d0e45p-70}},
    {"yarn", {"factor=16"}, 20, {0x1.ccab8602d2697p-5, -0x1.f6b67c4ccffe0p-59}},
    {"yarn", {"factor=16"}, 38, {0x1.83f89e29baa4ap-10, -0x1.67af04126f987p-65}},
    {"yarn", {"factor=16"}, 46, {0x1.5d931bc235544p-14, -0x1.59339c6c268dcp-69}},
    {"yarn",
     {"factor=32", "base=150000", "rotary_dim=64", "truncate=false"},
     9,
     {0x1.03bbaa06b8abdp-5, -0x1.aa70e4d79163bp-59}},
    {"yarn",
     {"factor=32", "base=150000", "rotary_dim=64", "truncate=false"},
     17,
     {0x1.0f3372f6a69a2p-13, -0x1.f513920e7181bp-67}},
};

TEST(fast_frequency, AgreesWithMpmath) {
  for (const auto& [scheme, settings, pair, frequency] : kExpected) {
    SCOPED_TRACE(fmt::format("{} {} pair {}", scheme, fmt::join(settings, " "), pair));
    ExpectClose(RotationOf(scheme, settings).frequency[pair], frequency);
  }
}

// mpmath: log(mpf(16))/10+1; (mpf(7)/100*log(mpf(4))+1)*1.5; mpf(1)/10*0.5*log(mpf(40))+1.
TEST(fast_frequency, MagnitudesAgreeWithMpmath) {
  const auto expect = [](const std::vector<std::string>& settings, DoubleDouble want) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(settings, " ")));
    ExpectClose(RotationOf("yarn", settings).magnitude, want);
  };
  expect({"factor=16"}, {0x1.46fa6ffcba530p+0, -0x1.440ad275ae65ap-55});
  expect({"factor=4", "magnitude=telechat3", "attention_multiplier=1.5"},
         {0x1.a5437acb15053p+0, -0x1.21dc70d87dc78p-54});
  expect({"factor=40", "magnitude=deepseek", "mscale=0.5"},
         {0x1.2f37b85eb71cep+0, 0x1.c8f641bccb1a9p-56});
  expect({"factor=40", "mscale=0.707", "mscale_all_dim=0.707"}, {1, 0});
  expect({"factor=40", "magnitude=none"}, {1, 0});
  expect({"factor=40", "attention_factor=1.25", "attention_multiplier=3"}, {1.25, 0});
  expect({"factor=1"}, {1, 0});
  expect({"length=9001"}, {0x1.1427cfd0630f5p+0, -0x1.f51f0e29cf7e5p-54});
}

// mpmath: sqrt(1 + log(mpf(32))/log(mpf(4096))).
TEST(fast_frequency, LongRopeMagnitudeAgreesWithMpmath) {
  ExpectClose(RotationOf("longrope", {"factor=32"}).magnitude,
              {0x1.30b3713738289p+0, 0x1.86dbf5693b5d7p-59});
}

const std::vector<std::pair<std::string, std::vector<std::string>>> kSchemes = {
    {"rope", {"base=1e30", "rotary_dim=64"}},
    {"rope", {"base=1e-30"}},
    {"rope", {"base=1.0000001"}},
    {"rope", {"rotary_dim=2"}},
    {"rope", {"rotary_dim=0", "head_dim=8"}},
    {"linear", {"factor=3.7"}},
    {"ntk", {"factor=0.3"}},
    {"ntk", {"factor=1e6", "form=dynamic", "trained_length=4096", "length=1099511627776"}},
    {"ntk", {"factor=2", "form=dynamic", "trained_length=4096", "length=4096"}},
    {"llama3", {"factor=32", "rotary_dim=64"}},
    {"yarn", {"factor=1000000", "base=1000000"}},
    {"yarn", {"factor=40", "base=10000", "rotary_dim=64", "extrapolation_factor=0.25"}},
    {"yarn", {"factor=4", "beta_fast=1"}},
    {"yarn", {"factor=4", "beta_fast=1", "truncate=false"}},
    {"yarn",
     {"base=10", "rotary_dim=64", "factor=4", "original_length=32768",
      "inverted_ramp=huggingface"}},
    {"yarn",
     {"base=10", "rotary_dim=64", "factor=4", "original_length=32768", "inverted_ramp=ggml"}},
    {"yarn", {"factor=4", "original_length=4", "inverted_ramp=huggingface"}},
    {"yarn", {"factor=4", "original_length=4", "inverted_ramp=ggml"}},
    {"yarn", {"factor=1000000", "base=1000000", "ramp=turns"}},
    {"yarn", {"factor=4", "beta_fast=1", "ramp=turns", "extrapolation_factor=0.5"}},
    {"yarn", {"factor=4", "base=0.5", "ramp=turns"}},
    {"yarn", {"length=4096"}},
    {"yarn", {"length=4097"}},
    {"yarn", {"length=1099511627776", "ramp=turns", "magnitude=telechat3"}},
    {"ntk", {"factor=0.3", "form=fixed", "rotary_dim=2"}},
    {"ntk", {"factor=1e6", "form=mixed", "mixed_exponent=2", "base=1e30"}},
    {"ntk", {"factor=3", "form=mixed", "mixed_exponent=0"}},
    {"ntk", {"form=qwen", "trained_length=1", "length=1099511627776"}},
    {"ntk", {"form=qwen", "trained_length=4096", "length=0"}},
    {"ntk", {"form=qwen", "trained_length=4096", "length=4096"}},
    {"ntk", {"form=qwen", "trained_length=4096", "length=4097"}},
    {"ntk", {"form=qwen", "trained_length=4096", "length=8192"}},
    {"longrope", {"factor=32"}},
    {"longrope", {"factor=32768"}},
    {"longrope", {"factor=1e6", "original_length=2"}},
    {"longrope",
     {"rotary_dim=8", "short_factor=[1,1.1,3,1e6]", "long_factor=[1e-6,0.1,7,9]", "length=4096"}},
    {"longrope",
     {"rotary_dim=8", "short_factor=[1,1.1,3,1e6]", "long_factor=[1e-6,0.1,7,9]", "length=4097",
      "long_mscale=1.2", "direction=clockwise"}},
    {"proportional", {"proportion=0.29", "rotary_dim=100", "factor=7"}},
    {"proportional", {"proportion=0.7", "direction=clockwise"}},
    {"proportional", {"proportion=0"}},
    {"mrope", {"base=1e6", "section=[16,24,24]"}},
    {"axial", {"section=[1,7,56]", "direction=clockwise"}},
    {"axial", {"base=1e30", "section=[16,16,16,16]", "frequency_index=alternating"}},
};

// The reference shares no code with fast/.
TEST(fast_frequency, AgreesWithTheReference) {
  for (const auto& [name, settings] : kSchemes) {
    SCOPED_TRACE(fmt::format("{} {}", name, fmt::join(settings, " ")));
    const ExactRotation exact(ParseScheme(name, settings));
    const EnclosedValues want = exact.EncloseFrequencies();
    const FastRotation got = RotationOf(name, settings);
    ASSERT_EQ(got.frequency.size(), want.values.size());
    for (size_t i = 0; i < want.values.size(); ++i) ExpectClose(got.frequency[i], want.values[i]);
    ExpectClose(got.magnitude, exact.EncloseMagnitude().values[0]);
  }
}

TEST(fast_frequency, KernelYieldsBothParts) {
  const Scheme scheme = ParseScheme("yarn", {"factor=16", "rotary_dim=64"});
  const FastRotation want = RotationOf("yarn", {"factor=16", "rotary_dim=64"});
  CallTensor high(Dtype::f64, {32}, {3}), low(Dtype::f64, {32}), magnitude(Dtype::f64, {1});
  const auto [status, why] = CallKernel(
      "fast.frequencies", scheme, {},
      {high.Argument("frequency"), low.Argument("frequency_low"), magnitude.Argument("magnitude")});
  ASSERT_EQ(status, POSGAUGE_OK) << why;
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(high.Value(i), want.frequency[i].high);
    EXPECT_EQ(low.Value(i), want.frequency[i].low);
  }
  EXPECT_EQ(magnitude.Value(0), want.magnitude.high);
  EXPECT_TRUE(high.OthersUntouched() && low.OthersUntouched() && magnitude.OthersUntouched());
}

TEST(fast_frequency, InvertedRampIsRefused) {
  const Scheme scheme =
      ParseScheme("yarn", {"base=10", "rotary_dim=64", "factor=4", "original_length=32768"});
  CallTensor high(Dtype::f64, {32}), low(Dtype::f64, {32}), magnitude(Dtype::f64, {1});
  const auto [status, why] = CallKernel(
      "fast.frequencies", scheme, {},
      {high.Argument("frequency"), low.Argument("frequency_low"), magnitude.Argument("magnitude")});
  EXPECT_EQ(status, POSGAUGE_UNSUPPORTED);
  EXPECT_NE(why.find("yarn: the ramp is inverted: low end 70 above high end 63"), std::string::npos)
      << why;
}

}  // namespace
}  // namespace posgauge
