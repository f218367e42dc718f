// The proven reference against values computed elsewhere, and what it promises about every value.
// Constants are from an independent computation (60 digits and more, another language), truncated.
#include <cmath>

#include <gtest/gtest.h>

#include "decimal_text.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/reference/llama3.h"
#include "posgauge/reference/rounding.h"
#include "posgauge/reference/yarn.h"
#include "posgauge/verify/random.h"

namespace posgauge {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Scheme Rope(int64_t rotary_dim, double base, const std::string& pairing = "half") {
  return ParseScheme("rope", {fmt::format("head_dim={}", rotary_dim), fmt::format("base={}", base),
                              "pairing=" + pairing});
}

// ---------------------------------------------------------------------------- printed anchors

TEST(reference, FrequenciesToAllPrintedDigits) {
  struct Anchor {
    double base;
    int64_t dim;
    size_t pair;
    std::string printed;
  };
  const std::vector<Anchor> anchors = {
      {10000, 128, 1, ".8659643233600653523531691834"},
      {10000, 128, 63, "1.1547819846894581796664828e-4"},
      {500000, 128, 32, "1.4142135623730950488016887e-3"},
      {1000000, 128, 63, "1.24093776075171956609870735e-6"},
      {150000, 64, 17, "1.7791047476692703473945853e-3"},
  };
  for (const Anchor& anchor : anchors) {
    const EnclosedValues values = ExactRotation(Rope(anchor.dim, anchor.base)).EncloseFrequencies();
    EXPECT_LE(values.radius, 0x1p-98);
    EXPECT_EQ(DigitsLike(anchor.printed, values.values[anchor.pair]), DigitsOf(anchor.printed));
  }
}

TEST(reference, CosinesAndSinesToAllPrintedDigits) {
  struct Anchor {
    double position;
    std::string cos, sin;
  };
  const std::vector<Anchor> anchors = {
      {1, ".6861468919275439955673405", ".7274630180965705011837723"},
      {4095, ".8708706189214010799620", "-.4915123244634419330158"},
      {131071, "-.8173161500238642727854", ".5761894748345965655316"},
  };
  const ExactRotation exact(Rope(128, 500000));
  for (const Anchor& anchor : anchors) {
    const EnclosedTable table = exact.EncloseTable(std::span(&anchor.position, 1));
    EXPECT_LE(table.radius, 0x1p-100);
    EXPECT_EQ(DigitsLike(anchor.cos, table.cos[1]), DigitsOf(anchor.cos)) << anchor.position;
    EXPECT_EQ(DigitsLike(anchor.sin, table.sin[1]), DigitsOf(anchor.sin)) << anchor.position;
    EXPECT_EQ(table.cos[1].high < 0, anchor.cos.starts_with('-'));
    EXPECT_EQ(table.sin[1].high < 0, anchor.sin.starts_with('-'));
  }
}

TEST(reference, Llama3FrequenciesToAllPrintedDigits) {
  const std::vector<std::pair<size_t, std::string>> anchors = {
      {28, "3.2114459947525910185434e-3"}, {29, "2.1665707635033586093415e-3"},
      {31, "8.5675141291963208107433e-4"}, {34, "1.7850781276799641852367e-4"},
      {35, "9.5562123539646830198683e-5"}, {63, "3.0689259889145110890524e-7"}};
  const EnclosedValues values = ExactRotation(ParseScheme("llama3", {})).EncloseFrequencies();
  for (const auto& [pair, printed] : anchors) {
    EXPECT_EQ(DigitsLike(printed, values.values[pair]), DigitsOf(printed)) << pair;
  }
}

TEST(reference, YarnRampEndsToAllPrintedDigits) {
  struct Anchor {
    double base;
    int64_t dim, length;
    std::string fast, slow;
    double low, high;
  };
  const std::vector<Anchor> anchors = {
      {10000, 128, 4096, "20.944481620636053071", "45.026881273754548688", 20, 46},
      {1000000, 128, 32768, "23.595947608338100294", "39.650880710417097372", 23, 40},
      {10000, 64, 4096, "10.472240810318026535", "22.513440636877274344", 10, 23},
      {150000, 64, 4096, "8.0927791155124010051", "17.398024501588555505", 8, 18},
      {10000, 128, 2048, "16.128001690012353947", "40.210401343130849565", 16, 41},
  };
  for (const Anchor& anchor : anchors) {
    yarn::Params params{
        .rotary = {.head_dim = anchor.dim, .rotary_dim = anchor.dim, .base = anchor.base},
        .original_length = anchor.length};
    using I = Interval<38>;
    const auto expect = [&](double turns, const std::string& printed) {
      const I index = yarn::PairOfTurns<I>(params, turns);
      // All but the last printed digit, which was rounded.
      const std::string digits = DigitsOf(printed).substr(0, DigitsOf(printed).size() - 1);
      EXPECT_EQ(Digits(index.lo(), digits.size()), digits);
      EXPECT_EQ(Digits(index.hi(), digits.size()), digits);
    };
    expect(32, anchor.fast);
    expect(1, anchor.slow);
    const yarn::Ramp<I> ramp = yarn::RampOf<I>(params);
    EXPECT_TRUE(ramp.low.IsPoint() && ramp.high.IsPoint());
    EXPECT_EQ(ramp.low.lo(), anchor.low);
    EXPECT_EQ(ramp.high.lo(), anchor.high);
    // gpt-oss does not round the ends.
    params.truncate = false;
    EXPECT_EQ(Digits(yarn::RampOf<I>(params).low.lo(), 5), DigitsOf(anchor.fast).substr(0, 5));
  }
}

TEST(reference, YarnMagnitudesToAllPrintedDigits) {
  struct Anchor {
    std::vector<std::string> settings;
    std::string magnitude, softmax;
  };
  const std::vector<Anchor> anchors = {
      {{"factor=1"}, "1", "1"},
      {{"factor=40"}, "1.3688879454113936302852455", "1"},
      {{"factor=16"}, "1.27725887222397812376689284", "1"},
      {{"factor=32"}, "1.34657359027997265470861606", "1"},
      {{"factor=40", "magnitude=telechat3"}, "1.25822156178797554119967189", "1"},
      // DeepSeek-V2-Lite and V3: equal scales cancel, the softmax takes their square.
      {{"factor=40", "magnitude=deepseek", "mscale=0.707", "mscale_all_dim=0.707"},
       "1",
       "1.58962616512087347540607723"},
      {{"factor=40", "magnitude=deepseek", "mscale=1", "mscale_all_dim=1"},
       "1",
       "1.873854207092626587463763863"},
      {{"factor=40", "magnitude=none", "mscale=1"}, "1", "1.873854207092626587463763863"},
      // What replaces the rule: binary64 numbers as they are given.
      {{"factor=40", "attention_factor=1.25"}, "1.25", "1"},
      {{"factor=1", "attention_multiplier=0.5"}, "0.5", "1"},
  };
  for (const Anchor& anchor : anchors) {
    const ExactRotation exact(ParseScheme("yarn", anchor.settings));
    const EnclosedValues magnitude = exact.EncloseMagnitude();
    const std::string digits = DigitsOf(anchor.magnitude);
    EXPECT_EQ(DigitsLike(anchor.magnitude, magnitude.values[0]), digits);
    const bool is_one = anchor.magnitude == "1";
    EXPECT_EQ(exact.IsPure(), is_one) << anchor.magnitude;
    EXPECT_TRUE(!is_one || exact.Magnitude(Dtype::f64).proofs[0] == Proof::exact);
    const RoundedValues softmax = exact.SoftmaxMultiplier(Dtype::f64);
    EXPECT_EQ(Digits(Real<38>(softmax.values[0]), 15),
              (DigitsOf(anchor.softmax) + std::string(15, '0')).substr(0, 15));
  }
}

// Kept, blended and divided pairs of published models.
TEST(reference, Llama3KeepsBlendsAndDividesTheRightPairs) {
  struct Anchor {
    std::vector<std::string> settings;
    std::array<int, 3> counts;
  };
  const std::vector<Anchor> anchors = {
      {{}, {29, 6, 29}},                                        // Llama 3.1 8B
      {{"head_dim=64", "factor=32"}, {15, 3, 14}},              // Llama 3.2 1B
      {{"factor=16", "high_frequency_factor=1"}, {35, 0, 29}},  // Llama 4: a step
  };
  for (const Anchor& anchor : anchors) {
    const Scheme scheme = ParseScheme("llama3", anchor.settings);
    const auto& params = std::get<llama3::Params>(scheme);
    const std::vector<double> scaled = ExactRotation(scheme).Frequencies(Dtype::f64).values;
    const std::vector<double> plain =
        ExactRotation(Rope(params.rotary.rotary_dim, 500000)).Frequencies(Dtype::f64).values;
    std::array<int, 3> counts{};
    for (size_t i = 0; i < scaled.size(); ++i) {
      // Factors are powers of two, so both ends are the plain rounding itself.
      const int kind = scaled[i] == plain[i] ? 0 : scaled[i] * params.factor == plain[i] ? 2 : 1;
      counts[static_cast<size_t>(kind)] += 1;
      EXPECT_TRUE(kind != 1 || (scaled[i] < plain[i] && scaled[i] * params.factor > plain[i]));
    }
    EXPECT_EQ(counts, anchor.counts);
  }
}

// huggingface/transformers, tests/utils/test_modeling_rope_utils.py: d 128, base 10000, original
// length 2048, factor 10; five digits, rounded.
TEST(reference, FiveDigitSnapshotsOfTransformers) {
  struct Snapshot {
    std::string name;
    std::vector<std::string> settings;
    size_t pair;
    std::string printed;
  };
  const std::vector<std::string> dynamic = {"form=dynamic", "factor=10", "trained_length=2048",
                                            "length=16384"};
  const std::vector<std::string> yarn = {"factor=10", "original_length=2048"};
  const std::vector<std::string> llama3 = {"factor=10", "original_length=2048", "base=10000"};
  const std::vector<Snapshot> snapshots = {
      {"ntk", dynamic, 1, "8.0931e-01"},    {"ntk", dynamic, 63, "1.6265e-06"},
      {"yarn", yarn, 17, "8.3479e-02"},     {"yarn", yarn, 40, "4.3007e-04"},
      {"llama3", llama3, 31, "1.0730e-02"}, {"llama3", llama3, 40, "3.4539e-04"},
  };
  for (const Snapshot& snapshot : snapshots) {
    const ExactRotation exact(ParseScheme(snapshot.name, snapshot.settings));
    const double value = exact.Frequencies(Dtype::f64).values[snapshot.pair];
    EXPECT_EQ(fmt::format("{:.4e}", value), snapshot.printed) << snapshot.name;
  }
}

// q = (1.0, 0.5, 0.8, 0.3), width 4, base 10000, position 3, pairs (0, 1) and (2, 3). 0.8 and 0.3
// are binary64 numbers.
TEST(reference, WorkedExampleOfFourChannels) {
  const ExactRotation exact(Rope(4, 10000, "interleaved"));
  const double position = 3;
  const std::vector<double> q = {1.0, 0.5, 0.8, 0.3};
  const auto rotate = [&](Dtype dtype) {
    return exact.Rotate(std::span(&position, 1), q, 1, dtype).values;
  };
  EXPECT_EQ(rotate(Dtype::f64), (std::vector<double>{-0x1.0f805e61e603fp+0, -0x1.6a5e887aa7b25p-2,
                                                     0x1.94cef251a1499p-1, 0x1.4ba25356789c4p-2}));
  EXPECT_EQ(rotate(Dtype::f32),
            (std::vector<double>{-0x1.0f805ep+0, -0x1.6a5e88p-2, 0x1.94cef2p-1, 0x1.4ba254p-2}));
  EXPECT_EQ(rotate(Dtype::bf16),
            (std::vector<double>{-0x1.1p+0, -0x1.6ap-2, 0x1.94p-1, 0x1.4cp-2}));
  // -1.06055250063037906832..., 0.79064137693844135950...: the first ten digits by hand.
  EXPECT_EQ(fmt::format("{:.9f} {:.9f}", rotate(Dtype::f64)[0], rotate(Dtype::f64)[2]),
            "-1.060552501 0.790641377");
}

// ---------------------------------------------------------------------------- hard roundings

// Entries found by exhaustive search to lie nearest to a midpoint between two numbers.
TEST(reference, HardestEntriesRoundTheRightWay) {
  const auto entry = [](double base, double position, size_t pair, bool sine, Dtype dtype) {
    const RoundedTable table = ExactRotation(Rope(128, base)).Table(std::span(&position, 1), dtype);
    EXPECT_EQ((sine ? table.sin : table.cos).proofs[pair], Proof::proven);
    return (sine ? table.sin : table.cos).values[pair];
  };
  EXPECT_EQ(entry(10000, 773546, 18, true, Dtype::f64), 0x1.f88982610d92ep-1);
  EXPECT_EQ(entry(500000, 35859, 45, true, Dtype::f64), -0x1.81c389c6a4ef9p-2);
  EXPECT_EQ(entry(10000, 977267, 62, false, Dtype::f32), -0x1.c5fb80p-5);
  EXPECT_EQ(entry(10000, 977267, 62, false, Dtype::f64), -0x1.c5fb7f0000001p-5);
  EXPECT_EQ(entry(500000, 548383, 19, false, Dtype::f32), -0x1.8c0496p-3);
}

// cos(548383 * 500000^(-38/128)) lies 2^-31.67 of an f32 ulp from a midpoint: its correctly rounded
// binary64 value is that midpoint, so that even a perfect double rounds the wrong way.
TEST(reference, RoundingThroughDoubleIsWrongOnce) {
  const Format f32 = FormatOf(Dtype::f32);
  const double position = 548383;
  const RoundedTable table =
      ExactRotation(Rope(128, 500000)).Table(std::span(&position, 1), Dtype::f64);
  EXPECT_EQ(table.cos.values[19], -0x1.8c0495p-3);
  EXPECT_EQ(RoundTo(f32, table.cos.values[19]), -0x1.8c0494p-3);
  // And plain double arithmetic is not even that near.
  const double plain = std::cos(position * std::pow(500000.0, -38.0 / 128));
  EXPECT_EQ(RoundTo(f32, plain), -0x1.8c0494p-3);
}

// bf16 has 8 bits: 1 + 2^-8 is a tie, which goes to the even 1 unless something, however small,
// lies beside it. At equal positions a score is the plain dot product, and is summed exactly.
TEST(reference, TiesAtEqualPositionsAreSeen) {
  const ExactRotation exact(Rope(4, 10000));
  const double position = 12345;
  const auto score = [&](double tiny) {
    // Channels 0 and 2 are a pair, 1 and 3 the other: 1 * 1 + 2^-4 * 2^-4 + tiny * 2^-1000.
    const std::vector<double> q = {1, 0x1p-4, tiny, 0}, k = {1, 0x1p-4, 0x1p-1000, 0};
    const RoundedValues scores =
        exact.Scores(std::span(&position, 1), std::span(&position, 1), q, k, 1, 1, Dtype::bf16);
    EXPECT_EQ(scores.proofs[0], Proof::proven);
    return scores.values[0];
  };
  EXPECT_EQ(score(0), 1);
  EXPECT_EQ(score(0x1p-1060), 1 + 0x1p-7);
  EXPECT_EQ(score(-0x1p-1060), 1);
}

// The same where nothing tells the reference that the angle is 0, and that intervals end at 1025
// bits.
TEST(reference, TiesBeyondThePrecisionAreUndecided) {
  const ExactRotation exact(Rotary{.head_dim = 4, .rotary_dim = 4},
                            std::vector<DoubleDouble>{{0, 0}, {0, 0}}, {1, 0});
  const double position = 12345, other = 12346;
  const auto score = [&](double tiny) {
    // Channels 0 and 2 are a pair, 1 and 3 the other: 1 * 1 + 2^-4 * 2^-4 + tiny * 2^-520.
    const std::vector<double> q = {1, 0x1p-4, tiny, 0}, k = {1, 0x1p-4, 0x1p-520, 0};
    return exact.Scores(std::span(&position, 1), std::span(&other, 1), q, k, 1, 1, Dtype::bf16);
  };
  const RoundedValues tie = score(0);
  EXPECT_EQ(tie.values[0], 1);
  EXPECT_EQ(tie.proofs[0], Proof::proven);
  const RoundedValues above = score(0x1p-480);  // 2^-1000
  EXPECT_EQ(above.values[0], 1 + 0x1p-7);
  EXPECT_EQ(above.proofs[0], Proof::proven);
  EXPECT_EQ(above.counts.max_bits, 1025);
  const RoundedValues below = score(-0x1p-480);
  EXPECT_EQ(below.values[0], 1);
  EXPECT_EQ(below.proofs[0], Proof::proven);
  const RoundedValues unseen = score(0x1p-540);  // 2^-1060
  EXPECT_EQ(unseen.proofs[0], Proof::undecided);
  EXPECT_EQ(unseen.counts.undecided, 1);
  EXPECT_EQ(unseen.counts.proven + unseen.counts.exact, 0);
  // Below the tie everything down to the next number rounds to 1, so that no more need be seen.
  const RoundedValues either = score(-0x1p-540);
  EXPECT_EQ(either.values[0], 1);
  EXPECT_EQ(either.proofs[0], Proof::proven);
  // A sum that is a number of the format is exact.
  const RoundedValues sum = exact.Scores(std::span(&position, 1), std::span(&position, 1),
                                         std::vector<double>{1, 2, 0x1p-7, 0},
                                         std::vector<double>{1, 0, 1, 7}, 1, 1, Dtype::bf16);
  EXPECT_EQ(sum.values[0], 1 + 0x1p-7);
  EXPECT_EQ(sum.proofs[0], Proof::exact);
}

TEST(reference, FrequenciesThatAreBinaryNumbersAreExact) {
  const auto counts = [](int64_t dim, double base, Dtype dtype) {
    return ExactRotation(Rope(dim, base)).Frequencies(dtype).counts;
  };
  // 65536^(-2i/16) = 2^(-2i).
  const ExactRotation powers(Rope(16, 65536));
  const RoundedValues frequencies = powers.Frequencies(Dtype::f16);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(frequencies.values[i], std::ldexp(1.0, -2 * static_cast<int>(i)));
    EXPECT_EQ(frequencies.proofs[i], Proof::exact);
  }
  EXPECT_EQ(counts(16, 65536, Dtype::f64), (ProofCounts{8, 0, 0, 128}));
  EXPECT_EQ(counts(128, 65536, Dtype::f32).exact, 16);
  EXPECT_EQ(counts(128, 10000, Dtype::f64).exact, 1);
  EXPECT_EQ(counts(128, 10000, Dtype::f64).proven, 63);
  EXPECT_EQ(counts(128, 1, Dtype::f64).exact, 64);
  // 2^-16 is no f16 number below its subnormals' range of three digits: 2^-24 is the last.
  EXPECT_EQ(counts(4, 0x1p40, Dtype::f16).exact, 2);
  EXPECT_EQ(counts(4, 0x1p60, Dtype::f16).exact, 1);
}

// ---------------------------------------------------------------------------- ranges and rules

TEST(reference, PositionZeroIsExact) {
  const ExactRotation exact(Rope(128, 500000));
  const double zero = 0;
  const RoundedTable table = exact.Table(std::span(&zero, 1), Dtype::f64);
  EXPECT_EQ(table.cos.counts.exact, 64);
  EXPECT_EQ(table.sin.counts.exact, 64);
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(table.cos.values[i], 1);
    EXPECT_EQ(table.sin.values[i], 0);
  }
}

TEST(reference, NegativeFractionalAndHugePositions) {
  const ExactRotation exact(Rope(128, 10000));
  const auto at = [&](double position, size_t pair) {
    const RoundedTable table = exact.Table(std::span(&position, 1), Dtype::f64);
    EXPECT_EQ(table.cos.counts.undecided + table.sin.counts.undecided, 0);
    return std::pair(table.cos.values[pair], table.sin.values[pair]);
  };
  EXPECT_EQ(at(-0.5, 1), std::pair(0x1.d0c07bcf0fba9p-1, -0x1.ada64829d14cbp-2));
  EXPECT_EQ(at(0x1p53, 0), std::pair(-0x1.0e9918bb35aacp-1, -0x1.b2a66c8f35586p-1));
  EXPECT_EQ(at(0x1p53, 1), std::pair(0x1.248fe72bebd52p-3, -0x1.fabfb8e4514e1p-1));
  EXPECT_EQ(at(0x1p53, 63).second, 0x1.c57b19a797500p-4);
  for (const double position : {1.0, 131071.0, 0x1p53}) {
    for (const size_t pair : {size_t{0}, size_t{5}, size_t{63}}) {
      const auto [cos, sin] = at(position, pair);
      EXPECT_EQ(at(-position, pair), std::pair(cos, -sin));
    }
  }
  for (const double wrong : {double{NAN}, kInfinity, -kInfinity}) {
    EXPECT_THROW(exact.Table(std::span(&wrong, 1), Dtype::f64), ParameterError);
  }
}

TEST(reference, ZerosKeepTheirSignAtAngleZeroOnly) {
  for (const auto& settings : std::vector<std::vector<std::string>>{{"factor=1", "head_dim=4"},
                                                                    {"factor=40", "head_dim=4"}}) {
    const ExactRotation exact(ParseScheme("yarn", settings));
    const std::vector<double> positions = {0, 3};
    // Pair 0 is channels 0 and 2, pair 1 channels 1 and 3.
    const std::vector<double> x = {-0.0, 0.0, 5.0, -0.0, -0.0, 0.0, -0.0, -0.0};
    const RoundedValues out = exact.Rotate(positions, x, 1, Dtype::f32);
    const auto is_zero = [&](size_t at, bool negative) {
      return out.values[at] == 0 && std::signbit(out.values[at]) == negative &&
             out.proofs[at] == Proof::exact;
    };
    EXPECT_TRUE(is_zero(0, true) && is_zero(1, false) && is_zero(3, true));
    for (size_t at = 4; at < 8; ++at) EXPECT_TRUE(is_zero(at, false)) << at;
    EXPECT_EQ(out.counts.undecided, 0);
  }
}

TEST(reference, NotANumberStaysInItsPair) {
  const ExactRotation exact(Rope(4, 10000));
  const std::vector<double> positions = {0, 7};
  const std::vector<double> x = {NAN, 1, 2, 3, kInfinity, 1, 2, 3};
  const RoundedValues out = exact.Rotate(positions, x, 1, Dtype::f32);
  for (const size_t at : {0u, 2u, 4u, 6u}) EXPECT_TRUE(std::isnan(out.values[at])) << at;
  for (const size_t at : {1u, 3u, 5u, 7u}) EXPECT_TRUE(std::isfinite(out.values[at])) << at;
}

TEST(reference, OverflowAndSubnormalsOfTheDtype) {
  const ExactRotation exact(Rope(4, 10000, "interleaved"));
  const double one = 1;
  const auto rotate = [&](double u, double v, Dtype dtype) {
    return exact.Rotate(std::span(&one, 1), std::vector<double>{u, v, 0, 0}, 1, dtype);
  };
  // cos 1 = 0.5403, sin 1 = 0.8415.
  const RoundedValues large = rotate(65504, 65504, Dtype::f16);
  EXPECT_EQ(large.values[0], -19728);  // 65504 * -0.30117 = -19727.8...
  EXPECT_EQ(large.values[1], kInfinity);
  EXPECT_EQ(large.proofs[1], Proof::proven);
  const RoundedValues small = rotate(0x1p-24, 0, Dtype::f16);
  EXPECT_EQ(small.values[0], 0x1p-24);
  EXPECT_EQ(small.values[1], 0x1p-24);
  const RoundedValues less = rotate(-0x1p-25, 0, Dtype::f16);
  EXPECT_EQ(less.values[0], 0);
  EXPECT_TRUE(std::signbit(less.values[0]));
  EXPECT_EQ(less.proofs[0], Proof::proven);
  // Three subnormal steps: 3 * 0.5403 = 1.62, 3 * 0.8415 = 2.52.
  const RoundedValues steps = rotate(3 * 0x1p-149, 0, Dtype::f32);
  EXPECT_EQ(steps.values[0], 2 * 0x1p-149);
  EXPECT_EQ(steps.values[1], 3 * 0x1p-149);
  const RoundedValues wide = rotate(3 * 0x1p-1074, 0, Dtype::f64);
  EXPECT_EQ(wide.values[0], 2 * 0x1p-1074);
  EXPECT_EQ(wide.values[1], 3 * 0x1p-1074);
  EXPECT_EQ(rotate(0x1.fffffffffffffp1023, 0x1p1023, Dtype::f64).values[1], kInfinity);
}

TEST(reference, BackwardIsTheTranspose) {
  for (const std::string name : {"rope", "yarn"}) {
    std::vector<std::string> settings = {"head_dim=8", "pairing=interleaved"};
    if (name == "yarn") settings.push_back("factor=40");
    const ExactRotation exact(ParseScheme(name, settings));
    const double position = 1234;
    const RoundedTable table = exact.Table(std::span(&position, 1), Dtype::f64);
    for (size_t channel = 0; channel < 8; ++channel) {
      std::vector<double> unit(8, 0);
      unit[channel] = 1;
      const auto forward = exact.Rotate(std::span(&position, 1), unit, 1, Dtype::f64).values;
      const auto backward =
          exact.RotateBackward(std::span(&position, 1), unit, 1, Dtype::f64).values;
      const size_t pair = channel / 2, first = 2 * pair, second = first + 1;
      const double c = table.cos.values[pair], s = table.sin.values[pair];
      const bool is_first = channel == first;
      // Columns of R = (c -s; s c) and of its transpose.
      EXPECT_EQ(std::pair(forward[first], forward[second]),
                is_first ? std::pair(c, s) : std::pair(-s, c));
      EXPECT_EQ(std::pair(backward[first], backward[second]),
                is_first ? std::pair(c, -s) : std::pair(s, c));
    }
  }
}

// Sums of 2 head_dim products of correctly rounded values: each factor is within u relatively, the
// double sum rounds head_dim times.
TEST(reference, ScoresAreTheDotOfTheRotations) {
  constexpr int64_t kHeads = 2, kDim = 16;
  const Scheme scheme =
      ParseScheme("yarn", {"factor=40", "head_dim=16", "rotary_dim=12", "rotary_offset=2"});
  const ExactRotation exact(scheme);
  const std::vector<double> queries = {0, 5, 131071}, keys = {3, 5, -7, 99999};
  Random random(2, "scores");
  const auto fill = [&](size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = 4 * random.Uniform() - 2;
    return values;
  };
  const std::vector<double> q = fill(3 * kHeads * kDim), k = fill(4 * kHeads * kDim);
  const double scale = 0.25;
  const RoundedValues scores = exact.Scores(queries, keys, q, k, kHeads, scale, Dtype::f64);
  ASSERT_EQ(scores.values.size(), 2u * 3 * 4);
  EXPECT_EQ(scores.counts.undecided, 0);
  const std::vector<double> rotated_q = exact.Rotate(queries, q, kHeads, Dtype::f64).values;
  const std::vector<double> rotated_k = exact.Rotate(keys, k, kHeads, Dtype::f64).values;
  for (size_t head = 0; head < kHeads; ++head) {
    for (size_t query = 0; query < 3; ++query) {
      for (size_t key = 0; key < 4; ++key) {
        double sum = 0, size = 0;
        for (size_t channel = 0; channel < kDim; ++channel) {
          const double product = rotated_q[(query * kHeads + head) * kDim + channel] *
                                 rotated_k[(key * kHeads + head) * kDim + channel];
          sum += product;
          size += std::fabs(product);
        }
        const double score = scores.values[(head * 3 + query) * 4 + key];
        EXPECT_LE(std::fabs(score - scale * sum), scale * size * (kDim + 3) * 0x1p-53);
      }
    }
  }
}

// Rows computed together, on as many threads as there are, are the rows computed alone.
TEST(reference, ThreadsDoNotChangeResults) {
  const ExactRotation exact(Rope(64, 500000));
  std::vector<double> positions(100);
  for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<double>(i * i * 7);
  Random random(4, "threads");
  std::vector<double> x(positions.size() * 64);
  for (double& value : x) value = random.Uniform() - 0.5;
  const RoundedTable table = exact.Table(positions, Dtype::f32);
  const RoundedValues rotated = exact.Rotate(positions, x, 1, Dtype::f32);
  ProofCounts cos, all;
  for (size_t i = 0; i < positions.size(); ++i) {
    const Positions one = std::span(positions).subspan(i, 1);
    const RoundedTable row = exact.Table(one, Dtype::f32);
    const RoundedValues out = exact.Rotate(one, std::span(x).subspan(64 * i, 64), 1, Dtype::f32);
    for (size_t pair = 0; pair < 32; ++pair) {
      EXPECT_EQ(table.cos.values[32 * i + pair], row.cos.values[pair]);
      EXPECT_EQ(table.cos.distances[32 * i + pair], row.cos.distances[pair]);
      EXPECT_EQ(table.sin.proofs[32 * i + pair], row.sin.proofs[pair]);
    }
    for (size_t channel = 0; channel < 64; ++channel) {
      EXPECT_EQ(rotated.values[64 * i + channel], out.values[channel]);
    }
    cos.Merge(row.cos.counts);
    all.Merge(out.counts);
  }
  EXPECT_EQ(table.cos.counts, cos);
  EXPECT_EQ(rotated.counts, all);
}

TEST(reference, GivenFrequenciesAreTakenAsTheyAre) {
  const Rotary layout{.head_dim = 6, .rotary_dim = 4};
  const std::vector<DoubleDouble> frequencies = {{0x1.23456789abcdep-3, 0x1p-70}, {-2, 0}};
  const ExactRotation given(layout, frequencies, {1.25, 0});
  EXPECT_FALSE(given.IsPure());
  EXPECT_EQ(given.Magnitude(Dtype::f64).values[0], 1.25);
  EXPECT_EQ(given.Magnitude(Dtype::f64).proofs[0], Proof::exact);
  const RoundedValues rounded = given.Frequencies(Dtype::f64);
  EXPECT_EQ(rounded.values, (std::vector<double>{0x1.23456789abcdep-3, -2}));
  EXPECT_EQ(rounded.proofs, (std::vector<Proof>{Proof::proven, Proof::exact}));
  const EnclosedValues enclosed = given.EncloseFrequencies();
  EXPECT_EQ(enclosed.radius, 0);
  EXPECT_EQ(enclosed.values[0].low, 0x1p-70);
  // The second pair is that of a plain rotation by -2 p.
  const double position = 3, turned = -6;
  const RoundedTable table = given.Table(std::span(&position, 1), Dtype::f64);
  const ExactRotation unit(Rotary{.head_dim = 2, .rotary_dim = 2},
                           std::vector<DoubleDouble>{{1, 0}}, {1.25, 0});
  const RoundedTable plain = unit.Table(std::span(&turned, 1), Dtype::f64);
  EXPECT_EQ(table.cos.values[1], plain.cos.values[0]);
  EXPECT_EQ(table.sin.values[1], plain.sin.values[0]);
  EXPECT_THROW(ExactRotation(layout, std::span(frequencies).first(1), {1, 0}), ParameterError);
}

}  // namespace
}  // namespace posgauge
