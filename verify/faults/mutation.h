#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "posgauge/verify/check.h"
#include "posgauge/verify/customs.h"
#include "posgauge/verify/faults/fault.h"

namespace posgauge {

/// A test as people write it: positions, and a rule by which results are compared with a perfect
/// reference.
struct UsualTest {
  std::vector<double> positions;  // tokens
  Custom rule;                    // one of CustomsOf the kernel's dtype
  bool table_is_shared = false;   // both sides take one cos/sin table, which is then not tested
};

/// What became of one fault.
struct Mutant {
  const Fault* fault;
  /// Smallest position of the plan at which its effect exceeds twice the contract's bound; absent
  /// where it never does: then it does not count.
  std::optional<double> counts_from;
  /// Smallest position at which the contract's check fails it, absent where it lets it through.
  std::optional<double> killed_from;
  bool killed_by_test = false;
  /// Of one that a test lets through the smallest change of it that would not.
  std::string remedy;
};

/// Replays every fault of the bank that has an effect on what the kernel computes, in place of the
/// kernel's answers and of what it is handed, over the plan, and holds it to the kernel's contract
/// and to the test. The kernel itself is taken to be honest. Throws Unsupported and KernelFailure.
std::vector<Mutant> RunMutants(const Subject& honest, const CheckPlan& plan, const UsualTest& test);

}  // namespace posgauge
