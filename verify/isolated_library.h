#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "posgauge/verify/child_process.h"
#include "posgauge/verify/child_protocol.h"
#include "posgauge/verify/kernel.h"
#include "posgauge/verify/shared_memory.h"
#include "posgauge/verify/verdict.h"

namespace posgauge {

/// How kernels run in a process of their own.
struct Isolation {
  std::filesystem::path host;  // the program posgauge-kernel-host
  double time_limit = 60;      // seconds that a call, or loading, may take
  uint64_t memory_limit = 0;   // bytes that the process may hold; 0: no limit
};

/// A kernel library in a process of its own, which is begun again after a fault. For one thread at
/// a time.
class IsolatedLibrary {
 public:
  /// Throws FileError when the library cannot be loaded, or its process ends or hangs meanwhile,
  /// FormatError when it is not one of kernels.
  IsolatedLibrary(const std::filesystem::path& library, const Isolation& isolation);

  /// Its descriptors. Their `run` answers POSGAUGE_FAILED: calls go through Run.
  const std::vector<posgauge_kernel>& descriptors() const { return descriptors_; }

  SharedMemory& memory() { return memory_; }

  /// How a call went: the kernel answered, or it failed, and how.
  struct Outcome {
    child::Answer answer;
    std::optional<Failure> failure;
    std::string what;             // "was ended by SIGSEGV"
    child::LastWords last_words;  // of a crash
  };
  /// One call; its tensors lie in memory(). Throws Unsupported for a kernel that hung or took too
  /// much memory before: it would again, at length.
  Outcome Run(child::Call call);

 private:
  void Begin();
  Outcome Ended();
  std::string Quote();

  std::filesystem::path path_;
  Isolation isolation_;
  SharedMemory memory_;
  std::unique_ptr<ChildProcess> process_;
  uint64_t calls_ = 0;
  std::deque<std::string> texts_;  // of the descriptors
  std::vector<posgauge_kernel> descriptors_;
  std::map<uint32_t, std::string> given_up_;  // kernels that are not called again, and why
};

}  // namespace posgauge
