// The bound of a contract against a software pipeline with exactly its arithmetic: never exceeded,
// and never far from what that arithmetic does.
#include "posgauge/verify/bound.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <numbers>

#include <gtest/gtest.h>

#include "posgauge/verify/double_double.h"
#include "posgauge/verify/frequency_error.h"
#include "posgauge/verify/judge.h"
#include "posgauge/verify/pipeline.h"
#include "posgauge/verify/plan.h"
#include "posgauge/verify/random.h"

namespace posgauge {
namespace {

// Edges of every format's integers, fractions, a subnormal of f16, both signs.
const std::vector<double> kPositions = {
    0,       1,       2,     3,     7,       100,   255,   256,    257,    511,
    1000,    2047,    2048,  2049,  4095,    4097,  10000, 16385,  32767,  32769,
    65503,   65504,   65505, 65519, 65520,   70001, 99999, 131071, 262145, 524287,
    1048575, 1 << 20, -1,    -257,  -131071, 0.3,   1e-6};

Scheme Narrow(const std::string& name, std::vector<std::string> settings,
              const std::string& pairing) {
  settings.insert(settings.end(),
                  {"head_dim=40", "rotary_dim=32", "rotary_offset=4", "pairing=" + pairing});
  return ParseScheme(name, settings);
}

const std::vector<std::pair<std::string, std::vector<std::string>>> kSchemes = {
    {"rope", {}},
    {"linear", {"factor=3", "direction=clockwise"}},
    {"ntk", {"factor=1000"}},
    {"ntk", {"form=dynamic", "factor=4", "trained_length=4096", "length=131072"}},
    {"yarn", {"factor=40", "original_length=4096"}},
    {"llama3", {"factor=32", "base=500000"}},
};

// Rows of every kind: generic, cancelling, sparse, wide (PlanInput), then subnormal, near the
// largest number, and pairs of a large and a tiny number.
Tensor Inputs(const Rotary& layout, Positions positions, Dtype dtype, const TruthTable& truth,
              const Axes& axes) {
  constexpr int64_t kPlanned = 4, kHeads = 7;
  const Tensor planned = PlanInput(layout, positions, kPlanned, dtype, truth, 1, axes);
  const size_t tokens = axes.Tokens(positions);
  Tensor x(dtype, {static_cast<int64_t>(tokens), kHeads, layout.head_dim});
  const Format format = FormatOf(dtype);
  const auto width = static_cast<size_t>(layout.head_dim);
  Random random(7, "inputs");
  for (size_t token = 0; token < tokens; ++token) {
    for (size_t head = 0; head < kHeads; ++head) {
      for (size_t channel = 0; channel < width; ++channel) {
        const double sign = random.Bits() % 2 == 0 ? 1 : -1;
        double value = sign * std::ldexp(1 + random.Uniform(), 0);
        if (head < kPlanned) {
          value = planned.Value((token * kPlanned + head) * width + channel);
        } else if (head == 4 || (head == 6 && channel % 2 == 0)) {
          const auto below = random.Below(static_cast<uint64_t>(format.digits) + 2);
          value = std::ldexp(value, format.min_exponent - static_cast<int>(below));
        } else {
          value = std::ldexp(value, format.max_exponent - static_cast<int>(random.Below(4)) - 1);
        }
        x.Set((token * kHeads + head) * width + channel, value);
      }
    }
  }
  return x;
}

struct Declared {
  Contract contract;
  Scheme scheme;
  ExactRotation exact{scheme};
  Pipeline pipeline{contract, scheme};
  double magnitude = exact.Magnitude(Dtype::f64).values[0];
  RotaryBound bound{contract, scheme, exact.Frequencies(Dtype::f64).values, magnitude};
};

Declared Make(const std::string& line, const Scheme& scheme) {
  return {Contract::Parse(line, Dtype::f32), scheme};
}

std::string Told(const Finding& finding) {
  if (!finding.worst) return "nothing compared";
  return fmt::format("use {} at position {}, {}\n  got {}\n  want {}", finding.worst->use,
                     finding.worst->position, finding.worst->where, finding.worst->got,
                     finding.worst->want);
}

Finding RotateUnder(const Declared& declared, Positions positions) {
  const Rotary& layout = RotaryOf(declared.scheme);
  const TruthTable truth = TruthOf(declared.exact, positions);
  const Axes& axes = declared.exact.axes();
  const Tensor x = Inputs(layout, positions, declared.contract.store, truth, axes);
  const Tensor out = declared.pipeline.Rotate(positions, x);
  return HoldToBound(Rotated{layout, positions, x, out, false, {}, axes}, truth, declared.bound);
}

// The stages of a pipeline that show as such: frequencies, angles, tables and pairs.
void ExpectStagesWithin(const Declared& declared, Positions positions) {
  const Rotary& layout = RotaryOf(declared.scheme);
  const auto pairs = static_cast<size_t>(layout.Pairs());
  const EnclosedValues exact = declared.exact.EncloseFrequencies();
  for (size_t pair = 0; pair < pairs; ++pair) {
    const double limit = declared.bound.Frequency(static_cast<int64_t>(pair));
    if (std::isinf(limit)) continue;
    const double size = std::fabs(exact.values[pair].high);
    const double error =
        std::fabs((declared.pipeline.frequencies()[pair] - exact.values[pair]).high);
    EXPECT_LE(error, size * (limit + 0x1p-99)) << "frequency of pair " << pair;
  }
  const std::vector<double> angles = declared.pipeline.AngleErrors(positions);
  const TruthTable truth = TruthOf(declared.exact, positions);
  const Pipeline::Entries entries = declared.pipeline.Table(positions);
  for (size_t at = 0; at < angles.size(); ++at) {
    const double position = positions[at / pairs];
    const auto pair = static_cast<int64_t>(at % pairs);
    const double slack = 0x1p-97 * (1 + std::fabs(position));
    EXPECT_LE(angles[at], declared.bound.Angle(position, pair) + slack)
        << "angle at " << position << " of pair " << pair;
    const double limit = declared.bound.Table(position, pair);
    if (std::isinf(limit)) continue;
    const double error =
        std::hypot((entries.cos[at] - truth.cos[at]).high, (entries.sin[at] - truth.sin[at]).high);
    EXPECT_LE(error, declared.magnitude * (limit + 0x1p-90))
        << "entries at " << position << " of pair " << pair;
  }
}

void ExpectPairsWithin(const Declared& declared, Positions positions) {
  const Rotary& layout = RotaryOf(declared.scheme);
  const TruthTable truth = TruthOf(declared.exact, positions);
  const Tensor x = Inputs(layout, positions, declared.contract.store, truth, {});
  const Tensor out = declared.pipeline.Rotate(positions, x);
  const auto width = static_cast<size_t>(layout.head_dim);
  const size_t heads = x.size() / width / positions.size();
  for (size_t row = 0; row < x.size() / width; ++row) {
    for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
      const auto [first, second] = layout.Channels(pair);
      const size_t a = row * width + static_cast<size_t>(first);
      const size_t b = row * width + static_cast<size_t>(second);
      const double u = x.Value(a), v = x.Value(b);
      // Far from the ends of binary64, where the difference itself would round.
      if (std::hypot(u, v) > 0x1p900 || (std::hypot(u, v) < 0x1p-900 && u != 0)) continue;
      const size_t at =
          row / heads * static_cast<size_t>(layout.Pairs()) + static_cast<size_t>(pair);
      const DoubleDouble c = truth.cos[at], s = truth.sin[at];
      const double error = std::hypot((DoubleDouble{out.Value(a), 0} - (c * u - s * v)).high,
                                      (DoubleDouble{out.Value(b), 0} - (s * u + c * v)).high);
      const double r = std::hypot(u, v) * (1 + 0x1p-51);
      const double limit = declared.bound.Pair(positions[row / heads], pair, r);
      if (std::isinf(limit)) continue;
      ASSERT_LE(error, limit + r * declared.magnitude * 0x1p-95)
          << "pair " << pair << " of row " << row << " at " << positions[row / heads];
    }
  }
}

// Every arithmetic at every stage.
const std::vector<std::string> kContracts = {
    // exact angles, the rest in f32
    "position=i64 frequency=exact angle=exact trig=1ulp:f32 table=f32 rotate=f32 store=f32:rne "
    "flush=no",
    "position=exact frequency=dd angle=turn96 trig=2ulp:f64 table=f32 rotate=f32:fma "
    "store=bf16:rne "
    "flush=no",
    "position=exact frequency=dd angle=turn64 trig=1ulp:f32 table=f32 rotate=f32:fma store=f32:sr "
    "flush=no",
    // all f32, by each formula
    "position=f32 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f32 rotate=f32 store=f32:rne "
    "flush=no",
    "position=i32 frequency=f32:exp angle=f32 trig=1ulp:f32 table=f32 rotate=f32:fma store=f32:rtz "
    "flush=no",
    "position=i64 frequency=f32:recurrence angle=f32 trig=4ulp:f32 table=f32 rotate=f32 "
    "store=bf16:rtz flush=no",
    "position=i64 frequency=f32:rn angle=f32 trig=0.5ulp:f32 table=f32 rotate=f32:fma "
    "store=f16:rne "
    "flush=no",
    // narrow tables
    "position=i64 frequency=f32:pow angle=f32 trig=1ulp:f32 table=bf16 rotate=f32 store=bf16:rne "
    "flush=no",
    "position=i64 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f16 rotate=f32:fma store=f16:sr "
    "flush=no",
    "position=i64 frequency=f32:pow angle=f32 trig=1ulp:f32 table=bf16 rotate=f16 store=f16:rne "
    "flush=no",
    // narrow rotations, with wider tables and inputs
    "position=i64 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f32 rotate=bf16 store=bf16:rne "
    "flush=no",
    "position=i64 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f32 rotate=bf16:fma "
    "store=f32:rne "
    "flush=no",
    "position=i64 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f32 rotate=f16 store=f32:rtz "
    "flush=no",
    "position=i64 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f64 rotate=f16:fma store=bf16:sr "
    "flush=no",
    // everything in one narrow format
    "position=f16 frequency=f16:pow angle=f16 trig=1ulp:f16 table=f16 rotate=f16 store=f16:rne "
    "flush=no",
    "position=bf16 frequency=bf16:pow angle=bf16 trig=1ulp:bf16 table=bf16 rotate=bf16 "
    "store=bf16:rne flush=no",
    "position=f16 frequency=f16:exp angle=f16 trig=1ulp:f16 table=f16 rotate=f16:fma store=f16:rtz "
    "flush=no",
    "position=bf16 frequency=bf16:recurrence angle=bf16 trig=1ulp:bf16 table=bf16 rotate=bf16:fma "
    "store=bf16:sr flush=no",
    "position=bf16 frequency=bf16:exp angle=f32 trig=1ulp:f32 table=f32 rotate=f32 store=f32:rne "
    "flush=no",
    "position=f16 frequency=f16:recurrence angle=f32 trig=1ulp:f32 table=f32 rotate=f32 "
    "store=f32:rne flush=no",
    // one narrow stage: buffers and positions in the model's dtype
    "position=i64 frequency=bf16:rn angle=f32 trig=1ulp:f32 table=f32 rotate=f32 store=f32:rne "
    "flush=no",
    "position=bf16 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f32 rotate=f32 store=f32:rne "
    "flush=no",
    "position=i64 frequency=f16:rn angle=exact trig=1ulp:f64 table=f64 rotate=f64 store=f64:rne "
    "flush=no",
    "position=f16 frequency=exact angle=exact trig=1ulp:f64 table=f64 rotate=f64 store=f64:rne "
    "flush=no",
    "position=i64 frequency=f64:rn angle=bf16 trig=1ulp:f32 table=f32 rotate=f32 store=f32:rne "
    "flush=no",
    "position=i64 frequency=f32:pow angle=f16 trig=1ulp:f32 table=f32 rotate=f32 store=f32:rne "
    "flush=no",
    // f64
    "position=f64 frequency=f64:pow angle=f64 trig=1ulp:f64 table=f64 rotate=f64 store=f64:rne "
    "flush=no",
    "position=i64 frequency=f64:exp angle=f64 trig=1ulp:f64 table=f64 rotate=f64:fma store=f64:rtz "
    "flush=no",
    "position=i64 frequency=f64:recurrence angle=dd trig=0.5ulp:dd table=dd rotate=dd "
    "store=f64:rne "
    "flush=no",
    "position=i64 frequency=exact angle=exact trig=0ulp:exact table=exact rotate=exact "
    "store=f32:rne "
    "flush=no",
    "position=i64 frequency=exact angle=exact trig=0ulp:exact table=exact rotate=f32 store=f32:rne "
    "flush=no",
    // flush to zero
    "position=f32 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f32 rotate=f32 store=f32:rne "
    "flush=yes",
    "position=f16 frequency=f16:rn angle=f16 trig=1ulp:f16 table=f16 rotate=f16:fma store=f16:rne "
    "flush=yes",
    "position=f16 frequency=f16:pow angle=f16 trig=1ulp:f16 table=f32 rotate=f16 store=f32:sr "
    "flush=yes",
    "position=i64 frequency=f64:pow angle=f64 trig=1ulp:f64 table=f64 rotate=f64 store=f64:rne "
    "flush=yes",
    "position=i64 frequency=exact angle=exact trig=1ulp:f32 table=f32 rotate=f32 store=f16:rne "
    "flush=yes",
    // eight bits
    "position=i64 frequency=exact angle=exact trig=1ulp:f32 table=f32 rotate=f32 store=f8e4m3:rne "
    "flush=no",
    "position=i64 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f8e4m3 rotate=bf16 "
    "store=f8e5m2:sr flush=no",
    "position=i64 frequency=exact angle=exact trig=1ulp:f32 table=f16 rotate=f8e5m2:fma "
    "store=f8e5m2:rtz flush=no",
    // nothing declared
    "",
};

TEST(bound, PipelineKeepsItsOwnContractOnEveryScheme) {
  uint64_t compared = 0;
  for (const auto& [name, settings] : kSchemes) {
    for (size_t at = 0; at < kContracts.size(); ++at) {
      const Scheme scheme = Narrow(name, settings, at % 2 == 0 ? "half" : "interleaved");
      const Declared declared = Make(kContracts[at], scheme);
      const Finding finding = RotateUnder(declared, kPositions);
      EXPECT_EQ(finding.use.over(), 0u)
          << ToJson(scheme) << "\n  " << declared.contract.Text() << "\n  " << Told(finding);
      compared += finding.use.count();
    }
  }
  EXPECT_EQ(compared, kSchemes.size() * kContracts.size() * kPositions.size() * 7 * 40);
}

// Their frequencies are formed in other ways; what follows is the same.
TEST(bound, PipelineKeepsItsOwnContractOnTheOtherSchedules) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> schedules = {
      {"ntk", {"form=fixed", "factor=8"}},
      {"ntk", {"form=mixed", "factor=8", "mixed_exponent=0.625"}},
      {"ntk", {"form=qwen", "trained_length=4096", "length=8193"}},
      {"yarn", {"factor=40", "original_length=4096", "ramp=turns"}},
      {"yarn", {"original_length=4096", "length=9001"}},
      {"longrope",
       {"factor=32", "length=4097",
        "long_factor=[1,1.1,1.2,1.5,2,3,5,7,9,12,16,24,32,40,44.16,47.77]"}},
      {"proportional", {"proportion=0.5", "factor=3"}},
      {"mrope", {"section=[6,5,5]", "order=interleaved"}},
      {"axial", {"section=[3,7,6]", "direction=clockwise"}},
  };
  for (const auto& [name, settings] : schedules) {
    for (const std::string& line : kContracts) {
      const Declared declared = Make(line, Narrow(name, settings, "half"));
      // Three numbers a token where there are three axes.
      const auto axes = static_cast<size_t>(declared.exact.axes().count);
      const Finding finding = RotateUnder(declared, std::span(kPositions).first(12 * axes));
      EXPECT_EQ(finding.use.over(), 0u)
          << Text(declared.scheme) << "\n  " << declared.contract.Text() << "\n  " << Told(finding);
    }
  }
}

// What frameworks do in binary32, operation by operation, against the bound of frequency=f32:pow.
// glibc's powf, expf and logf are within one ulp.
TEST(bound, FrequenciesFormedAsDeployedAreWithin) {
  const auto power = [](const Scheme& scheme, size_t i) {
    const Rotary& rotary = RotaryOf(scheme);
    const float x = static_cast<float>(2 * i) / static_cast<float>(rotary.rotary_dim);
    return std::pow(static_cast<float>(rotary.base), x);
  };
  std::map<std::string, double> largest;  // use of the bound, by schedule
  const auto expect_within = [&](const std::string& name, const Scheme& scheme, auto formed) {
    const ExactRotation exact(scheme);
    const std::vector<double> frequencies = exact.Frequencies(Dtype::f64).values;
    const std::vector<double> limits = FrequencyErrors(
        Contract::Parse("frequency=f32:pow flush=no", Dtype::f32), scheme, frequencies);
    for (size_t i = 0; i < frequencies.size(); ++i) {
      const double error = std::fabs(static_cast<double>(formed(i)) - frequencies[i]);
      // The frequencies are themselves rounded to binary64.
      EXPECT_LE(error, frequencies[i] * (limits[i] + 0x1p-52)) << Text(scheme) << " pair " << i;
      if (error > 0) largest[name] = std::max(largest[name], error / (frequencies[i] * limits[i]));
    }
  };
  for (const double s : {1.7, 8.0, 300.0}) {
    for (const int64_t d : {8, 128}) {
      const std::vector<std::string> shared = {fmt::format("head_dim={}", d), "base=500000",
                                               fmt::format("factor={}", s)};
      const auto parse = [&](const char* name, std::vector<std::string> settings) {
        settings.insert(settings.begin(), shared.begin(), shared.end());
        return ParseScheme(name, settings);
      };
      const auto factor = static_cast<float>(s), half = static_cast<float>(d / 2);
      const Scheme fixed = parse("ntk", {"form=fixed"});
      expect_within("fixed", fixed, [&](size_t i) {
        const float x = static_cast<float>(2 * i) / static_cast<float>(d);
        return 1 / std::pow(500000.0F * factor, x) / std::pow(factor, 1 / half);
      });
      const Scheme mixed = parse("ntk", {"form=mixed", "mixed_exponent=0.625"});
      expect_within("mixed", mixed, [&](size_t i) {
        const float a = std::log(factor) / std::pow(half, 0.625F);
        return 1 / power(mixed, i) / std::exp(a * std::pow(static_cast<float>(i) + 1, 0.625F));
      });
      const Scheme turns = parse("yarn", {"ramp=turns"});
      expect_within("turns", turns, [&](size_t i) {
        const float w = 1 / power(turns, i);
        const float r = 4096 / (2 * std::numbers::pi_v<float> / w);
        const float kept = std::clamp((r - 1) / 31, 0.0F, 1.0F);
        return w / factor * (1 - kept) + w * kept;
      });
      const Scheme still = parse("proportional", {"proportion=0.5"});
      expect_within("still", still, [&](size_t i) {
        return static_cast<int64_t>(i) < d / 4 ? 1 / power(still, i) / factor : 0;
      });
    }
  }
  const Scheme longrope = ParseScheme(
      "longrope", {"head_dim=8", "long_factor=[1.1,5.985,16.374,47.77]", "length=4097"});
  expect_within("longrope", longrope, [&](size_t i) {
    const auto& factors = *std::get<longrope::Params>(longrope).long_factor;
    return 1 / (static_cast<float>(factors[i]) * power(longrope, i));
  });
  // Nor is the bound far from what the arithmetic does.
  for (const auto& [name, use] : largest) EXPECT_GE(use, 0.1) << name;
}

TEST(bound, EveryStageOfThePipelineIsWithinItsBound) {
  for (const auto& [name, settings] : kSchemes) {
    if (name == "linear" || name == "ntk") continue;  // seconds count; they are above
    for (const std::string& line : kContracts) {
      const Declared declared = Make(line, Narrow(name, settings, "half"));
      SCOPED_TRACE(fmt::format("{} {}", name, declared.contract.Text()));
      ExpectStagesWithin(declared, kPositions);
      ExpectPairsWithin(declared, std::span(kPositions).first(8));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// A contract that is exact but for one stage.
std::string Only(const std::string& stage) {
  const std::vector<std::pair<std::string, std::string>> exact = {
      {"position", "exact"}, {"frequency", "exact"}, {"angle", "exact"}, {"trig", "0ulp:exact"},
      {"table", "exact"},    {"rotate", "exact"},    {"flush", "no"},    {"store", "f64:rne"}};
  std::string line = stage;
  for (const auto& [key, value] : exact) {
    if ((" " + stage).find(" " + key + "=") == std::string::npos) line += " " + key + "=" + value;
  }
  return line;
}

bool IsBeforeSines(const std::string& stage) {
  return stage.starts_with("position") || stage.starts_with("frequency") ||
         stage.starts_with("angle");
}

double AngleUse(const Declared& declared, Positions positions) {
  const std::vector<double> errors = declared.pipeline.AngleErrors(positions);
  const auto pairs = static_cast<size_t>(RotaryOf(declared.scheme).Pairs());
  double largest = 0;
  for (size_t at = 0; at < errors.size(); ++at) {
    const double limit =
        declared.bound.Angle(positions[at / pairs], static_cast<int64_t>(at % pairs));
    if (limit > 0 && std::isfinite(limit)) largest = std::max(largest, errors[at] / limit);
  }
  return largest;
}

// Positions that no format short of f64 holds, and plain ones.
const std::vector<double> kOddPositions = {
    1,     2,      3,      5,       257,      2049,     4099,     40001,
    65535, 131071, 999999, 1048575, 16777217, 33554435, 67108869, 0x1p40 + 0x1p15 + 1};

// Errors of an angle are seen in the angle itself: in the output they saturate. Not in the list: dd
// and exact (below what a sum of two doubles shows) and turns, which the pipeline takes as exact
// angles; a store alone, whose rounding is the interval that the excess leaves out. A recurrence
// adds up the largest error of every product, which rounding errors of both signs never do: it
// comes to 0.05 to 0.16 of its bound on plain frequencies, and reaches 0.25 where few products are
// made.
TEST(bound, IsNotSlackForAnySingleStage) {
  const std::vector<std::string> stages = {"position=f32",
                                           "position=f16",
                                           "position=bf16",  //
                                           "frequency=f64:rn",
                                           "frequency=f32:rn",
                                           "frequency=f16:rn",
                                           "frequency=bf16:rn",
                                           "frequency=f64:pow",
                                           "frequency=f32:pow",
                                           "frequency=f16:pow",
                                           "frequency=bf16:pow",
                                           "frequency=f64:exp",
                                           "frequency=f32:exp",
                                           "frequency=f16:exp",
                                           "frequency=bf16:exp",
                                           "frequency=f64:recurrence",
                                           "frequency=f32:recurrence",
                                           "frequency=f16:recurrence",
                                           "frequency=bf16:recurrence",  //
                                           "angle=f64",
                                           "angle=f32",
                                           "angle=f16",
                                           "angle=bf16",  //
                                           "trig=0.5ulp:f64",
                                           "trig=0.5ulp:f32",
                                           "trig=0.5ulp:f16",
                                           "trig=0.5ulp:bf16",  //
                                           "table=f64",
                                           "table=f32",
                                           "table=f16",
                                           "table=bf16",  //
                                           "rotate=f64",
                                           "rotate=f32",
                                           "rotate=f16",
                                           "rotate=bf16",  //
                                           "rotate=f64:fma",
                                           "rotate=f32:fma",
                                           "rotate=f16:fma",
                                           "rotate=bf16:fma",  //
                                           "rotate=f32 store=f32:rne",
                                           "rotate=f16 store=f16:rne",
                                           "rotate=bf16 store=bf16:rne",
                                           "rotate=f32:fma store=f32:rne",
                                           "rotate=f16:fma store=f16:rne",
                                           "rotate=bf16:fma store=bf16:rne",
                                           "rotate=f32 store=bf16:rne",
                                           "rotate=f32 store=f32:rtz",
                                           "rotate=f32 store=f32:rne flush=yes",
                                           "rotate=f16 store=f16:rne flush=yes"};
  for (const std::string& stage : stages) {
    double largest = 0;
    for (const auto& [name, settings] : kSchemes) {
      if (name == "yarn") continue;
      const Declared declared = Make(Only(stage), Narrow(name, settings, "half"));
      double used = RotateUnder(declared, kOddPositions).use.max();
      EXPECT_LE(used, 1) << stage << " on " << name;
      if (IsBeforeSines(stage)) used = AngleUse(declared, kOddPositions);
      largest = std::max(largest, used);
    }
    EXPECT_GE(largest, 0.2) << stage;
  }
}

// What a pipeline does that is worse than it declares, in one stage each, must be seen.
TEST(bound, IsExceededByWhatTheContractDoesNotAllow) {
  const std::string good =
      "position=i64 frequency=f32:pow angle=f32 trig=1ulp:f32 table=f32 rotate=f32 store=f32:rne "
      "flush=no";
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"position=i64", "position=bf16"},
      {"position=i64", "position=f16"},
      {"frequency=f32:pow", "frequency=bf16:rn"},
      {"frequency=f32:pow", "frequency=f16:rn"},
      {"angle=f32", "angle=bf16"},
      {"angle=f32", "angle=f16"},
      {"trig=1ulp:f32", "trig=1ulp:bf16"},
      {"table=f32", "table=bf16"},
      {"table=f32", "table=f16"},
      {"rotate=f32", "rotate=bf16"},
      {"rotate=f32", "rotate=f16"},
      {"flush=no", "flush=yes"},
      {"store=f32:rne", "store=f32:rtz"},
  };
  const std::vector<double> positions = {1, 3, 100, 257, 2049};
  for (const auto& [from, to] : faults) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    const Scheme scheme = Narrow("rope", {}, "half");
    Declared declared = Make(good, scheme);
    declared.pipeline = Pipeline(Contract::Parse(bad, Dtype::f32), scheme);
    const uint64_t over = RotateUnder(declared, positions).use.over();
    // A pipeline that is f32 throughout stores f32 numbers whichever way it rounds.
    EXPECT_EQ(over > 0, !to.ends_with("rtz")) << to;
  }
}

// The first terms of each formula, where they can be counted by hand: u = 2^-24, x = 2i/d, ln the
// logarithm of the base.
TEST(bound, FormulasAndTurnsCostWhatTheyRound) {
  const double u = 0x1p-24, ln = std::log(10000.0);
  const auto bound = [](const std::string& line, int64_t dim) {
    const Scheme scheme = ParseScheme("rope", {fmt::format("head_dim={}", dim)});
    return Make("flush=no position=i64 " + line, scheme).bound;
  };
  const auto expect = [&](double limit, double roundoffs) {
    EXPECT_GE(limit, roundoffs * u);
    EXPECT_LE(limit, roundoffs * u * (1 + 64 * u));
  };
  expect(bound("frequency=f32:rn", 128).Frequency(7), 1);
  // 7/64 is a binary fraction, 7/12 is none.
  expect(bound("frequency=f32:pow", 128).Frequency(7), 3);
  expect(bound("frequency=f32:pow", 24).Frequency(7), 3 + 7 / 12.0 * ln);
  expect(bound("frequency=f32:exp", 128).Frequency(7), 2 + 4 * 7 / 64.0 * ln);
  expect(bound("frequency=f32:recurrence", 128).Frequency(7), 7 * (3 + 1));
  // A turn is cut once as a frequency and twice as a product.
  const double turn = 2 * std::numbers::pi, p = 1 << 20;
  EXPECT_GE(bound("frequency=exact angle=turn64", 128).Angle(p, 3), turn * (0x1p-64 * p + 0x1p-63));
  EXPECT_LT(bound("frequency=exact angle=turn96", 128).Angle(p, 3), turn * 1.01 * 0x1p-63);
}

// The case that no amount of position alone shows: a blend amplifies the error of its weights.
TEST(bound, BlendedFrequenciesCostMoreThanPlainOnes) {
  const auto errors = [](const std::string& name, std::vector<std::string> settings) {
    const Scheme scheme = Narrow(name, std::move(settings), "half");
    const Contract contract = Contract::Parse("frequency=f32:pow flush=no", Dtype::f32);
    return FrequencyErrors(contract, scheme, ExactRotation(scheme).Frequencies(Dtype::f64).values);
  };
  const std::vector<double> plain = errors("rope", {"base=500000"});
  const std::vector<double> llama = errors("llama3", {"base=500000", "factor=32"});
  const double u = 0x1p-24;
  // Pair 0: pow one ulp (2 u) and the quotient; the blend's six roundings.
  EXPECT_LE(plain[0], 3.001 * u);
  EXPECT_GE(plain[0], 3 * u);
  EXPECT_LE(llama[0], 9.001 * u);
  // A pair low on the ramp, kept share k: (1 - 1/32)/(k + (1 - k)/32) times the share's error, more
  // than all roundings of the plain powers and the blend together.
  const double others = *std::max_element(plain.begin(), plain.end()) + 6 * u;
  EXPECT_GT(*std::max_element(llama.begin(), llama.end()), 1.4 * others);
  // A step where a pair lies on it is anything: 8192 / (2 pi) turns of pair 0.
  const double edge = 8192 / (2 * std::numbers::pi);
  const std::vector<double> step =
      errors("llama3", {fmt::format("low_frequency_factor={}", edge),
                        fmt::format("high_frequency_factor={}", edge)});
  EXPECT_TRUE(std::isinf(step[0]));
  EXPECT_TRUE(std::isfinite(step[1]));
}

TEST(bound, AnythingIsAllowedWhereSomethingOverflows) {
  const Scheme scheme = Narrow("rope", {}, "half");
  const std::string all_f16 =
      "position=f16 frequency=f16:rn angle=f16 trig=1ulp:f16 table=f16 rotate=f16 store=f16:rne "
      "flush=no";
  const Declared f16 = Make(all_f16, scheme);
  EXPECT_TRUE(std::isfinite(f16.bound.Angle(65000, 0)));
  for (const double position : {65505.0, 70000.0, 1048576.0, -70000.0}) {
    EXPECT_TRUE(std::isinf(f16.bound.Angle(position, 15))) << position;
    EXPECT_TRUE(std::isinf(f16.bound.Table(position, 15))) << position;
    EXPECT_TRUE(std::isinf(f16.bound.TableExcess(position, 15))) << position;
    EXPECT_TRUE(std::isinf(f16.bound.ElementExcess(position, 15, 1))) << position;
    EXPECT_TRUE(std::isinf(f16.bound.Pair(position, 15, 1))) << position;
  }
  const std::vector<double> far = {70000, 1048576};
  const Finding finding = RotateUnder(f16, far);
  EXPECT_EQ(finding.use.over(), 0u);
  // Nothing but copies (8 of 40 channels) and zero pairs could have failed.
  EXPECT_GE(finding.blind, far.size() * 6 * 32);

  // A pair whose norm the store does not hold: 50000 (1 + 1) turned by 45 degrees is 70711.
  const Declared narrow = Make(
      "position=i64 frequency=exact angle=exact trig=1ulp:f32 table=f32 rotate=f32 "
      "store=f16:rne flush=no",
      scheme);
  EXPECT_TRUE(std::isinf(narrow.bound.ElementExcess(1, 0, 70711)));
  EXPECT_TRUE(std::isfinite(narrow.bound.ElementExcess(1, 0, 65000)));
  // 10000^(126/128) fits f16, 500000^(30/32) does not, and 1/infinity is 0.
  const Scheme large = Narrow("rope", {"base=500000"}, "half");
  const Declared formed = Make("frequency=f16:pow position=i64 angle=exact flush=no", large);
  EXPECT_TRUE(std::isinf(formed.bound.Frequency(15)));
  EXPECT_EQ(formed.pipeline.frequencies()[15].high, 0);
  EXPECT_TRUE(std::isinf(
      Make("frequency=f16:rn angle=f16 position=i64 flush=no", scheme).bound.Angle(70000, 15)));
  // An angle that overflows at a position that does not: base below 1 makes frequencies above 1.
  const Scheme rising = Narrow("rope", {"base=0.0001"}, "half");
  const Declared turned = Make("frequency=f16:rn angle=f16 position=f16 flush=no", rising);
  EXPECT_TRUE(std::isinf(turned.bound.Angle(1000, 15)));
  EXPECT_TRUE(std::isfinite(turned.bound.Angle(1, 15)));
  const std::vector<double> thousand = {1000};
  EXPECT_EQ(RotateUnder(turned, thousand).use.over(), 0u);
  // A table whose magnitude its format does not hold.
  const Scheme loud = Narrow("yarn", {"attention_factor=70000"}, "half");
  EXPECT_TRUE(std::isinf(Make("position=i64 frequency=exact angle=exact trig=1ulp:f32 table=f16 "
                              "rotate=f32 store=f32:rne flush=no",
                              loud)
                             .bound.ElementExcess(1, 0, 1)));
}

// Below its normal range a format loses more than u: a magnitude of 3e-6 is half a hundred
// subnormals of f16.
TEST(bound, PipelineKeepsItsContractWhereTheMagnitudeIsTiny) {
  const Scheme quiet = Narrow("yarn", {"attention_factor=3e-6"}, "half");
  const std::vector<double> positions = {0, 1, 257, 4095, 131071};
  double largest = 0;
  for (const std::string& line : kContracts) {
    const Declared declared = Make(line, quiet);
    const Finding finding = RotateUnder(declared, positions);
    EXPECT_EQ(finding.use.over(), 0u) << line << "\n" << Told(finding);
    ExpectStagesWithin(declared, positions);
    if (declared.contract.table == Arithmetic::f16) largest = std::max(largest, finding.use.max());
  }
  EXPECT_GT(largest, 0.2);
}

TEST(bound, PositionsLoseWhatTheirFormatDoesNotHold) {
  const Scheme scheme = Narrow("rope", {}, "half");
  const auto angle = [&](const std::string& line, double position) {
    return Make(line, scheme).bound.Angle(position, 0);
  };
  // Half the smallest subnormal of f16, at frequency 1.
  const double held = angle("position=f16 frequency=exact angle=exact flush=no", 0x1p-24);
  EXPECT_EQ(held, 0);
  EXPECT_GE(angle("position=f16 frequency=exact angle=exact flush=no", 0x1.8p-24), 0x1p-25);
  // Flushed altogether.
  EXPECT_GE(angle("position=f16 frequency=exact angle=exact flush=yes", 0x1p-24), 0x1p-24);
  // An integer position that the angle's arithmetic does not hold is rounded when it is read.
  EXPECT_GE(angle("position=i64 frequency=f32:rn angle=f32 flush=no", 0x1p24 + 1),
            3 * 0x1p-24 * 0x1p24);
  EXPECT_LT(angle("position=i64 frequency=f32:rn angle=f32 flush=no", 0x1p24),
            2.001 * 0x1p-24 * 0x1p24);
}

// What was handed over counts as exact, in the format that it came in.
TEST(bound, GivenStagesCostNothingButTheirNarrowing) {
  const Scheme scheme = Narrow("rope", {}, "half");
  const std::vector<double> frequencies = ExactRotation(scheme).Frequencies(Dtype::f64).values;
  const auto bound = [&](const std::string& line, GivenStages given) {
    return RotaryBound(Contract::Parse(line, Dtype::f32), scheme, frequencies, 1, given);
  };
  const std::string line =
      "position=i64 frequency=f32:rn angle=f32 trig=1ulp:f32 table=f32 rotate=f32 store=bf16:rne "
      "flush=no";
  const double u = 0x1p-24, phi = 100 * frequencies[1];
  const RotaryBound same = bound(line, {.frequency = Arithmetic::f32});
  EXPECT_EQ(same.Frequency(1), 0);
  EXPECT_LT(same.Angle(100, 1), 1.001 * u * phi);
  EXPECT_GE(same.Angle(100, 1), u * phi);
  EXPECT_GE(bound(line, {.frequency = Arithmetic::f64}).Angle(100, 1), 2 * u * phi);
  // Two products and a sum of r (1 + u_t) at most.
  const RotaryBound table = bound(line, {.table = Arithmetic::f32});
  EXPECT_EQ(table.Table(100, 1), 0);
  EXPECT_GE(table.ElementExcess(100, 1, 1), 2 * u);
  EXPECT_LT(table.ElementExcess(100, 1, 1), 2.001 * u);
  EXPECT_GE(bound(line, {.table = Arithmetic::f64}).ElementExcess(100, 1, 1), 3 * u);
  // Inputs that are wider than the rotation are narrowed too: f32 ones to bf16.
  const std::string narrow =
      "table=bf16 rotate=bf16 store=f32:rne flush=no position=i64 angle=exact";
  EXPECT_GE(bound(narrow, {.table = Arithmetic::bf16}).ElementExcess(100, 1, 1), 3 * 0x1p-8);
  EXPECT_LT(bound(line, {.table = Arithmetic::bf16}).ElementExcess(100, 1, 1),
            2.001 * u * (1 + 0x1p-8));
}

// Against the neighbours as the encoding orders them: the reals that round to a number are those up
// to half way (nearest), up to the neighbour on the far side (truncated) or to both (stochastic).
TEST(bound, RoundingIntervalExcessIsTheDistanceToTheNeighbours) {
  const double largest = 65504, beyond = 65536;
  const auto value = [](uint64_t bits) { return Decode(Dtype::f16, bits); };
  Random random(3, "excess");
  uint64_t inside = 0, outside = 0;
  for (uint64_t bits = 0; bits < 0x7c00; ++bits) {
    const double at = value(bits);
    const double above = bits == 0x7bff ? beyond : value(bits + 1);
    const double below = bits == 0 ? -value(1) : value(bits - 1);
    const double step = above - at;
    const std::vector<double> truths = {at,
                                        above,
                                        below,
                                        (at + above) / 2,
                                        (at + below) / 2,
                                        at + 4 * step * random.Uniform(),
                                        at - 4 * step * random.Uniform(),
                                        -at,
                                        0,
                                        beyond * random.Uniform()};
    for (const double truth : truths) {
      const auto expect = [&](StoreRounding rounding, double lower, double upper) {
        const double distance = std::max({0.0, lower - truth, truth - upper});
        EXPECT_EQ(RoundingIntervalExcess(Dtype::f16, rounding, at, {truth, 0}), distance)
            << VariantName(rounding) << " " << at << " from " << truth;
        EXPECT_EQ(RoundingIntervalExcess(Dtype::f16, rounding, -at, {-truth, 0}), distance)
            << VariantName(rounding) << " " << -at << " from " << -truth;
        (distance == 0 ? inside : outside) += 1;
      };
      expect(StoreRounding::rne, (below + at) / 2, (at + above) / 2);
      expect(StoreRounding::rtz, bits == 0 ? below : at, bits == 0x7bff ? HUGE_VAL : above);
      expect(StoreRounding::sr, below, above);
      if (RoundTo(FormatOf(Dtype::f16), truth) == at) {
        EXPECT_EQ(RoundingIntervalExcess(Dtype::f16, StoreRounding::rne, at, {truth, 0}), 0);
      }
    }
  }
  EXPECT_GT(inside, 100000u);
  EXPECT_GT(outside, 100000u);
  // The low part of the truth counts.
  const DoubleDouble tie{1 + 0x1p-11, 0x1p-60};
  EXPECT_EQ(RoundingIntervalExcess(Dtype::f16, StoreRounding::rne, 1, tie), 0x1p-60);
  const auto infinite = [](StoreRounding rounding, double truth) {
    return RoundingIntervalExcess(Dtype::f16, rounding, HUGE_VAL, {truth, 0});
  };
  EXPECT_EQ(infinite(StoreRounding::rne, 65520), 0);
  EXPECT_EQ(infinite(StoreRounding::rne, 65519), 1);
  EXPECT_EQ(infinite(StoreRounding::rne, -65520), 2 * 65520);
  EXPECT_EQ(infinite(StoreRounding::sr, largest), 0);
  EXPECT_EQ(infinite(StoreRounding::sr, 65500), 4);
  EXPECT_TRUE(std::isinf(infinite(StoreRounding::rtz, 1e30)));
  EXPECT_EQ(infinite(StoreRounding::rtz, HUGE_VAL), 0);
  EXPECT_TRUE(std::isinf(RoundingIntervalExcess(Dtype::f16, StoreRounding::rne, NAN, {0, 0})));
}

// A table is rounded to its own arithmetic and to the format that it is exported in; the interval
// leaves out one of the two.
TEST(bound, ExportedTablesAreHeldToTheRoundingThatTheIntervalLeaves) {
  struct Export {
    std::string line;
    double least, most;  // of the bound at position 1, pair 0, in units of 2^-24
    StoreRounding rounding;
  };
  const std::string angle = "position=i64 frequency=exact angle=exact flush=no ";
  const std::vector<Export> exports = {
      {"trig=1ulp:f32 table=f32 store=f32:rtz", 1, 1.001, StoreRounding::rne},
      {"trig=1ulp:f32 table=exact store=f32:rtz", 1, 1.001, StoreRounding::rtz},
      {"trig=1ulp:f32 table=bf16 store=f32:sr", 1 + 65536, 65537.1, StoreRounding::rne},
      {"trig=1ulp:f32 table=f32 store=bf16:sr", 2, 2.001, StoreRounding::sr},
  };
  for (const Export& one : exports) {
    const Scheme scheme = Narrow("rope", {}, "half");
    const Declared declared = Make(angle + one.line, scheme);
    const double limit = declared.bound.TableExcess(1, 0) / 0x1p-24;
    EXPECT_GE(limit, one.least) << one.line;
    EXPECT_LE(limit, one.most) << one.line;
    EXPECT_EQ(declared.bound.TableRounding(), one.rounding) << one.line;
    if (one.rounding == StoreRounding::rtz) continue;
    // And the pipeline's own entries keep it.
    const Pipeline::Entries entries = declared.pipeline.Table(kPositions);
    const std::vector<int64_t> shape = {static_cast<int64_t>(kPositions.size()), 16};
    TablePair table{Tensor(declared.contract.store, shape), Tensor(declared.contract.store, shape)};
    for (size_t at = 0; at < entries.cos.size(); ++at) {
      table.cos.Set(at, entries.cos[at].high);
      table.sin.Set(at, entries.sin[at].high);
    }
    const Finding finding = HoldToBound(table, RotaryOf(scheme), kPositions,
                                        TruthOf(declared.exact, kPositions), declared.bound, 1);
    EXPECT_EQ(finding.use.over(), 0u) << one.line << "\n" << Told(finding);
    // The pipeline rounds its sines to f32 at once, so that only a narrower table shows.
    EXPECT_EQ(finding.use.max() > 0.2, declared.contract.table == Arithmetic::bf16) << one.line;
  }
}

// The figures of the worked example in docs/contracts.md, as they stand there.
TEST(bound, WorkedExampleOfTheDocumentation) {
  std::ifstream file(std::string(POSGAUGE_SOURCE_DIR) + "/docs/contracts.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t begin = text.find("## A worked example");
  ASSERT_NE(begin, std::string::npos);
  const auto printed = [&](const std::string& stage) {
    const size_t row = text.find("| " + stage + " | ", begin);
    const size_t end = text.find(" |\n", row), start = text.rfind("| ", end) + 2;
    return row == std::string::npos ? "no such row" : text.substr(start, end - start);
  };
  const size_t line = text.find("    position=", begin) + 4;
  const Declared declared =
      Make(text.substr(line, text.find('\n', line) - line), ParseScheme("rope", {}));
  const auto shown = [](double bound) { return fmt::format("{:.3e}", bound); };
  EXPECT_EQ(printed("frequency"), shown(declared.bound.Frequency(1)));
  EXPECT_EQ(printed("angle"), shown(declared.bound.Angle(4095, 1)));
  EXPECT_EQ(printed("table"), shown(declared.bound.Table(4095, 1)));
  EXPECT_EQ(printed("element"), shown(declared.bound.ElementExcess(4095, 1, 1)));
  EXPECT_EQ(printed("pair"), shown(declared.bound.Pair(4095, 1, 1)));
}

}  // namespace
}  // namespace posgauge
