#include "posgauge/verify/equation_plan.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "law_checks.h"
#include "posgauge/verify/check.h"
#include "tensor_view.h"

namespace posgauge {
namespace {

// The extents of a planned call: queries and keys.
std::array<int64_t, 2> Extents(const Scheme& scheme, EquationQuantity quantity, double position) {
  const NamedInputs inputs =
      PlanAttention(scheme, ExactEquations(scheme), quantity, Dtype::f32, position, 1);
  return {inputs["query_positions"].shape[0], inputs["key_positions"].shape[0]};
}

TEST(equation_plan, SomeCallsAreLongerThanTilesAndNoMultiplesOfThem) {
  for (const bool causal : {true, false}) {
    const Scheme scheme = ParseScheme("none", {"heads=1", fmt::format("causal={}", causal)});
    for (const double position : {511.0, 2047.0, 131071.0}) {
      EXPECT_TRUE(AsksManyKeys(position));
      EXPECT_EQ(Extents(scheme, EquationQuantity::scores, position),
                (std::array<int64_t, 2>{1, 133}));
    }
    for (const double position : {256.0, 1024.0, 65536.0}) {
      EXPECT_TRUE(AsksManyQueries(position));
      EXPECT_EQ(Extents(scheme, EquationQuantity::attention, position),
                (std::array<int64_t, 2>{67, 3}));
    }
    for (const double position : {0.0, 127.0, 255.0, 257.0, 512.0, 4095.0}) {
      EXPECT_FALSE(AsksManyKeys(position) || AsksManyQueries(position)) << position;
    }
  }
}

TEST(equation_plan, LongCallsKeepTheEndsOfBuckets) {
  const Scheme t5 = ParseScheme("t5", {"heads=1"});
  const ExactEquations exact(t5);
  const ExactTensor starts = *exact.ReadyMade("thresholds", Dtype::f64);
  for (const double position : {511.0, 1024.0}) {
    const NamedInputs inputs =
        PlanAttention(t5, exact, EquationQuantity::buckets, Dtype::f32, position, 1);
    for (const double start : starts.values) {
      for (const double distance : {start - 1, start}) {
        if (distance < 0 || distance > position) continue;
        EXPECT_EQ(std::ranges::count(inputs["key_positions"].values, position - distance), 1)
            << position << " " << distance;
      }
    }
  }
}

// A short table has a call with all of its keys.
TEST(equation_plan, TheLastTokenOfAWindowSeesAll) {
  EXPECT_EQ(Extents(ParseScheme("swin", {"window_h=7", "window_w=7"}), EquationQuantity::bias, 48),
            (std::array<int64_t, 2>{2, 49}));
}

std::string honest;  // for run, a plain function

// Right for calls of at most 64 queries and 128 keys; one number is wrong in longer ones.
posgauge_kernel RightWithinATile(std::string_view name) {
  honest = name;
  posgauge_kernel kernel = *AnyKernel(name).kernel;
  kernel.run = [](const posgauge_call* call, char* why, size_t size) {
    const int32_t answer = AnyKernel(honest).kernel->run(call, why, size);
    for (uint32_t i = 0; i < call->num_inputs; ++i) {
      const std::string_view input = call->inputs[i].name;
      const int64_t most = input == "query_positions" ? 64 : input == "key_positions" ? 128 : 0;
      if (most == 0 || View(call->inputs[i]).shape(0) <= most) continue;
      const View out(call->outputs[0]);
      out.SetFlat(out.Flat(0) + 1, 0);
    }
    return answer;
  };
  return kernel;
}

TEST(equation_plan, AKernelThatIsRightWithinATileIsFound) {
  const Scheme scheme = ParseScheme("alibi", {"heads=3", "head_dim=8"});
  for (const char* quantity : {"bias", "scores", "attention"}) {
    SCOPED_TRACE(quantity);
    const posgauge_kernel kernel = RightWithinATile(fmt::format("fast.{}.alibi.f32", quantity));
    const auto outcome = [&](std::vector<double> positions) {
      const Subject subject(KernelInfo(kernel), scheme);
      return CheckKernels({subject}, {.positions = std::move(positions)})[0].keeps_contract.outcome;
    };
    EXPECT_EQ(outcome({17, 255, 257}), Outcome::pass);
    EXPECT_EQ(outcome({511}), Outcome::fail);
    EXPECT_EQ(outcome({256}), Outcome::fail);
  }
}

// Of a scheme so wide that most positions are left out, those stay, as far as the kernel serves.
TEST(equation_plan, WideSchemesKeepALongCallOfEachKind) {
  const Scheme scheme = ParseScheme("alibi", {"heads=64", "head_dim=256"});
  posgauge_kernel kernel = RightWithinATile("fast.scores.alibi.f32");
  std::vector<double> positions;
  for (double position = 0; position <= 2100; ++position) positions.push_back(position);
  for (const double largest : {0.0, 600.0}) {
    kernel.largest_position = largest;
    const Subject subject(KernelInfo(kernel), scheme);
    const Verdict verdict = CheckKernels({subject}, {.positions = positions})[0].keeps_contract;
    EXPECT_EQ(verdict.outcome, Outcome::fail) << largest;
    EXPECT_EQ(verdict.first_failure->position, largest == 0 ? 1024 : 256) << largest;
  }
}

}  // namespace
}  // namespace posgauge
