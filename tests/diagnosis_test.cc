// Faults are named by what kernels answer: those of the tests, which share no code with the bank's
// replays, and every fault of the bank with library functions that are off.
#include <iostream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/diagnosis.h"
#include "posgauge/verify/faults/replay.h"
#include "posgauge/verify/plan.h"
#include "posgauge/verify/random.h"

namespace posgauge {
namespace {

constexpr std::array kDtypes = {Dtype::f32, Dtype::bf16, Dtype::f16};

CheckPlan PlanOf(const Scheme& scheme, int64_t heads = 2) {
  return {.positions = PlanPositions(256, 131071, LengthsOf(scheme), 1), .heads = heads};
}

bool Names(const Diagnosis& diagnosis, std::string_view id) {
  if (!diagnosis.IsNamed()) return false;
  if (IdsOf(diagnosis.cause.faults) == id) return true;
  for (const auto& twin : diagnosis.twins) {
    if (IdsOf(twin) == id) return true;
  }
  return false;
}

// What the kernels of the tests call a fault, where the bank calls it otherwise.
const std::map<std::string, std::string> kBankNames = {{"pairing_swapped", "pairing_flipped"},
                                                       {"sin_sign", "position_sign"},
                                                       {"wrong_base", "base_times_50"},
                                                       {"first_position", "position_first"}};

TEST(diagnosis, KernelsOfTheTestsAreNamedSlow) {
  const Scheme scheme = ParseScheme("rope", {"head_dim=64", "base=500000"});
  for (const char* fault : {"frequency_bf16",    "frequency_f16",     "frequency_3ppm",
                            "frequency_30ppm",   "base_ignored",      "wrong_base",
                            "position_plus_one", "position_bf16",     "position_f16",
                            "position_int16",    "position_mod_4096", "position_restarts",
                            "first_position",    "angle_f32",         "sin_sign",
                            "table_bf16",        "table_f16",         "table_interpolated",
                            "last_pair_still",   "last_pairs_still",  "pairing_swapped",
                            "reads_neighbour",   "term_dropped",      "arithmetic_bf16",
                            "arithmetic_f16",    "heads_permuted",    "clamps"}) {
    for (const Dtype dtype : kDtypes) {
      // Of its own dtype an arithmetic may be right.
      if (std::string(fault) == fmt::format("arithmetic_{}", Name(dtype))) continue;
      const KernelInfo info = FaultyKernel(fmt::format("faulty.{}.rotate.{}", fault, Name(dtype)));
      const Subject subject(info, scheme);
      const CheckPlan plan = PlanOf(scheme);
      const KernelCheck check = CheckKernels({subject}, plan)[0];
      if (check.keeps_contract.outcome != Outcome::fail) continue;  // too small for the dtype
      const Diagnosis diagnosis =
          Diagnose(subject, plan, check.keeps_contract.first_failure->position);
      const auto renamed = kBankNames.find(fault);
      const std::string name = renamed == kBankNames.end() ? fault : renamed->second;
      EXPECT_TRUE(Names(diagnosis, name))
          << info.name << " is named " << IdsOf(diagnosis.cause.faults) << ", share "
          << diagnosis.cause.share << "; next " << IdsOf(diagnosis.runner_up.faults) << " "
          << diagnosis.runner_up.share;
    }
  }
}

TEST(diagnosis, HonestKernelsAreNotNamed) {
  for (const char* text : {"rope", "linear", "llama3", "yarn"}) {
    std::vector<std::string> settings = {"head_dim=32", "rotary_dim=32"};
    if (std::string(text) != "rope") settings.emplace_back("factor=4");
    const Scheme scheme = ParseScheme(text, settings);
    for (const Dtype dtype : kDtypes) {
      const Subject subject(FaultyKernel(fmt::format("honest.rotate.{}", Name(dtype))), scheme);
      EXPECT_FALSE(Diagnose(subject, PlanOf(scheme), 1).IsNamed()) << text;
    }
  }
}

// A kernel that is wrong in a way that has no name.
TEST(diagnosis, UnknownFaultsAreNotNamed) {
  const Scheme scheme = ParseScheme("rope", {"head_dim=32", "rotary_dim=32"});
  const Subject subject(FaultyKernel("honest.rotate.f32"), scheme);
  std::vector<Evidence> evidence = Observe(subject, PlanOf(scheme), {0, 1, 2, 3, 5, 8, 100, 1000});
  Random random(7, "unknown");
  for (Evidence& each : evidence) {
    for (double& value : each.answer) value *= 1 + 0.125 * random.Uniform();
  }
  const Diagnosis diagnosis = Diagnose(evidence);
  EXPECT_FALSE(diagnosis.IsNamed()) << IdsOf(diagnosis.cause.faults);
}

// What a kernel in f32 declares whose functions are good to an ulp or two.
constexpr const char* kUsual =
    "position=i64 frequency=f32:pow angle=f32 trig=2ulp:f32 table=f32 rotate=f32 accumulate=f32 "
    "store={}:rne flush=no";

const std::vector<std::pair<std::string, std::vector<std::string>>> kRotations = {
    {"rope", {"head_dim=64", "rotary_dim=32", "base=500000"}},
    {"rope", {"head_dim=32", "pairing=interleaved", "base=1000000"}},
    {"linear", {"head_dim=32", "factor=8"}},
    {"ntk", {"head_dim=32", "factor=4"}},
    {"ntk", {"head_dim=32", "factor=4", "form=dynamic", "trained_length=2048", "length=6000"}},
    {"yarn", {"head_dim=64", "factor=16", "original_length=4096"}},
    {"yarn",
     {"head_dim=64", "factor=40", "original_length=4096", "mscale=0.8", "mscale_all_dim=0.5",
      "magnitude=deepseek"}},
    {"llama3", {"head_dim=64", "factor=8", "base=500000"}},
    {"proportional", {"head_dim=32", "proportion=0.5"}},
    {"mrope", {"head_dim=32", "section=[4,6,6]"}},
};

// Every fault on every rotation: the answers of a kernel that is off by it and whose power, sine
// and cosine are off by up to two ulps, rounded to the dtype.
TEST(diagnosis, EveryFaultOfARotationIsNamedSlow) {
  uint64_t counted = 0, named = 0;
  std::map<std::string, int> missed;
  for (const auto& [name, settings] : kRotations) {
    const Scheme scheme = ParseScheme(name, settings);
    for (const Dtype dtype : kDtypes) {
      KernelInfo info = FaultyKernel(fmt::format("honest.rotate.{}", Name(dtype)));
      info.contract = Contract::Parse(fmt::format(fmt::runtime(kUsual), Name(dtype)), dtype);
      const Subject subject(info, scheme);
      std::vector<Evidence> asked =
          Observe(subject, PlanOf(scheme),
                  {0,   1,   2,    3,    5,    17,   63,   64,   65,   255,   256,   257,
                   511, 512, 1023, 2047, 2048, 2049, 4095, 4096, 4097, 32768, 32769, 100003});
      const std::vector<double> honest = *Replay(asked[0].question, {});
      for (const Fault& fault : FaultBank()) {
        const Fault* one = &fault;
        const auto answer =
            Replay(asked[0].question, std::span(&one, 1), {.ulps = 2, .seed = counted + 1});
        if (!answer) continue;
        Evidence evidence = asked[0];
        const Format format = FormatOf(dtype);
        for (size_t i = 0; i < answer->size(); ++i) {
          // The limits hold half the spacing at the answer.
          evidence.limits[i] -= Ulp(format, evidence.answer[i]) / 2;
          evidence.answer[i] = RoundTo(format, (*answer)[i]);
          evidence.limits[i] += Ulp(format, evidence.answer[i]) / 2;
        }
        // Counts where its effect is more than twice the bound, at ten values and more.
        int beyond = 0;
        for (size_t i = 0; i < answer->size(); ++i) {
          if (std::fabs((*answer)[i] - honest[i]) > 2 * evidence.limits[i]) ++beyond;
        }
        if (beyond < 10) continue;
        ++counted;
        const Diagnosis diagnosis = Diagnose({evidence});
        if (Names(diagnosis, fault.id)) {
          ++named;
        } else {
          ++missed[fmt::format("{} -> {}", fault.id, IdsOf(diagnosis.cause.faults))];
        }
      }
    }
  }
  std::cout << fmt::format("{} of {} named\n", named, counted);
  for (const auto& [what, count] : missed) std::cout << fmt::format("  {} x {}\n", count, what);
  EXPECT_GT(counted, 1000u);
  EXPECT_GE(static_cast<double>(named), 0.97 * static_cast<double>(counted));
}

}  // namespace
}  // namespace posgauge
