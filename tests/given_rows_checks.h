#pragma once

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "faulty_kernels.h"
#include "law_checks.h"
#include "posgauge/verify/check.h"

namespace posgauge {

/// Every position of the scheme, or the first few where it has no end.
inline CheckPlan EveryPosition(const Scheme& scheme) {
  CheckPlan plan;
  for (int64_t p = 0; p < PositionCount(scheme).value_or(30); ++p) {
    plan.positions.push_back(static_cast<double>(p));
  }
  return plan;
}

/// Our kernels and the honest ones, in every dtype, at every position: they keep their contracts
/// and all laws, and no check is blind.
inline void ExpectGoodKernels(const Scheme& scheme) {
  SCOPED_TRACE(Text(scheme));
  std::vector<Subject> subjects;
  for (const std::string& name : GoodKernels()) {
    const KernelInfo info = AnyKernel(name);
    if (info.Serves(scheme)) subjects.emplace_back(info, scheme);
  }
  ASSERT_EQ(subjects.size(), 2u * 2u * 4u);  // rows and sums of both libraries in four dtypes
  const CheckPlan plan = EveryPosition(scheme);
  const std::vector<KernelCheck> checks = CheckKernels(subjects, plan);
  for (size_t i = 0; i < subjects.size(); ++i) {
    EXPECT_EQ(checks[i].keeps_contract.outcome, Outcome::pass) << Line(checks[i].keeps_contract);
    EXPECT_EQ(checks[i].keeps_contract.use.count(),
              plan.positions.size() * static_cast<size_t>(WidthOf(scheme)));
    // Honest kernels form angles in f64, which far from the origin is not enough for f64; and sums
    // of sixteen products with rounded weights may be off by more than two spacings.
    const bool sums = std::holds_alternative<resampled::Params>(scheme);
    if (subjects[i].info().name.starts_with("fast.") && !sums) {
      EXPECT_EQ(checks[i].adequate->outcome, Outcome::pass) << Line(*checks[i].adequate);
    }
    EXPECT_EQ(checks[i].blind, 0u);
    for (const Verdict& verdict : CheckStandardLaws(subjects[i], {.cases = 2})) {
      EXPECT_NE(verdict.outcome, Outcome::fail) << Line(verdict);
      EXPECT_NE(verdict.outcome, Outcome::blind) << Line(verdict);
    }
  }
}

/// The named fault is found, in every quantity and dtype that the laws named are of, by each of
/// these laws, and by the contract where that is among the words.
inline void ExpectFound(const Scheme& scheme,
                        const std::vector<std::pair<std::string, std::string>>& faults) {
  SCOPED_TRACE(Text(scheme));
  for (const auto& [fault, checks] : faults) {
    std::istringstream words(checks);
    for (std::string word; words >> word;) {
      size_t tried = 0;
      for (const posgauge_kernel& kernel : FaultyKernels()) {
        const KernelInfo info(kernel);
        if (!info.name.starts_with(fmt::format("faulty.{}.given_", fault))) continue;
        ASSERT_TRUE(info.Serves(scheme)) << info.name;
        const Subject subject(info, scheme);
        if (word == "contract") {
          const Verdict verdict = CheckKernels({subject}, EveryPosition(scheme))[0].keeps_contract;
          EXPECT_EQ(verdict.outcome, Outcome::fail) << Line(verdict);
        } else {
          const Law law = FindLaw(scheme, word).value();
          if (!AppliesTo(law, info.quantity)) continue;
          const Verdict verdict = CheckStandardLaw(word, subject, {.cases = 8});
          EXPECT_EQ(verdict.outcome, Outcome::fail) << Line(verdict);
        }
        ++tried;
      }
      EXPECT_GE(tried, 4u) << fault << " " << word;
    }
  }
}

}  // namespace posgauge
