#pragma once

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "law_checks.h"
#include "posgauge/verify/check.h"

namespace posgauge {

inline std::string FirstOf(const Scheme& scheme, const Verdict& verdict) {
  return Text(scheme) + "\n" + Line(verdict);
}

/// Every honest and fast kernel of the scheme keeps its contract at these positions.
inline void ExpectContractsKept(const Scheme& scheme, const std::vector<double>& positions) {
  std::vector<Subject> subjects;
  for (const std::string& name : GoodKernels()) {
    const KernelInfo info = AnyKernel(name);
    if (info.Serves(scheme)) subjects.emplace_back(info, scheme);
  }
  // Scores and attention in four dtypes, honest and fast.
  ASSERT_EQ(subjects.size(), 16u) << Text(scheme);
  for (const KernelCheck& check : CheckKernels(subjects, {.positions = positions})) {
    EXPECT_EQ(check.keeps_contract.outcome, Outcome::pass) << FirstOf(scheme, check.keeps_contract);
    EXPECT_GT(check.keeps_contract.use.count(), 0u);
    EXPECT_EQ(check.blind, 0u) << FirstOf(scheme, check.keeps_contract);
  }
}

/// A faulty kernel breaks its contract in every dtype.
inline void ExpectContractBroken(const Scheme& scheme, const std::string& fault,
                                 const std::string& quantity,
                                 const std::vector<double>& positions) {
  for (const char* dtype : {"f64", "f32", "bf16", "f16"}) {
    const KernelInfo info = FaultyKernel(fmt::format("faulty.{}.{}.{}", fault, quantity, dtype));
    const Verdict verdict =
        CheckKernels({Subject(info, scheme)}, {.positions = positions})[0].keeps_contract;
    EXPECT_EQ(verdict.outcome, Outcome::fail) << FirstOf(scheme, verdict);
  }
}

}  // namespace posgauge
