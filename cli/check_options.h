#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "posgauge/schemes/model/config.h"
#include "posgauge/verify/report.h"

namespace posgauge::cli {

/// Checks of an option's text, for CLI11: a whole number in 0..2^64-1; anything but nothing.
CLI::Validator WholeNumber();
CLI::Validator NotEmpty();

/// The options that say which positions and inputs a command plans. Resolve in the callback.
struct PlanOptions {
  int64_t positions;  // --positions: how many
  std::optional<int64_t> max_position;
  int64_t heads = 4;
  uint64_t seed = 1;

  void AddTo(CLI::App& command);

  /// Throws ParameterError.
  void Validate() const;

  /// In tokens: --max-position, else the last position of the group, of the config, or 131071; of a
  /// scheme whose positions end at most its last. Throws ParameterError for a --max-position beyond
  /// that where the model has no other group.
  int64_t Largest(const ModelConfig& model, const LayerGroup& group) const;
};

/// --budget: spacings of the dtype that count as adequate.
struct BudgetOption {
  double spacings = 2;

  void AddTo(CLI::App& command);
  void Validate() const;  // throws ParameterError
};

/// --require: which verdict decides the exit code.
struct RequireOption {
  std::string word = "contract";

  void AddTo(CLI::App& command);
  void Validate() const;  // throws ParameterError
  bool Adequate() const { return word == "adequate"; }
};

/// --json, --junit and --summary: how a report is given.
struct ReportOptions {
  bool as_json = false;
  std::string junit, summary;

  void AddTo(CLI::App& command);

  /// Writes the files that are asked for; a summary is added to what its file holds. Throws
  /// FileError.
  void WriteFiles(const Report& report) const;

  /// WriteFiles, then the report as text or JSON to stdout; returns its exit code.
  int Print(const Report& report) const;
};

}  // namespace posgauge::cli
