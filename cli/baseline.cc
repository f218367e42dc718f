#include "posgauge/cli/baseline.h"

#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "posgauge/cli/check_options.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/schemes/base/section.h"
#include "posgauge/verify/atomic_file.h"

namespace posgauge::cli {

namespace {

// Uses are the same numbers in every run on one machine; another one's vectors add up in another
// order. An eighth of an octave, the width of the bins of Statistics, is left to that.
constexpr double kMore = 1.0905077326652577;  // 2^(1/8)
constexpr double kLess = 0.5;

std::string Told(const std::string& check, double was, double now) {
  return fmt::format("{} {:.3g} -> {:.3g}", check, was, now);
}

}  // namespace

void BaselineOptions::AddTo(CLI::App& command) {
  CLI::Option* given =
      command
          .add_option("--baseline", file,
                      "file of what every check uses of its limit: recorded if it is not there, "
                      "else a check that uses more of it than recorded fails")
          ->check(NotEmpty());
  command.add_flag("--update-baseline", update, "record it anew after comparing")->needs(given);
}

Baseline::Baseline(const BaselineOptions& options, const std::string& plan)
    : options_(options), plan_(plan) {
  if (options.file.empty() || !std::filesystem::exists(options.file)) return;
  const nlohmann::json json = ReadJson(options.file);
  const std::string& file = options.file;
  const auto malformed = [&](std::string_view what) {
    return FormatError(fmt::format("{}: {}: delete it to record it anew", file, what));
  };
  if (!json.is_object() || json.value("posgauge_baseline", nlohmann::json()) != 1 ||
      !json.contains("plan") || !json["plan"].is_string() || !json.contains("uses") ||
      !json["uses"].is_object()) {
    throw malformed("no baseline of version 1");
  }
  if (json["plan"] != plan) {
    throw FormatError(fmt::format("{}: recorded for {}, this gate is of {}", file,
                                  json["plan"].get<std::string>(), plan));
  }
  if (json["uses"].empty()) throw malformed("records nothing");
  recorded_.emplace();
  for (const auto& [kernel, checks] : json["uses"].items()) {
    if (!checks.is_object()) throw malformed(fmt::format("{} is no object", Shown(kernel)));
    for (const auto& [check, use] : checks.items()) {
      if (!use.is_number() || !(use.get<double>() >= 0)) {
        throw malformed(
            fmt::format("{} of {} is no number at or above 0", Shown(check), Shown(kernel)));
      }
      (*recorded_)[kernel][check] = use.get<double>();
    }
  }
}

void Baseline::Add(const std::string& layers, const Verdict& verdict) {
  if (options_.file.empty() || verdict.outcome != Outcome::pass || verdict.use.count() == 0) return;
  uses_[verdict.subject][fmt::format("{}: {}", layers, verdict.check)] = verdict.use.max();
}

void Baseline::Compare(Report& report) {
  if (!recorded_) return;
  size_t compared = 0, failed = 0;
  std::vector<std::string> slack;
  for (const auto& [kernel, checks] : *recorded_) {
    Verdict verdict{.check = "baseline",
                    .claim = "no check uses more of its limit than was recorded, or is missing",
                    .subject = kernel};
    std::vector<std::string> worse;
    const auto checked = uses_.find(kernel);
    const std::map<std::string, double> now =
        checked == uses_.end() ? std::map<std::string, double>() : checked->second;
    for (const auto& [check, was] : checks) {
      const auto at = now.find(check);
      if (at == now.end()) {
        worse.push_back(fmt::format("{} did not pass, or was not run", check));
        continue;
      }
      const double use = at->second;
      if (use > was * kMore) worse.push_back(Told(check, was, use));
      if (use < was * kLess) slack.push_back(fmt::format("{} {}", kernel, Told(check, was, use)));
      verdict.use.Add(was > 0 ? use / (was * kMore) : use > 0 ? HUGE_VAL : 0, compared++);
    }
    if (!worse.empty()) {
      ++failed;
      verdict.outcome = Outcome::fail;
      verdict.note = fmt::format("{}", fmt::join(worse, "; "));
    }
    report.verdicts.push_back(std::move(verdict));
  }
  size_t now = 0;
  for (const auto& [kernel, checks] : uses_) now += checks.size();
  lines_.push_back(
      fmt::format("baseline: {} checks of {} kernels compared with {}; of {} kernels some use more "
                  "or are missing",
                  compared, recorded_->size(), options_.file, failed));
  if (now > compared) {
    lines_.push_back(fmt::format(
        "baseline: {} checks of this gate are not recorded; --update-baseline records them",
        now - compared));
  }
  if (!slack.empty()) {
    lines_.push_back(
        fmt::format("baseline: {} checks use less than half of what is recorded (the first: {}); "
                    "--update-baseline holds them to that",
                    slack.size(), slack.front()));
  }
}

void Baseline::Conclude(bool holds, Report& report) const {
  if (options_.file.empty()) return;
  report.conclusion.insert(report.conclusion.end(), lines_.begin(), lines_.end());
  if (recorded_ && !options_.update) return;
  if (!holds) {
    report.conclusion.push_back("baseline: not recorded of a gate that does not hold");
    return;
  }
  const nlohmann::ordered_json json = {{"posgauge_baseline", 1}, {"plan", plan_}, {"uses", uses_}};
  WriteFileAtomically(options_.file, json.dump(1) + "\n");
  report.conclusion.push_back(fmt::format("baseline: recorded in {}", options_.file));
}

}  // namespace posgauge::cli
