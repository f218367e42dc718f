#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "posgauge/cli/case_judgement.h"
#include "posgauge/schemes/model/config.h"
#include "posgauge/verify/check.h"
#include "posgauge/verify/report.h"

namespace posgauge::cli {

/// --command: kernels in any language, behind a command that reads a folder of cases and writes a
/// folder of results. Its kernels are named QUANTITY.DTYPE.
struct CommandOptions {
  std::string line;  // of the shell; empty where there is none

  void AddTo(CLI::App& command);
};

/// What is asked of a command.
struct CommandGate {
  CommandOptions command;
  double time_limit;                 // seconds for all cases
  std::vector<std::string> kernels;  // names, * for any run of characters; every one if none
  CaseTerms terms;
  bool adequate_is_required = false;
  std::string dump, format;  // where cases and results stay, if not empty; of the cases
};

/// Plans of a model's layers.
struct PlannedGroup {
  const LayerGroup* group;
  CheckPlan plan;
};

/// Writes every case of every group (DumpCases has the same) into one folder, runs the command once
/// with that folder and one for results, and holds each result to its case as `compare` does: a
/// case NAME.case.FORMAT is answered by NAME.safetensors, NAME.npz or NAME.npy. What is missing or
/// malformed fails. Of a command that fails, crashes or takes too long the exit code is
/// kKernelDied, after its results have been judged. `report` has the target and the facts of the
/// model. Throws ParameterError and FileError.
void GateCommand(const CommandGate& asked, const std::vector<PlannedGroup>& groups, Report& report);

}  // namespace posgauge::cli
