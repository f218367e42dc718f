#include "posgauge/cli/conclusion.h"

#include <algorithm>

#include <fmt/format.h>

#include "posgauge/cli/command.h"

namespace posgauge::cli {

namespace {

auto Count(const Report& report, Outcome outcome) {
  return std::ranges::count(report.verdicts, outcome, &Verdict::outcome);
}

}  // namespace

int ExitCodeOf(const Report& report, bool covered) {
  if (std::ranges::any_of(report.verdicts, &Died)) return kKernelDied;
  if (Count(report, Outcome::fail) > 0) return kViolated;
  if (Count(report, Outcome::pass) == 0 || Count(report, Outcome::blind) > 0) return kNothingDone;
  return covered ? kHolds : kViolated;
}

std::string Headline(const Report& report, uint64_t values, double seconds) {
  const auto failed = Count(report, Outcome::fail);
  const auto not_run = Count(report, Outcome::not_run);
  return fmt::format(
      "{}: {} checks passed, {} failed, {} unsupported, {} blind{}; {} values compared in {:.1f} s",
      report.exit_code == kHolds         ? "HOLDS"
      : report.exit_code == kNothingDone ? "NOTHING PROVEN"
      : failed > 0                       ? "DOES NOT HOLD"
                                         : "NOT COVERED",
      Count(report, Outcome::pass), failed, Count(report, Outcome::unsupported),
      Count(report, Outcome::blind), not_run == 0 ? "" : fmt::format(", {} not run", not_run),
      values, seconds);
}

}  // namespace posgauge::cli
