#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace posgauge {

/// A process of its own, begun by exec, that has a socket to this one, one file more, no standard
/// input, and standard output that nobody reads. It ends with this object.
class ChildProcess {
 public:
  /// Throws FileError when the program cannot be run. `file` becomes child::kMemory.
  ChildProcess(const std::filesystem::path& program, const std::vector<std::string>& arguments,
               int file);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// One packet; lost if the process has ended.
  void Send(std::string_view packet) const;

  /// The next packet, or why there is none.
  enum class Event { packet, ended, late, too_large };
  struct Received {
    Event event;
    std::string packet;
  };
  /// Waits until `seconds` are over, or the process holds more than memory_limit bytes that it does
  /// not share (0: no limit).
  Received Receive(double seconds, uint64_t memory_limit);

  /// Ends the process if it still runs. How it ended, as of waitpid.
  int End();

  /// The last line that it wrote to standard error; empty if there is none.
  std::string LastLine();

 private:
  void ReadErrors();
  bool TakePacket(std::string& packet);
  uint64_t ResidentBytes() const;

  pid_t id_ = -1;
  int socket_ = -1, errors_ = -1, watch_ = -1;  // watch_ becomes readable when the process ends
  bool is_connected_ = true, errors_are_open_ = true, has_ended_ = false;
  int status_ = 0;
  std::string tail_;  // of standard error
};

}  // namespace posgauge
