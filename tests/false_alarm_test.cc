#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "law_checks.h"
#include "numbered_runs.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/random.h"
#include "tensor_view.h"

namespace posgauge {
namespace {

// A bound that is derived has no flaky pass and no flaky failure: kernels that keep their contracts
// pass with every seed, and a single value beyond its bound is found with every seed.

const std::vector<std::pair<std::string, std::vector<std::string>>> kSchemes = {
    {"rope", {"head_dim=10", "rotary_dim=6", "rotary_offset=2", "base=500000"}},
    {"linear", {"head_dim=6", "factor=3"}},
    {"ntk", {"head_dim=8", "factor=4", "form=dynamic", "trained_length=4096", "length=16384"}},
    {"yarn", {"head_dim=8", "factor=16"}},
    {"llama3", {"head_dim=8"}},
    {"proportional", {"head_dim=8", "proportion=0.5", "factor=2"}},
    {"longrope",
     {"head_dim=6", "short_factor=[1,1.25,1.5]", "long_factor=[1,4,64]", "length=4097",
      "factor=32"}},
    {"mrope", {"head_dim=8", "section=[2,1,1]"}},
    {"axial", {"head_dim=8", "section=[1,1,2]"}},
    {"sinusoidal", {"width=7", "layout=halves", "frequency_shift=1", "odd_width=zero"}},
    {"learned", {"width=6", "rows=40"}},
    {"alibi", {"heads=2", "head_dim=4"}},
    {"t5", {"heads=2", "head_dim=4", "num_buckets=16", "max_distance=64"}},
    {"kerple", {"heads=2", "head_dim=4"}},
    {"sandwich", {"heads=2", "head_dim=4", "sandwich_width=8"}},
    {"none", {"heads=2", "head_dim=4"}},
    {"fire", {"heads=2", "head_dim=4", "mlp_width=4"}},
    {"cope", {"heads=2", "head_dim=4", "num_positions=4"}},
    {"dual_chunk", {"heads=2", "head_dim=4", "chunk_size=8", "local_size=3"}},
    {"shaw", {"heads=2", "head_dim=4", "clip=20"}},
    {"xpos", {"heads=2", "head_dim=4"}},
    {"rerope", {"heads=2", "head_dim=4", "window=5"}},
};

// Three positions a seed, as many in each octave up to 2^17; fewer where the scheme ends earlier.
CheckPlan SmallPlan(const Scheme& scheme, uint64_t seed) {
  const int64_t count = PositionCount(scheme).value_or(std::numeric_limits<int64_t>::max());
  Random random(seed, "small plan");
  std::set<double> positions;
  for (int i = 0; i < 3; ++i) {
    const auto position = static_cast<int64_t>(std::exp2(17 * random.Uniform())) - 1;
    positions.insert(static_cast<double>(position % count));
  }
  return {.positions = {positions.begin(), positions.end()},
          .heads = 1 + static_cast<int64_t>(random.Below(2)),
          .seed = seed};
}

// Values that the plan asks for, where that does not depend on what is drawn.
std::optional<uint64_t> ValuesOf(const Subject& subject, const CheckPlan& plan) {
  const uint64_t positions = plan.positions.size();
  if (IsRotary(subject.scheme())) {
    const Rotary& layout = subject.layout();
    return subject.info().quantity == "table"
               ? positions * static_cast<uint64_t>(layout.Pairs())
               : positions * static_cast<uint64_t>(plan.heads * layout.head_dim);
  }
  if (ActsInAttention(subject.scheme())) return std::nullopt;
  return positions * static_cast<uint64_t>(WidthOf(subject.scheme()));
}

// All kernels in f32, f16 and bf16 of a scheme, honest and fast, that answer at positions.
std::vector<Subject> GoodSubjects(const Scheme& scheme) {
  const std::set<std::string> without = {"frequencies", "slopes", "buckets"};
  std::vector<Subject> subjects;
  for (const std::string& name : GoodKernelsOf(scheme)) {
    const KernelInfo info = AnyKernel(name);
    const Dtype io = info.io();
    const bool asked = io == Dtype::f32 || io == Dtype::f16 || io == Dtype::bf16;
    if (asked && !without.contains(info.quantity)) subjects.emplace_back(info, scheme);
  }
  return subjects;
}

TEST(false_alarm, NoneInTenThousandSeedsSlow) {
  std::vector<std::vector<Subject>> subjects;
  for (const auto& [name, settings] : kSchemes) {
    subjects.push_back(GoodSubjects(ParseScheme(name, settings)));
    ASSERT_GE(subjects.back().size(), 6u) << name;
  }
  std::set<std::string> checked;
  uint64_t values = 0, expected = 0;
  for (uint64_t seed = 0; seed < 10000; ++seed) {
    const std::vector<Subject>& of_scheme = subjects[seed % subjects.size()];
    const Subject& subject = of_scheme[seed / subjects.size() % of_scheme.size()];
    const CheckPlan plan = SmallPlan(subject.scheme(), seed);
    const Verdict verdict = CheckKernels({subject}, plan)[0].keeps_contract;
    ASSERT_EQ(verdict.outcome, Outcome::pass)
        << "seed " << seed << ", " << Text(subject.scheme()) << "\n"
        << Line(verdict);
    ASSERT_GT(verdict.use.count(), 0u) << "seed " << seed;
    if (const auto asked = ValuesOf(subject, plan)) {
      ASSERT_EQ(verdict.use.count(), *asked) << "seed " << seed << " " << Line(verdict);
    }
    values += verdict.use.count();
    checked.insert(fmt::format("{} {}", Name(subject.scheme()), subject.info().name));
  }
  for (const auto& of_scheme : subjects) expected += of_scheme.size();
  EXPECT_EQ(checked.size(), expected);
  // Three positions of six values are the smallest plan there is.
  EXPECT_GE(values, 10000u * 6);
  RecordProperty("values", std::to_string(values));
}

// The honest kernels of several kinds, one value of whose output is stored 16 spacings off while
// `broken` is set: the largest one, so that no bound is wide against its spacing.
constexpr std::array<std::string_view, 12> kHonest = {
    "honest.rotate.f32", "honest.rotate.f16",    "honest.rotate.bf16",   "honest.table.f32",
    "honest.table.f16",  "honest.table.bf16",    "honest.rows.f32",      "honest.rows.f16",
    "honest.rows.bf16",  "honest.attention.f32", "honest.attention.f16", "honest.attention.bf16"};
bool broken = false;
uint64_t spoiled = 0;  // values so far

void ServeBroken(size_t index, const posgauge_call& call) {
  const KernelInfo honest = FaultyKernel(kHonest[index]);
  std::array<char, 256> why{};
  if (honest.kernel->run(&call, why.data(), why.size()) != POSGAUGE_OK) {
    throw KernelFailure(why.data());
  }
  if (!broken) return;
  const posgauge_tensor& tensor = call.outputs[0];
  const View out(tensor);
  int64_t count = 1, largest = 0;
  for (int axis = 0; axis < tensor.tensor.ndim; ++axis) count *= out.shape(axis);
  for (int64_t i = 1; i < count; ++i) {
    if (std::fabs(out.Flat(i)) > std::fabs(out.Flat(largest))) largest = i;
  }
  const double value = out.Flat(largest);
  out.SetFlat(value + 16 * Ulp(FormatOf(out.dtype()), value), largest);
  ++spoiled;
}

constexpr auto kRuns = NumberedRuns<ServeBroken, kHonest.size()>();

const std::set<std::string> kBrokenOn = {"rope",  "yarn", "mrope", "sinusoidal",
                                         "alibi", "t5",   "xpos"};

// 16 spacings are 16 u of the value at least, u that of the output, half a spacing of which its
// interval covers. The larger element of a pair is r/sqrt(2) at least and its bound 3 r u' with
// u' <= u. Entries, rows and what attention yields are computed in f64 and rounded once: their
// bound is what f64 errs.
TEST(false_alarm, OneValueBeyondItsBoundIsFoundWithEverySeedSlow) {
  std::deque<posgauge_kernel> kernels;
  std::vector<Subject> subjects;
  for (size_t i = 0; i < kHonest.size(); ++i) {
    const KernelInfo honest = FaultyKernel(kHonest[i]);
    posgauge_kernel& kernel = kernels.emplace_back(*honest.kernel);
    kernel.run = kRuns[i];
    for (const auto& [name, settings] : kSchemes) {
      const Scheme scheme = ParseScheme(name, settings);
      if (!kBrokenOn.contains(name) || !honest.Serves(scheme)) continue;
      subjects.emplace_back(KernelInfo(kernel), scheme);
    }
  }
  uint64_t found = 0, passed = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Subject& subject = subjects[seed % subjects.size()];
    Random random(seed, "broken");
    broken = random.Below(2) == 0;
    spoiled = 0;
    const Verdict verdict =
        CheckKernels({subject}, SmallPlan(subject.scheme(), seed))[0].keeps_contract;
    ASSERT_EQ(verdict.outcome, broken ? Outcome::fail : Outcome::pass)
        << "seed " << seed << ", " << Text(subject.scheme()) << "\n"
        << Line(verdict);
    EXPECT_EQ(verdict.use.over(), spoiled) << "seed " << seed << " " << Line(verdict);
    ++(broken ? found : passed);
  }
  broken = false;
  EXPECT_GE(found, 400u);
  EXPECT_GE(passed, 400u);
}

}  // namespace
}  // namespace posgauge
