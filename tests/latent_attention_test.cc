// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, sec. 2.1.3) needs no scheme of its
// own: a head is q_nope beside q_rope and k_nope beside k_rope, so that it is a rotation of the
// suffix, and k_rope, one vector that all heads share, may be rotated once for all of them.
#include <cmath>

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "law_checks.h"
#include "model_config_reading.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/random.h"

namespace posgauge {
namespace {

using config_test::Model;
using config_test::Only;

constexpr int64_t kHeads = 3, kWidth = 192, kRopeWidth = 64, kNopeWidth = kWidth - kRopeWidth;

std::vector<double> AnyVector(int64_t size, std::string_view what) {
  Random random(1, what);
  std::vector<double> x;
  for (int64_t i = 0; i < size; ++i) x.push_back(std::floor(random.Uniform() * 256 - 128) / 64);
  return x;
}

// The same rotation of k_rope alone.
yarn::Params OfRopeAlone(const Scheme& scheme) {
  yarn::Params params = std::get<yarn::Params>(scheme);
  params.rotary.head_dim = params.rotary.rotary_dim;
  params.rotary.rotary_offset = 0;
  return params;
}

// k [kHeads, kWidth] of one token: a k_nope a head, and one k_rope.
std::vector<double> WithSharedRope(const std::vector<double>& nope,
                                   const std::vector<double>& rope) {
  std::vector<double> k;
  for (int64_t head = 0; head < kHeads; ++head) {
    k.insert(k.end(), nope.begin() + head * kNopeWidth, nope.begin() + (head + 1) * kNopeWidth);
    k.insert(k.end(), rope.begin(), rope.end());
  }
  return k;
}

TEST(latent_attention, TheSharedKeyIsRotatedOnceForAllHeads) {
  const Scheme scheme = Only(Model("deepseek-v3"));
  const std::vector<double> nope = AnyVector(kHeads * kNopeWidth, "nope"),
                            rope = AnyVector(kRopeWidth, "rope"), positions = {131071};
  const std::vector<double> once =
      ExactRotation(Scheme(OfRopeAlone(scheme))).Rotate(positions, rope, 1, Dtype::f64).values;
  const std::vector<double> rotated =
      ExactRotation(scheme)
          .Rotate(positions, WithSharedRope(nope, rope), kHeads, Dtype::f64)
          .values;
  EXPECT_EQ(rotated, WithSharedRope(nope, once));
}

// <q_nope, k_nope> does not depend on positions; <q_rope, k_rope> is that of heads of 64 channels.
TEST(latent_attention, ScoresAreThoseOfBothParts) {
  const Scheme scheme = Only(Model("deepseek-v3"));
  const std::vector<double> k_nope = AnyVector(kHeads * kNopeWidth, "k nope"),
                            k_rope = AnyVector(kRopeWidth, "k rope"), queries = {131071},
                            keys = {4096};
  const std::vector<double> q = AnyVector(kHeads * kWidth, "q");
  const std::vector<double> scores =
      ExactRotation(scheme)
          .Scores(queries, keys, q, WithSharedRope(k_nope, k_rope), kHeads, 1, Dtype::f64)
          .values;
  for (int64_t head = 0; head < kHeads; ++head) {
    const auto of_head = q.begin() + head * kWidth;
    double content = 0;  // exact: whole multiples of 2^-12 below 2^9
    for (int64_t c = 0; c < kNopeWidth; ++c) {
      content += of_head[c] * k_nope[static_cast<size_t>(head * kNopeWidth + c)];
    }
    const std::vector<double> q_rope(of_head + kNopeWidth, of_head + kWidth);
    const double turned = ExactRotation(Scheme(OfRopeAlone(scheme)))
                              .Scores(queries, keys, q_rope, k_rope, 1, 1, Dtype::f64)
                              .values[0];
    // Both scores and the sum here are rounded once.
    const double size = std::fabs(content) + std::fabs(turned);
    EXPECT_LE(std::fabs(scores[static_cast<size_t>(head)] - (content + turned)),
              3 * 0x1p-53 * size);
  }
}

// Logits are <q, k> g^2/sqrt(192), g = 0.1 mscale_all_dim ln 40 + 1, and the tables have magnitude
// 1.
TEST(latent_attention, TheSoftmaxMultiplierStandsBesideTheRotation) {
  for (const auto& [name, mscale] :
       {std::pair("deepseek-v3", 1.0), std::pair("deepseek-v2-lite", 0.707)}) {
    const ExactRotation exact(Only(Model(name)));
    const double g = 0.1 * mscale * std::log(40.0) + 1;
    EXPECT_EQ(exact.Magnitude(Dtype::f64).values[0], 1);
    // Six roundings.
    EXPECT_LE(std::fabs(exact.SoftmaxMultiplier(Dtype::f64).values[0] - g * g),
              6 * 0x1p-52 * g * g);
    EXPECT_EQ(exact.layout().head_dim, kWidth);
  }
}

TEST(latent_attention, KernelsRotateTheSuffixOfTheModel) {
  const Scheme scheme = Only(Model("deepseek-v3"));
  std::vector<Subject> subjects;
  for (const std::string dtype : {"f32", "bf16"}) {
    for (const std::string name : {"fast.rotate_positions.", "honest.rotate."}) {
      subjects.emplace_back(AnyKernel(name + dtype), scheme);
    }
  }
  const CheckPlan plan{.positions = {0, 1, 4095, 131071}};
  for (const KernelCheck& check : CheckKernels(subjects, plan)) {
    EXPECT_EQ(check.keeps_contract.outcome, Outcome::pass) << Line(check.keeps_contract);
  }
  for (const std::string_view law : {"untouched_channels", "relative_invariance", "norm"}) {
    const Verdict verdict = CheckStandardLaw(law, subjects[0], {.cases = 2, .rows = 4, .heads = 2});
    EXPECT_EQ(verdict.outcome, Outcome::pass) << Line(verdict);
  }
  // One that also writes to q_nope and k_nope is found.
  const Subject wrong(FaultyKernel("faulty.untouched_written.rotate.f32"), scheme);
  EXPECT_EQ(
      CheckStandardLaw("untouched_channels", wrong, {.cases = 2, .rows = 4, .heads = 2}).outcome,
      Outcome::fail);
}

}  // namespace
}  // namespace posgauge
