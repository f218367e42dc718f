#include <array>
#include <iostream>
#include <set>

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/contract_presets.h"
#include "posgauge/verify/plan.h"

namespace posgauge {
namespace {

// The ways in which deployed kernels have been wrong, each as a kernel: the gate's own check finds
// all of them, in every dtype, and the honest kernel beside them passes.

constexpr std::array kDtypes = {Dtype::f32, Dtype::f16, Dtype::bf16};

struct Mutant {
  std::string_view fault;
  // The smallest position at which it computes something else than the scheme: none before can
  // fail.
  double differs_from;
  // By which position it is found, whatever the input, by dtype.
  std::array<double, 3> found_by;
};

// An element fails once its error is beyond r (3 u + u_o): the bound under an f32 table and
// rotation, u = 2^-24, and half a spacing of the output. A wrong entry (cos, sin) off by d in norm
// moves a pair by r d, so one of its two elements by r d/sqrt(2) at least. So d >= sqrt(2) (3 u +
// u_o) is found in any input: 3.4e-7, 6.9e-4 and 5.5e-3 in f32, f16 and bf16. Frequencies that are
// off by s at most give d = 2 sin(p s/2), and the plan has every 2^k - 1 and 2^k.
// Channels that cancel or stand alone, whose outputs have small spacings, find most of them sooner.
constexpr std::array<Mutant, 20> kMutants = {{
    // s = 1.8e-3 at pair 1. In bf16 surely from 4; verify/customs.h's example has it at 1.
    {"frequency_bf16", 1, {1, 1, 4}},
    // s = 1.6e-4 at pair 1: 4.2 positions, 33.7.
    {"frequency_f16", 1, {1, 5, 63}},
    // s = 3e-6 and 3e-5 at pair 0: 230.3 and 1841.5 positions; 23.03 and 184.2.
    {"frequency_3ppm", 1, {1, 255, 2047}},
    {"frequency_30ppm", 1, {1, 31, 255}},
    // Position off by 1 and more: a radian at pair 0. The first that 8 bits and 11 bits do not
    // hold.
    {"position_bf16", 257, {257, 257, 257}},
    {"position_f16", 2049, {2049, 2049, 2049}},
    {"position_mod_4096", 4096, {4096, 4096, 4096}},
    {"position_int16", 32768, {32768, 32768, 32768}},
    {"position_plus_one", 0, {0, 0, 0}},
    // s = 0.19 and more at pairs 10 to 20.
    {"base_ignored", 1, {1, 1, 1}},
    // s = 500000^(-126/128) = 2.46e-6: 281.4 and 2250.2 positions.
    {"last_pair_still", 1, {1, 511, 4095}},
    // s = 500000^(-112/128) = 1.03e-5: 67.0 and 535.7 positions.
    {"last_pairs_still", 1, {1, 127, 1023}},
    // What rounds its table or its products is off by a share of a spacing: whether an element
    // fails
    // depends on where in its interval the truth lies. About 0.6 d over the spacing 2 u_o of the
    // elements do. Of a bf16 table d is about 2^-9, an eighth in bf16; of an f16 table 2^-12, one
    // in
    // a hundred, so five of the 512 elements of a position in bf16 and eighty of the first sixteen.
    {"table_bf16", 1, {1, 1, 1}},
    {"table_f16", 1, {1, 1, 16}},
    // Inputs that the arithmetic does not hold are rounded even at position 0; f16 does not hold
    // the
    // large ones of bf16.
    {"arithmetic_bf16", 0, {0, 0, 1}},
    {"arithmetic_f16", 0, {0, 1, 0}},
    // Angle 0 has no term with sin, nor a sign of it, and copies under either pairing.
    {"term_dropped", 1, {1, 1, 1}},
    {"sin_sign", 1, {1, 1, 1}},
    {"heads_permuted", 0, {0, 0, 0}},
    {"pairing_swapped", 1, {1, 1, 1}},
}};

const Scheme kScheme = ParseScheme("rope", {"head_dim=128", "base=500000"});

// The plan of the gate, with an eighth of its positions: what falls away is no special one.
CheckPlan GatePlan() { return {.positions = PlanPositions(256, 131071, LengthsOf(kScheme), 1)}; }

KernelInfo Rotate(std::string_view prefix, Dtype dtype, std::string_view contract = "") {
  KernelInfo info = FaultyKernel(fmt::format("{}.rotate.{}", prefix, Name(dtype)));
  if (!contract.empty()) info.contract = Contract::Parse(PresetLine(contract, dtype), dtype);
  return info;
}

// The honest kernel of each dtype, then the mutants in the order of the table, under a preset or
// what they declare.
std::vector<KernelCheck> CheckAll(std::string_view contract = "") {
  std::vector<Subject> subjects;
  for (const Dtype dtype : kDtypes) {
    subjects.emplace_back(Rotate("honest", dtype, contract), kScheme);
  }
  for (const Mutant& mutant : kMutants) {
    for (const Dtype dtype : kDtypes) {
      subjects.emplace_back(Rotate(fmt::format("faulty.{}", mutant.fault), dtype, contract),
                            kScheme);
    }
  }
  return CheckKernels(subjects, GatePlan());
}

void ExpectHonestPasses(const std::vector<KernelCheck>& checks, size_t positions) {
  for (size_t d = 0; d < kDtypes.size(); ++d) {
    EXPECT_EQ(checks[d].keeps_contract.outcome, Outcome::pass) << Name(kDtypes[d]);
    EXPECT_EQ(checks[d].keeps_contract.use.count(), positions * 4 * 128) << Name(kDtypes[d]);
    EXPECT_EQ(checks[d].blind, 0u);
  }
}

TEST(mutants, EachFailsItsContractInEveryDtypeSlow) {
  const std::vector<KernelCheck> checks = CheckAll();
  ExpectHonestPasses(checks, 256);
  std::string table =
      fmt::format("{:32}{:>10}{:>10}{:>10}\n", "first found at", "f32", "f16", "bf16");
  for (size_t m = 0; m < kMutants.size(); ++m) {
    const Mutant& mutant = kMutants[m];
    table += fmt::format("{:3} {:28}", m + 1, mutant.fault);
    for (size_t d = 0; d < kDtypes.size(); ++d) {
      const Verdict& verdict = checks[(m + 1) * kDtypes.size() + d].keeps_contract;
      ASSERT_EQ(verdict.outcome, Outcome::fail) << verdict.subject;
      ASSERT_TRUE(verdict.first_failure.has_value()) << verdict.subject;
      const double first = verdict.first_failure->position;
      EXPECT_GE(first, mutant.differs_from) << verdict.subject;
      EXPECT_LE(first, mutant.found_by[d]) << verdict.subject;
      table += fmt::format("{:10}", first);
    }
    table += '\n';
  }
  std::cout << table;
}

// An f32 angle may be off by 4 u p w, a twelfth of what the smallest of the mutants is off by; the
// others are off by as much or at once. All are found.
TEST(mutants, EachFailsUnderAnF32AngleTooSlow) {
  const std::vector<KernelCheck> checks = CheckAll("f32");
  ExpectHonestPasses(checks, 256);
  for (size_t i = kDtypes.size(); i < checks.size(); ++i) {
    EXPECT_EQ(checks[i].keeps_contract.outcome, Outcome::fail) << checks[i].keeps_contract.subject;
  }
}

// Where cos, sin and products may be rounded to the vectors' dtype, as in transformers' eager
// models, a mutant that does no more than that is no mutant: the bound holds for it, and the check
// must pass. All others are found: such a contract allows r (2 u_o + 4 u p w) and half a spacing,
// 0.012 r in bf16 beside the angle's, and the slowest pair alone is off by 0.32 r at the last
// position.
TEST(mutants, WhatAContractAllowsPassesAndAllElseFailsSlow) {
  const std::set<std::pair<std::string_view, Dtype>> allowed =
      {
          {"table_bf16", Dtype::bf16},
          {"table_f16", Dtype::bf16},  // more accurate than a bf16 table: 2^-11 and 2^-25 of 2^-8
          {"arithmetic_bf16", Dtype::bf16},
          {"table_f16", Dtype::f16},
          {"arithmetic_f16", Dtype::f16},
      };
  const std::vector<KernelCheck> checks = CheckAll("hf-eager");
  ExpectHonestPasses(checks, 256);
  for (size_t m = 0; m < kMutants.size(); ++m) {
    for (size_t d = 0; d < kDtypes.size(); ++d) {
      const Verdict& verdict = checks[(m + 1) * kDtypes.size() + d].keeps_contract;
      const bool passes = allowed.contains({kMutants[m].fault, kDtypes[d]});
      EXPECT_EQ(verdict.outcome, passes ? Outcome::pass : Outcome::fail)
          << verdict.subject << " use " << verdict.use.max();
    }
  }
}

}  // namespace
}  // namespace posgauge
