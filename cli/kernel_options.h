#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "posgauge/verify/subject.h"

namespace posgauge::cli {

/// The options that say which kernels a command puts to the test.
struct KernelOptions {
  std::vector<std::string> libraries;  // --library; posgauge's own fast kernels if none
  std::vector<std::string> kernels;    // --kernel: names, * for any run of characters; all if none
  std::string contract;                // --contract: instead of what the kernels declare
  bool in_process = false;             // --in-process: libraries run here, where debuggers see them
  std::optional<double> time_limit;    // --time-limit: seconds of a call, or of a command
  std::optional<int64_t> memory_limit;  // --memory-limit: MiB that a library's process may hold

  void AddTo(CLI::App& command);

  void Validate() const;  // throws ParameterError

  /// Throws FileError and FormatError of a library or a contract's file, and ParameterError when a
  /// --kernel matches none or the contract is none.
  std::vector<KernelInfo> Resolve() const;

  /// What another command must be told to run the same kernels in the same way: " --library a.so".
  std::string CommandText() const;
};

/// Has a kernel declare the arithmetic of a contract line instead; one that is not of floating
/// point (buckets) has none. Throws ParameterError where the line stores another dtype.
void HoldTo(const std::string& line, KernelInfo& info);

/// The word as a POSIX shell reads it back: in single quotes where a character of it means anything
/// there.
std::string ShellWord(const std::string& word);

/// Whether `name` matches `pattern`, in which * stands for any characters.
bool Matches(std::string_view pattern, std::string_view name);

}  // namespace posgauge::cli
