#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "posgauge/verify/report.h"

namespace posgauge::cli {

/// --baseline and --update-baseline.
struct BaselineOptions {
  std::string file;
  bool update = false;

  void AddTo(CLI::App& command);
};

/// What every check of a gate used of its limit when a baseline was recorded, against what it uses
/// now: a kernel may keep its contract and still have become worse.
class Baseline {
 public:
  /// `plan` says what both runs must have in common: positions, heads, seed. Reads the file if it
  /// is there. Throws FileError, and FormatError of a file that is no baseline or of another plan.
  Baseline(const BaselineOptions& options, const std::string& plan);

  /// One check of this run.
  void Add(const std::string& layers, const Verdict& verdict);

  /// Adds a verdict for every kernel that was recorded.
  void Compare(Report& report);

  /// Says what came of it; records a gate that `holds` otherwise where there is no file yet, or
  /// where an update is asked for. Throws FileError.
  void Conclude(bool holds, Report& report) const;

 private:
  using Uses = std::map<std::string, std::map<std::string, double>>;  // by kernel, by check

  BaselineOptions options_;
  std::string plan_;
  std::optional<Uses> recorded_;
  Uses uses_;
  std::vector<std::string> lines_;  // of the comparison
};

}  // namespace posgauge::cli
