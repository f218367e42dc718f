#include "posgauge/cli/check_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "posgauge/verify/atomic_file.h"

namespace posgauge::cli {

CLI::Validator WholeNumber() {
  return {[](const std::string& text) {
            uint64_t value = 0;
            const char* end = text.data() + text.size();
            const auto [rest, error] = std::from_chars(text.data(), end, value);
            return error == std::errc() && rest == end
                       ? std::string()
                       : fmt::format("must be a whole number in 0..2^64-1, got {}", Shown(text));
          },
          "", "whole number"};
}

CLI::Validator NotEmpty() {
  return {[](const std::string& text) {
            return text.empty() ? std::string("must not be empty") : std::string();
          },
          "", "not empty"};
}

void PlanOptions::AddTo(CLI::App& command) {
  command.add_option("--positions", positions, "how many positions a check takes");
  command.add_option("--max-position", max_position,
                     "largest position, tokens; the config's maximum - 1 if not given");
  command.add_option("--heads", heads, "heads of input a position");
  command.add_option("--seed", seed, "seed of the inputs and of half of the positions")
      ->check(WholeNumber());
}

void PlanOptions::Validate() const {
  Require(heads >= 1 && heads <= 4096, "--heads must be in 1..4096, got {}", heads);
}

int64_t PlanOptions::Largest(const ModelConfig& model, const LayerGroup& group) const {
  const int64_t last = max_position.value_or(group.positions.value_or(model.Positions()) - 1);
  const std::optional<int64_t> count = PositionCount(group.scheme);
  if (!count) return last;
  Require(!max_position || *max_position < *count || model.groups.size() > 1,
          "--max-position must be at most {}, the last of {}, got {}", *count - 1,
          Name(group.scheme), last);
  return std::min(last, *count - 1);
}

void BudgetOption::AddTo(CLI::App& command) {
  command.add_option("--budget", spacings, "spacings of the dtype that count as adequate");
}

void BudgetOption::Validate() const {
  Require(std::isfinite(spacings) && spacings > 0,
          "--budget must be a finite number above 0, got {}", spacings);
}

void RequireOption::AddTo(CLI::App& command) {
  command.add_option("--require", word, "which verdict decides: contract or adequate");
}

void RequireOption::Validate() const {
  Require(word == "contract" || word == "adequate",
          "--require must be contract or adequate, got {}", Shown(word));
}

void ReportOptions::AddTo(CLI::App& command) {
  command.add_flag("--json", as_json, "JSON instead of text");
  command.add_option("--junit", junit, "also write a JUnit file")->check(NotEmpty());
  command
      .add_option("--summary", summary,
                  "also add a summary in Markdown to this file, such as \"$GITHUB_STEP_SUMMARY\"")
      ->check(NotEmpty());
}

void ReportOptions::WriteFiles(const Report& report) const {
  if (!junit.empty()) WriteFileAtomically(junit, ToJunit(report));
  if (summary.empty()) return;
  const bool exists = std::filesystem::exists(summary);
  const std::string before = exists ? ReadFile(summary, kLargestSummary) : "";
  WriteFileAtomically(summary, before + ToMarkdown(report, kLargestSummary - before.size()));
}

int ReportOptions::Print(const Report& report) const {
  WriteFiles(report);
  if (as_json) {
    fmt::print("{}\n", ToJson(report).dump(2));
  } else {
    fmt::print("{}", ToText(report));
  }
  return report.exit_code;
}

}  // namespace posgauge::cli
