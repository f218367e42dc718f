#include "posgauge/cli/coverage.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace posgauge::cli {

namespace {
constexpr std::array<std::string_view, 6> kWaivable = {"frequency",  "table", "slopes",
                                                       "thresholds", "range", "layers"};

// The quantity of a kernel that covers a stage.
std::string_view YieldedBy(std::string_view stage) {
  return stage == "frequency" ? "frequencies" : stage == "thresholds" ? "buckets" : stage;
}
}  // namespace

Coverage::Coverage(const std::string& waive) {
  if (waive.empty()) return;
  for (const std::string& word : CLI::detail::split(waive, ',')) {
    Require(std::ranges::find(kWaivable, word) != kWaivable.end(),
            "--waive must be of {}, separated by commas, got {}", fmt::join(kWaivable, ", "),
            Shown(word));
    waive_.insert(word);
  }
}

void Coverage::Miss(const std::string& word, const std::string& what, const std::string& remedy) {
  const bool is_waived = waive_.contains(word);
  std::vector<std::string>& list = is_waived ? waived_ : missing_;
  std::string line = is_waived ? what : fmt::format("{}; {}", what, remedy);
  if (std::ranges::find(list, line) == list.end()) list.push_back(std::move(line));
}

void Coverage::AddNotRun(int64_t checks) {
  if (checks == 0) return;
  missing_.push_back(
      fmt::format("{} checks that were not run; allow more by --run-time-limit", checks));
}

void Coverage::Add(const LayerGroup& group, const std::vector<KernelResult>& results,
                   bool adequate_is_required) {
  const auto is_shown = [&](std::string_view quantity) {
    return std::ranges::any_of(results, [&](const KernelResult& result) {
      return result.info->quantity == quantity && result.Shortfall(adequate_is_required) == nullptr;
    });
  };
  if (results.empty()) {
    Miss("layers", fmt::format("layers {}: no kernel serves {}", group.kind, Name(group.scheme)),
         "gate a kernel that does, choose others with --layer-kind, or --waive layers");
  }
  for (const KernelResult& result : results) {
    const KernelCheck& check = result.check;
    if (const Verdict* verdict = result.Shortfall(adequate_is_required)) {
      missing_.push_back(fmt::format("{} ({}): {} {}{}{}", result.info->name, group.kind,
                                     verdict->check, VariantName(verdict->outcome),
                                     verdict->note.empty() ? "" : ", ", verdict->note));
    } else if (check.served < check.planned) {
      Miss("range",
           fmt::format("{} ({}) beyond position {:g}, {} of {} positions", result.info->name,
                       group.kind, result.info->kernel->largest_position,
                       check.planned - check.served, check.planned),
           "--max-position to ask for less, or --waive range");
    }
    for (const std::string& stage : result.not_covered) {
      if (is_shown(YieldedBy(stage))) continue;
      Miss(stage, fmt::format("{} ({})", stage, group.kind),
           fmt::format("gate a kernel that yields it, or --waive {}", stage));
    }
  }
}

}  // namespace posgauge::cli
