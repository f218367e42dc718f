#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "law_checks.h"
#include "posgauge/fast/simd.h"
#include "posgauge/verify/check.h"

namespace posgauge {

/// Where schemes without an end are checked.
inline const std::vector<double> kBiasPositions = {0, 1, 2, 255, 257, 4095, 131071, 16777217};

/// Every good kernel that serves the scheme keeps its contract, and none of them is vague; there
/// are `least` or more.
inline void ExpectContractsKept(const Scheme& scheme, size_t least,
                                const std::vector<double>& positions = kBiasPositions) {
  std::vector<Subject> subjects;
  for (const std::string& name : GoodKernels()) {
    const KernelInfo info = AnyKernel(name);
    if (info.Serves(scheme)) subjects.emplace_back(info, scheme);
  }
  EXPECT_GE(subjects.size(), least);
  const CheckPlan plan{.positions = positions};
  const std::vector<KernelCheck> checks = CheckKernels(subjects, plan);
  for (size_t i = 0; i < subjects.size(); ++i) {
    EXPECT_EQ(checks[i].keeps_contract.outcome, Outcome::pass) << Text(scheme) << "\n"
                                                               << Line(checks[i].keeps_contract);
    EXPECT_GT(checks[i].keeps_contract.use.count(), 0U);
  }
}

/// Our biases are within two spacings of their dtypes.
inline void ExpectAdequateBiases(const Scheme& scheme, const std::vector<std::string>& dtypes,
                                 const std::vector<double>& positions = kBiasPositions) {
  for (const std::string& dtype : dtypes) {
    const KernelInfo info = AnyKernel(fmt::format("fast.bias.{}.{}", Name(scheme), dtype));
    const KernelCheck check = CheckKernels({Subject(info, scheme)}, {.positions = positions})[0];
    ASSERT_TRUE(check.adequate.has_value());
    EXPECT_EQ(check.adequate->outcome, Outcome::pass) << Text(scheme) << "\n"
                                                      << Line(*check.adequate);
  }
}

/// Our biases keep their contracts on every instruction set of this machine.
inline void ExpectContractsKeptOnEveryTarget(const Scheme& scheme,
                                             const std::vector<double>& positions = {
                                                 0, 1, 255, 4095, 131071}) {
  for (const std::string& target : fast::Targets()) {
    fast::UseTarget(target);
    for (const char* dtype : {"f64", "f32", "bf16"}) {
      const KernelInfo info = AnyKernel(fmt::format("fast.bias.{}.{}", Name(scheme), dtype));
      const Verdict verdict =
          CheckKernels({Subject(info, scheme)}, {.positions = positions})[0].keeps_contract;
      EXPECT_EQ(verdict.outcome, Outcome::pass) << target << " " << Line(verdict);
    }
  }
  fast::UseTarget("");
}

/// Kernels with a fault of this scheme alone break their contracts: all of those named.
inline void ExpectFaultsBreakContracts(const Scheme& scheme, const std::vector<std::string>& faults,
                                       const std::vector<double>& positions) {
  for (const std::string& fault : faults) {
    size_t count = 0;
    for (const posgauge_kernel& kernel : FaultyKernels()) {
      const KernelInfo info(kernel);
      if (!info.name.starts_with("faulty." + fault + ".") || !info.Serves(scheme)) continue;
      ++count;
      const Verdict verdict =
          CheckKernels({Subject(info, scheme)}, {.positions = positions})[0].keeps_contract;
      EXPECT_EQ(verdict.outcome, Outcome::fail) << Text(scheme) << "\n" << Line(verdict);
    }
    EXPECT_GT(count, 0U) << fault;
  }
}

}  // namespace posgauge
