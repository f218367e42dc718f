#include "posgauge/properties/sinusoidal.h"

#include <cmath>

#include <gtest/gtest.h>

#include "decimal_text.h"
#include "faulty_kernels.h"
#include "law_checks.h"
#include "posgauge/fast/sinusoidal.h"
#include "posgauge/golden/manifest.h"
#include "posgauge/reference/exact_addition.h"
#include "posgauge/reference/sinusoidal.h"
#include "posgauge/verify/check.h"

namespace posgauge {
namespace {

using Settings = std::vector<std::string>;

Scheme Sinusoidal(const Settings& settings) { return ParseScheme("sinusoidal", settings); }

std::vector<DoubleDouble> RowAt(const Settings& settings, double position) {
  return ExactAddition(Sinusoidal(settings)).EncloseRows(std::span(&position, 1)).values;
}

// Thirty digits, by mpmath at 60 digits from sin and cos of (p + start) scale base^(-k/D), in no
// part this program: /usr/bin/python3 -c 'from mpmath import *; mp.dps = 60; ...'.
struct Worked {
  std::string name;
  Settings settings;
  double position;
  std::vector<std::string> row;
};

const std::vector<Worked> kWorked = {
    {"Vaswani, width 4",
     {"width=4"},
     3,
     {"0.141120008059867222100744802808", "-0.989992496600445457271572794731",
      "0.0299955002024956607685263419263", "0.999550033748987516272158706467"}},
    {"Vaswani, width 8",
     {"width=8"},
     5,
     {"-0.958924274663138468893154406156", "0.283662185463226264466639171514",
      "0.479425538604203000273287935216", "0.877582561890372716116281582604",
      "0.0499791692706783287948650008455", "0.998750260394966246562870811157",
      "0.00499997916669270831783234665213", "0.999987500026041644965287465895"}},
    {"Transformer-XL: halves",
     {"width=8", "layout=halves"},
     5,
     {"-0.958924274663138468893154406156", "0.479425538604203000273287935216",
      "0.0499791692706783287948650008455", "0.00499997916669270831783234665213",
      "0.283662185463226264466639171514", "0.877582561890372716116281582604",
      "0.998750260394966246562870811157", "0.999987500026041644965287465895"}},
    {"tensor2tensor, fairseq: K - 1",
     {"width=8", "layout=halves", "frequency_shift=1"},
     5,
     {"-0.958924274663138468893154406156", "0.230001711664767389882324545798",
      "0.0107719651180348290279676748028", "0.000499999979166666927083331783234",
      "0.283662185463226264466639171514", "0.973190224278520588745984531495",
      "0.999941980700628370658589192213", "0.999999875000002604166644965278"}},
    {"odd, one sine more: DistilBERT, XLM",
     {"width=5", "odd_width=extra_sine"},
     7,
     {"0.656986598718789090396999091594", "0.753902254343304638141197521719",
      "0.17492741915009652598032374269", "0.984581331343168644784357260954",
      "0.00441668705175792510976909455654"}},
    {"odd, a zero: tensor2tensor, fairseq",
     {"width=5", "layout=halves", "frequency_shift=1", "odd_width=zero"},
     7,
     {"0.656986598718789090396999091594", "0.000699999942833334733916650326528",
      "0.753902254343304638141197521719", "0.999999755000010004166503265279", "0"}},
    {"odd, split at ceil: Marian",
     {"width=5", "layout=halves", "odd_width=extra_sine"},
     7,
     {"0.656986598718789090396999091594", "0.17492741915009652598032374269",
      "0.00441668705175792510976909455654", "0.753902254343304638141197521719",
      "0.984581331343168644784357260954"}},
    {"timesteps of ggml, and of diffusers flipped without shift",
     {"width=8", "layout=flipped", "frequency_shift=0"},
     10,
     {"-0.839071529076452452258863947824", "0.540302305868139717400936607443",
      "0.995004165278025766095561987804", "0.999950000416665277780257933752",
      "-0.544021110889369813404747661851", "0.84147098480789650665250232163",
      "0.0998334166468281523068141984106", "0.0099998333341666646825424382691"}},
    {"timesteps of diffusers, not flipped, shift 1",
     {"width=8", "layout=halves", "frequency_shift=1"},
     10,
     {"-0.544021110889369813404747661851", "0.447670834718957202425859899597",
      "0.021542680272331650033254743578", "0.000999999833333341666666468253971",
      "-0.839071529076452452258863947824", "0.894198425262554408756413697935",
      "0.999767929534991681783854551016", "0.999999500000041666665277777803"}},
    {"timesteps of diffusers, scaled",
     {"width=8", "layout=flipped", "frequency_shift=0", "scale=1000"},
     0.5,
     {"-0.883849273431477962166605403469", "0.964966028492113274068957058901",
      "0.283662185463226264466639171514", "0.877582561890372716116281582604",
      "-0.467771805322476126320700896723", "-0.262374853703928785914393646913",
      "-0.958924274663138468893154406156", "0.479425538604203000273287935216"}},
    {"base 100",
     {"width=4", "base=100"},
     3,
     {"0.141120008059867222100744802808", "-0.989992496600445457271572794731",
      "0.295520206661339575105320745685", "0.955336489125606019642310227568"}},
};

bool IsNegative(const std::string& printed) { return printed.starts_with('-'); }

TEST(sinusoidal, WorkedValuesHoldToEveryDigit) {
  for (const Worked& worked : kWorked) {
    const std::vector<DoubleDouble> row = RowAt(worked.settings, worked.position);
    ASSERT_EQ(row.size(), worked.row.size()) << worked.name;
    for (size_t i = 0; i < row.size(); ++i) {
      if (worked.row[i] == "0") {
        EXPECT_EQ(row[i].high, 0) << worked.name << " " << i;
        continue;
      }
      // Trailing zeros are not printed.
      std::string digits = RoundedLike(worked.row[i], row[i]);
      EXPECT_EQ(digits, DigitsOf(worked.row[i])) << worked.name << " " << i;
      EXPECT_EQ(row[i].high < 0, IsNegative(worked.row[i])) << worked.name << " " << i;
    }
  }
}

TEST(sinusoidal, TheExampleOfEveryTutorial) {
  const double position = 3;
  const RoundedValues row =
      ExactAddition(Sinusoidal({"width=4"})).Rows(std::span(&position, 1), Dtype::f32);
  std::vector<std::string> shown;
  for (double value : row.values) shown.push_back(fmt::format("{:.3f}", value));
  EXPECT_EQ(shown, (std::vector<std::string>{"0.141", "-0.990", "0.030", "1.000"}));
}

// <PE(5), PE(8)> at width 8 is 1.96488952627752307763039630203: a sum of cosines of 3 frequencies.
TEST(sinusoidal, DotProductOfTwoRows) {
  const std::vector<DoubleDouble> a = RowAt({"width=8"}, 5), b = RowAt({"width=8"}, 8);
  Real<38> sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += Sum(a[i]) * Sum(b[i]);
  EXPECT_EQ(sum.str(30), "1.96488952627752307763039630203");
}

TEST(sinusoidal, FlippedIsHalvesWithTheHalvesExchanged) {
  const std::vector<DoubleDouble> halves = RowAt({"width=6", "layout=halves"}, 7),
                                  flipped = RowAt({"width=6", "layout=flipped"}, 7);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(halves[i].high, flipped[(i + 3) % 6].high);
    EXPECT_EQ(halves[i].low, flipped[(i + 3) % 6].low);
  }
}

TEST(sinusoidal, LastFrequencyOfTensor2TensorIsOneOverTheBase) {
  const RoundedValues frequencies =
      ExactAddition(Sinusoidal({"width=8", "layout=halves", "frequency_shift=1", "base=4096"}))
          .Frequencies(Dtype::f64);
  EXPECT_EQ(frequencies.values, (std::vector<double>{1, 1. / 16, 1. / 256, 1. / 4096}));
  EXPECT_EQ(frequencies.counts.exact, 4);
}

// What is 0 or 1 by definition is exact: row 0, the padding row, the last channel.
TEST(sinusoidal, ZerosAndOnesAreExact) {
  const ExactAddition exact(Sinusoidal({"width=5", "layout=halves", "frequency_shift=1",
                                        "odd_width=zero", "start=2", "padding_index=1"}));
  const std::vector<double> positions = {-2, -1, 0};
  for (Dtype dtype : kFloatDtypes) {
    const RoundedValues rows = exact.Rows(positions, dtype);
    const std::vector<double> expected = {0, 0, 1, 1, 0, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(rows.values[i], expected[i]) << i;
      EXPECT_EQ(rows.proofs[i], Proof::exact) << i;
    }
    EXPECT_EQ(rows.values[14], 0);
    EXPECT_EQ(rows.proofs[14], Proof::exact);
    EXPECT_EQ(rows.counts.exact, 11);
    EXPECT_EQ(rows.counts.proven, 4);
  }
}

TEST(sinusoidal, StartShiftsExactly) {
  const Scheme plain = Sinusoidal({"width=6"}), shifted = Sinusoidal({"width=6", "start=1000"});
  const std::vector<double> at = {0, 7, 1e6}, moved = {-1000, -993, 999000};
  EXPECT_EQ(ExactAddition(plain).Rows(at, Dtype::f64).values,
            ExactAddition(shifted).Rows(moved, Dtype::f64).values);
  // 0.1 + 1 is no binary64 number: rounding it would move the angle.
  const double tenth = 0.1;
  EXPECT_THROW(ExactAddition(shifted).Rows(std::span(&tenth, 1), Dtype::f32), ParameterError);
  EXPECT_NO_THROW(ExactAddition(plain).Rows(std::span(&tenth, 1), Dtype::f32));
}

// x + row, rounded once: at x = -row rounded, what remains is the rounding error of the row.
TEST(sinusoidal, EmbedRoundsTheRealSumOnce) {
  const ExactAddition exact(Sinusoidal({"width=4"}));
  const double position = 3;
  const std::span<const double> at(&position, 1);
  const RoundedValues rows = exact.Rows(at, Dtype::f64);
  std::vector<double> x;
  for (double value : rows.values) x.push_back(-value);
  const RoundedValues sums = exact.Embed(at, x, Dtype::f64);
  for (size_t i = 0; i < x.size(); ++i) {
    // The distance is the error in units of 2^-16 ulp, rounded.
    const double ulp = Ulp(FormatOf(Dtype::f64), rows.values[i]);
    const double error = rows.distances[i] * 0x1p-16 * ulp;
    EXPECT_LE(std::fabs(sums.values[i] - error), 0x1p-17 * ulp) << i;
    EXPECT_NE(sums.values[i], 0) << i;
    EXPECT_EQ(sums.proofs[i], Proof::proven) << i;
  }
  const std::vector<double> special = {NAN, HUGE_VAL, -HUGE_VAL, 0.5};
  const RoundedValues kept = exact.Embed(at, special, Dtype::f16);
  EXPECT_TRUE(std::isnan(kept.values[0]));
  EXPECT_EQ(kept.values[1], HUGE_VAL);
  EXPECT_EQ(kept.values[2], -HUGE_VAL);
  EXPECT_EQ(kept.counts.exact, 3);
}

TEST(sinusoidal, GivenFrequenciesCountAsExact) {
  const std::vector<DoubleDouble> given = {{0.5, 0}, {0.25, 0}};
  const ExactAddition exact(Sinusoidal({"width=4"}), given);
  EXPECT_EQ(exact.Frequencies(Dtype::f64).values, (std::vector<double>{0.5, 0.25}));
  const double position = 2;
  const RoundedValues rows = exact.Rows(std::span(&position, 1), Dtype::f32);
  EXPECT_EQ(rows.values[0], static_cast<double>(static_cast<float>(std::sin(1.0))));
  const std::vector<double> x(4, 0.0);
  EXPECT_EQ(exact.Embed(std::span(&position, 1), x, Dtype::f32).values, rows.values);
  EXPECT_THROW(ExactAddition(Sinusoidal({"width=6"}), given), ParameterError);
}

std::string Refusal(const Settings& settings) {
  try {
    Sinusoidal(settings);
  } catch (const ParameterError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(sinusoidal, RefusesWhatDeployedCodeBreaks) {
  EXPECT_EQ(Refusal({"width=1"}), "sinusoidal.width must be in 2..65536, got 1");
  EXPECT_EQ(Refusal({"width=5"}),
            "sinusoidal.width must be even unless odd_width says what an odd one means, got 5");
  // K - 1 = 0 divides by zero, and so does any other shift by K.
  EXPECT_EQ(Refusal({"width=2", "frequency_shift=1"}),
            "sinusoidal.frequency_shift must be in 0..0 (exponents are k/(1 - frequency_shift)), "
            "got 1");
  EXPECT_EQ(Refusal({"width=8", "frequency_shift=4"}),
            "sinusoidal.frequency_shift must be in 0..3 (exponents are k/(4 - frequency_shift)), "
            "got 4");
  EXPECT_EQ(Refusal({"width=3", "layout=halves", "odd_width=zero", "frequency_shift=1"}),
            "sinusoidal.frequency_shift must be in 0..0 (exponents are k/(1 - frequency_shift)), "
            "got 1");
  EXPECT_NE(Refusal({"width=5", "odd_width=zero", "frequency_shift=1"}), "accepted");
  EXPECT_NE(Refusal({"width=5", "odd_width=zero", "layout=halves"}), "accepted");
  EXPECT_NE(Refusal({"width=5", "odd_width=extra_sine", "layout=flipped"}), "accepted");
  EXPECT_NE(Refusal({"width=5", "odd_width=extra_sine", "frequency_shift=1"}), "accepted");
  EXPECT_NE(Refusal({"base=0.5"}), "accepted");
  EXPECT_NE(Refusal({"scale=0"}), "accepted");
  EXPECT_NE(Refusal({"padding_index=-1"}), "accepted");
  for (const Worked& worked : kWorked) EXPECT_EQ(Refusal(worked.settings), "accepted");
}

TEST(sinusoidal, DoesNotRotate) {
  const Scheme scheme = Sinusoidal({}), rotary = ParseScheme("rope", {});
  EXPECT_FALSE(IsRotary(scheme));
  EXPECT_TRUE(IsRotary(rotary));
  EXPECT_THROW(RotaryOf(scheme), ParameterError);
  EXPECT_THROW(WidthOf(rotary), ParameterError);
  EXPECT_THROW(ExactAddition{rotary}, ParameterError);
  const Subject subject(FaultyKernel("honest.rows.f32"), scheme);
  EXPECT_THROW(subject.rotation(), ParameterError);
  EXPECT_THROW(subject.layout(), ParameterError);
  EXPECT_NO_THROW(subject.addition());
  EXPECT_THROW(Subject(FaultyKernel("honest.rows.f32"), rotary), ParameterError);
  EXPECT_THROW(Subject(FaultyKernel("honest.rotate.f32"), scheme), ParameterError);
  EXPECT_FALSE(FaultyKernel("honest.rows.f32").Serves(rotary));
  EXPECT_FALSE(FaultyKernel("honest.rotate.f32").Serves(scheme));
  EXPECT_FALSE(FaultyKernel("honest.table.f32").Serves(scheme));
}

TEST(sinusoidal, HasQuantitiesOfItsOwn) {
  using golden::OutputsOf, golden::Quantity;
  const Scheme scheme = Sinusoidal({}), rotary = ParseScheme("rope", {});
  EXPECT_EQ(OutputsOf(scheme, Quantity::table), std::vector<std::string>{"rows"});
  EXPECT_EQ(OutputsOf(scheme, Quantity::embed), std::vector<std::string>{"out"});
  for (Quantity quantity :
       {Quantity::magnitude, Quantity::rotate, Quantity::rotate_backward, Quantity::scores}) {
    EXPECT_THROW(OutputsOf(scheme, quantity), ParameterError);
    EXPECT_NO_THROW(OutputsOf(rotary, quantity));
  }
  EXPECT_THROW(OutputsOf(rotary, Quantity::embed), ParameterError);
}

// fast/sinusoidal.h: relative errors at most 2^-90; the enclosure adds its own radius.
TEST(sinusoidal, KernelFrequenciesAreAccurate) {
  EXPECT_TRUE(rc::check([] {
    const sinusoidal::Params params = *sinusoidal::AnyParams();
    const EnclosedValues exact = ExactAddition(Scheme(params)).EncloseFrequencies();
    const FastRotation fast = sinusoidal::Frequencies(params);
    RC_ASSERT(fast.frequency.size() == exact.values.size());
    for (size_t i = 0; i < exact.values.size(); ++i) {
      const DoubleDouble a = fast.frequency[i], b = exact.values[i];
      RC_ASSERT(std::fabs((a.high - b.high) + (a.low - b.low)) <=
                (0x1p-90 + exact.radius) * b.high);
    }
  }));
}

// Every convention of the worked values, and one with everything at once.
std::vector<Settings> Conventions() {
  std::vector<Settings> all;
  for (const Worked& worked : kWorked) all.push_back(worked.settings);
  all.push_back({"width=37", "layout=flipped", "frequency_shift=2", "odd_width=zero", "start=2",
                 "padding_index=1", "base=12345.678", "scale=0.3"});
  return all;
}

TEST(sinusoidal, GoodKernelsKeepTheirContractsInEveryConvention) {
  for (const Settings& settings : Conventions()) {
    const Scheme scheme = Sinusoidal(settings);
    std::vector<Subject> subjects;
    for (const std::string& name : GoodKernels()) {
      const KernelInfo info = AnyKernel(name);
      if (info.Serves(scheme)) subjects.emplace_back(info, scheme);
    }
    // Frequencies of both libraries; rows, embed and, of the honest ones, embed with rows given.
    ASSERT_EQ(subjects.size(), 2u + 2u * 4u + 3u * 4u);
    const CheckPlan plan{.positions = {-1, 0, 1, 2, 255, 257, 4095, 16777217, 1e6 + 0.5}};
    const std::vector<KernelCheck> checks = CheckKernels(subjects, plan);
    for (size_t i = 0; i < subjects.size(); ++i) {
      EXPECT_EQ(checks[i].keeps_contract.outcome, Outcome::pass) << Text(scheme) << "\n"
                                                                 << Line(checks[i].keeps_contract);
      EXPECT_GT(checks[i].keeps_contract.use.count(), 0u);
      EXPECT_EQ(checks[i].blind, 0u) << Line(checks[i].keeps_contract);
    }
  }
}

TEST(sinusoidal, FaultyKernelsBreakTheirContracts) {
  const Scheme scheme = Sinusoidal({"width=9", "layout=halves", "frequency_shift=1",
                                    "odd_width=zero", "start=2", "padding_index=1", "scale=0.5"});
  const CheckPlan plan{.positions = {-1, 0, 1, 2, 3, 255, 257, 4095}};
  size_t count = 0;
  for (const posgauge_kernel& kernel : FaultyKernels()) {
    const KernelInfo info(kernel);
    if (!info.name.starts_with("faulty.") || !info.Serves(scheme)) continue;
    if (info.quantity == "frequencies") continue;
    // These show over several calls, or over other inputs.
    const bool hidden = info.name.find("unstable") != info.name.npos ||
                        info.name.find("in_place") != info.name.npos ||
                        info.name.find("nan") != info.name.npos ||
                        info.name.find("strides") != info.name.npos ||
                        info.name.find("position_absolute") != info.name.npos;
    if (hidden) continue;
    ++count;
    const Verdict verdict = CheckKernels({Subject(info, scheme)}, plan)[0].keeps_contract;
    EXPECT_EQ(verdict.outcome, Outcome::fail) << Line(verdict);
  }
  EXPECT_GT(count, 80u);
}

TEST(sinusoidal, LawsHoldForAnyParameters) { EXPECT_TRUE(LawsHoldForAny(sinusoidal::AnyParams())); }

TEST(sinusoidal, GeneratedParametersAreValid) {
  EXPECT_TRUE(rc::check([] { (*sinusoidal::AnyParams()).Validate(); }));
}

}  // namespace
}  // namespace posgauge
