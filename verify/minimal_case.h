#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "posgauge/verify/judged_case.h"

namespace posgauge {

/// What a search for a minimal case may cost.
struct SearchLimits {
  int64_t calls = 3000;  // judged calls of the kernel
  double seconds = 20;   // checked between calls
};

/// Which of the two verdicts must still fail.
struct JudgedBy {
  bool budget = false;  // adequate; otherwise the contract
  double spacings = 2;
};

/// The smallest case that was found to fail in the same way: values over the same limit, or the
/// same Failure.
struct MinimalCase {
  CaseFile asked;
  std::optional<Failure> failure;  // nothing where values are over the limit
  std::vector<Named> answer;       // what the kernel yielded, where it did
  std::optional<Witness> witness;  // the first value over the limit
  std::string text;                // the case in a line
  std::vector<std::string> matters, does_not_matter;
  int64_t calls = 0;     // judged calls that it took
  bool complete = true;  // false where a limit ended the search
};

/// Greedy delta debugging, whose every step must fail again in the same way when the real kernel is
/// called and judged: fewer tokens; smaller positions; fewer heads; default parameters; smaller
/// widths; zeros, ones and powers of two in place of other values. A number is bisected between
/// what holds and what fails, from small ones up, so that it is the smallest wherever failures have
/// no gaps. Deterministic unless the seconds end it. Nothing where `failing` does not fail.
std::optional<MinimalCase> Minimize(const KernelInfo& info, const CaseFile& failing,
                                    const JudgedBy& judged_by, const SearchLimits& limits);

/// The smallest of lowest, lowest + step, ... up to `current` that was found to fail: small numbers
/// first, then powers of two, then bisection between the last that holds and the first that fails.
/// `current` fails.
int64_t SmallestFailing(int64_t lowest, int64_t step, int64_t current,
                        const std::function<bool(int64_t)>& fails);

}  // namespace posgauge
