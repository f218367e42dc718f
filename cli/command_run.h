#pragma once

#include <filesystem>
#include <string>

namespace posgauge::cli {

/// How a command ended.
struct CommandEnd {
  enum class How { exited, signalled, timed_out, interrupted };
  How how = How::exited;
  int number = 0;  // the exit code; the signal that ended it, or that interrupted posgauge

  bool Succeeded() const { return how == How::exited && number == 0; }
  std::string Text() const;  // "exited with 3"
};

/// Runs a line of the shell (POSIX sh) with two arguments appended, in a process group of its own,
/// its standard input empty and its standard output going to standard error; at most `time_limit`
/// seconds. Whatever is left of the group afterwards is killed. SIGINT and SIGTERM end it too.
/// Throws FileError where no process can be started.
CommandEnd RunCommand(const std::string& line, const std::filesystem::path& first,
                      const std::filesystem::path& second, double time_limit);

}  // namespace posgauge::cli
