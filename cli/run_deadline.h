#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "posgauge/verify/verdict.h"

namespace posgauge::cli {

/// When a run is to end: a check that was begun goes on, one that was not is left out and says so.
/// Without a limit it never ends.
class RunDeadline {
 public:
  explicit RunDeadline(std::optional<double> seconds = {}) : seconds_(seconds) {}

  bool IsOver() const {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
    return seconds_ && elapsed.count() >= *seconds_;
  }

  /// The verdict of a check that is left out.
  Verdict NotRun(std::string_view check, std::string_view claim, const std::string& subject) const {
    Verdict verdict{.check = std::string(check), .claim = std::string(claim), .subject = subject};
    verdict.outcome = Outcome::not_run;
    verdict.note = fmt::format("--run-time-limit {:g} was over", seconds_.value_or(0));
    return verdict;
  }

 private:
  std::optional<double> seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace posgauge::cli
