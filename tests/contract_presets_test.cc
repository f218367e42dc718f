// Presets and files of contracts.
#include "posgauge/verify/contract_presets.h"

#include <array>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "posgauge/verify/contract.h"
#include "posgauge/verify/contract_file.h"
#include "posgauge/verify/judge.h"
#include "posgauge/verify/pipeline.h"
#include "posgauge/verify/plan.h"
#include "temporary_folder.h"

namespace posgauge {
namespace {

constexpr std::array kVectors = {Dtype::f32, Dtype::bf16, Dtype::f16};

std::string Refusal(const std::string& given) {
  try {
    return Contract::Parse(ReadContractLine(given), Dtype::f32).Text();
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(contract_presets, AreLinesOfTheDtypeOfTheVectors) {
  EXPECT_EQ(Contract::Parse("hf-eager", Dtype::bf16),
            Contract::Parse("position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table=bf16 "
                            "rotate=bf16 accumulate=bf16 store=bf16:rne flush=no",
                            Dtype::bf16));
  for (const ContractPreset& preset : ContractPresets()) {
    for (const Dtype io : kFloatDtypes) {
      const Contract contract = Contract::Parse(preset.name, io);
      EXPECT_EQ(contract.store, io) << preset.name;
      EXPECT_EQ(Contract::Parse(contract.Text(), io), contract) << preset.name;
      // Nothing is left to the weakest.
      EXPECT_FALSE(contract.flush_to_zero) << preset.name;
      EXPECT_EQ(contract.store_rounding, StoreRounding::rne) << preset.name;
    }
  }
  // Nothing declared is exact angles.
  for (const Dtype io : kVectors) {
    Contract nothing = Contract::Default(io);
    EXPECT_EQ(Contract::Parse("exact-angle", io).Text(), nothing.Text());
  }
}

TEST(contract_presets, WordsAfterOneWin) {
  Contract expected = Contract::Parse("flashinfer-cache", Dtype::bf16);
  expected.table = Arithmetic::bf16;
  expected.flush_to_zero = true;
  EXPECT_EQ(Contract::Parse("flashinfer-cache table=bf16 flush=yes", Dtype::bf16), expected);
  EXPECT_EQ(Refusal("table=bf16 flashinfer-cache"),
            "contract: a preset comes first, got 'flashinfer-cache' after other words");
  EXPECT_EQ(Refusal("f32 bf16"), "contract: a preset comes first, got 'bf16' after other words");
  EXPECT_EQ(Refusal("hf-lazy").substr(0, 62),
            "contract: expected key=value or a preset (exact-angle, f32, bf");
}

// A pipeline of exactly that arithmetic, emulated, stays within the bound, and comes near enough to
// it that the bound says something.
TEST(contract_presets, EmulatedPipelinesKeepThem) {
  const std::vector<Scheme> schemes = {
      ParseScheme("rope", {"head_dim=32"}),
      ParseScheme("llama3", {"head_dim=32", "base=500000"}),
      ParseScheme("yarn", {"head_dim=32", "factor=4", "pairing=interleaved"}),
      ParseScheme("mrope", {"head_dim=32", "section=[6,5,5]", "order=interleaved"}),
  };
  for (const ContractPreset& preset : ContractPresets()) {
    for (const Dtype io : kVectors) {
      double most = 0;
      for (const Scheme& scheme : schemes) {
        const Contract contract = Contract::Parse(preset.name, io);
        const ExactRotation exact(scheme);
        const Axes& axes = exact.axes();
        const Rotary& layout = RotaryOf(scheme);
        std::vector<double> positions;
        for (double position : PlanPositions(12, 131071, std::array{int64_t{4096}}, 1)) {
          for (int64_t axis = 0; axis < axes.count; ++axis) {
            positions.push_back(axis == 1 ? std::floor(position / 3) : position);
          }
        }
        const TruthTable truth = TruthOf(exact, positions);
        const RotaryBound bound(contract, scheme, exact.Frequencies(Dtype::f64).values,
                                exact.Magnitude(Dtype::f64).values[0]);
        const Tensor x = PlanInput(layout, positions, 4, io, truth, 1, axes);
        const Tensor out = Pipeline(contract, scheme).Rotate(positions, x);
        const Finding finding =
            HoldToBound(Rotated{layout, positions, x, out, false, {}, axes}, truth, bound);
        EXPECT_EQ(finding.use.over(), 0u)
            << Text(scheme) << "\n  " << preset.name << " of " << Name(io);
        EXPECT_GT(finding.use.count(), 0u);
        most = std::max(most, finding.use.max());
      }
      EXPECT_GE(most, 0.2) << preset.name << " of " << Name(io);
    }
  }
}

TEST(contract_file, HasTheWordsOfALineAsKeys) {
  const TemporaryFolder folder;
  const std::string path = (folder / "kernel.toml").string();
  const auto told = [&](const std::string& text) {
    std::ofstream(path) << text;
    return Refusal(path);
  };
  EXPECT_EQ(told("table = \"bf16\"\npreset = \"flashinfer-cache\"  # with a table in bf16\n"
                 "flush = true\n"),
            Contract::Parse("flashinfer-cache table=bf16 flush=yes", Dtype::f32).Text());
  EXPECT_EQ(told("trig = \"1ulp:f32\"\n"), Contract::Parse("trig=1ulp:f32", Dtype::f32).Text());
  EXPECT_EQ(told("\ntable = 16\n"),
            path + ":2:1: \"table\" must be one word in quotes, such as \"f32\"");
  EXPECT_EQ(told("flush = \"maybe\"\n"),
            path + ":1:1: contract: flush must be yes or no, got 'maybe'");
  EXPECT_EQ(told("flush = 1\n"), path + ":1:1: \"flush\" must be true or false");
  EXPECT_EQ(told("table = \"f32 rotate=f32\"\n"),
            path + ":1:1: \"table\" must be one word in quotes, such as \"f32\"");
  EXPECT_EQ(told("[table]\nin = \"f32\"\n"),
            path + ":1:2: \"table\" must be one word in quotes, such as \"f32\"");
  EXPECT_EQ(told("  tabel = \"f32\"\n").substr(0, path.size() + 35),
            path + ":1:3: contract: unknown key 'tabel'");
  EXPECT_EQ(told("preset = \"hf\"\n").substr(0, path.size() + 24),
            path + ":1:1: contract: expected");
  EXPECT_EQ(told("table = \"f32\"\ntable = \"f16\"\n").substr(0, path.size() + 15),
            path + ":2:9: not TOML:");
  // Found by the fuzzer: what the parser of TOML quotes has a line feed in it.
  const std::string quoted = told("flush = tru\n[trig]\n");
  EXPECT_TRUE(quoted.starts_with(path + ":1:") && quoted.find('\n') == quoted.npos) << quoted;
  // A key that is two words of a line.
  EXPECT_EQ(told("\"angle=f32 table\" = \"f32\"\n"),
            path + ":1:1: unknown key \"angle=f32 table\"");
  EXPECT_EQ(told("table = \n").substr(0, path.size() + 15), path + ":1:9: not TOML:");
  EXPECT_EQ(told(std::string(1 << 17, '#')), path + ": cannot read: longer than 65536 bytes");
  EXPECT_EQ(Refusal((folder / "none.toml").string()),
            (folder / "none.toml").string() + ": cannot read: No such file or directory");
  EXPECT_EQ(Refusal(folder.path().string() + "/.toml"),
            folder.path().string() + "/.toml: cannot read: No such file or directory");
}

}  // namespace
}  // namespace posgauge
