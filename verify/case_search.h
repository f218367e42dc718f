#pragma once

#include <chrono>
#include <optional>

#include "posgauge/verify/minimal_case.h"
#include "posgauge/verify/plain_case.h"

namespace posgauge {

/// The state of a search: the smallest case so far, and the check that a smaller one must fail in
/// the same way.
class CaseSearch {
 public:
  /// How a case ends; nothing where it holds or cannot be asked.
  struct End {
    std::optional<Failure> failure;
    std::vector<Named> answer;
    std::optional<Witness> witness;
  };

  /// `failing` must fail, or Failed() is false.
  CaseSearch(const KernelInfo& info, const CaseFile& failing, const JudgedBy& judged_by,
             const SearchLimits& limits);

  bool Failed() const { return failed_; }
  const KernelInfo& info() const { return info_; }
  const PlainCase& current() const { return current_; }
  const PlainCase& first() const { return first_; }
  const End& end() const { return end_; }  // of the current case
  int64_t calls() const { return calls_; }
  bool Ended() const { return ended_; }

  /// Whether a case fails as the first did. False for what cannot be asked, and once a limit is
  /// reached.
  bool Fails(const PlainCase& plain);

  /// Takes a case that fails so; whether it did.
  bool Try(const PlainCase& plain);

 private:
  std::optional<End> Ask(const PlainCase& plain);

  KernelInfo info_;
  JudgedBy judged_by_;
  SearchLimits limits_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  PlainCase first_, current_;
  End end_;
  bool failed_ = false;
  std::optional<Subject> subject_;  // of the last scheme that was asked
  int64_t calls_ = 0;
  bool ended_ = false;
};

/// What of the smallest case could be otherwise, found by trying it.
void SayWhatMatters(CaseSearch& search, MinimalCase& minimal);

}  // namespace posgauge
