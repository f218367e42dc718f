#pragma once

#include <CLI/CLI.hpp>

namespace posgauge::cli {

/// Exit codes; an Error thrown by a command is kUsage.
enum ExitCode : int {
  kHolds = 0,        // every check passed
  kViolated = 1,     // a check failed
  kUsage = 2,        // bad usage, unreadable input, output that cannot be written
  kKernelDied = 3,   // a kernel or a command crashed, hung, ended or broke memory
  kNothingDone = 4,  // nothing was executed: a gate that checked nothing never passes
};

/// Each adds one subcommand to `program`; when it is chosen, its callback stores the exit code.
void AddSchemes(CLI::App& program, int& exit_code);
void AddDescribe(CLI::App& program, int& exit_code);
void AddDialects(CLI::App& program, int& exit_code);
void AddGolden(CLI::App& program, int& exit_code);
void AddGate(CLI::App& program, int& exit_code);
void AddAudit(CLI::App& program, int& exit_code);
void AddCompare(CLI::App& program, int& exit_code);
void AddRepro(CLI::App& program, int& exit_code);
void AddTable(CLI::App& program, int& exit_code);
void AddContract(CLI::App& program, int& exit_code);
void AddMutants(CLI::App& program, int& exit_code);
void AddFaults(CLI::App& program, int& exit_code);
void AddIdentify(CLI::App& program, int& exit_code);

}  // namespace posgauge::cli
