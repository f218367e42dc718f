#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "posgauge/schemes/base/read_file.h"

namespace posgauge {

/// A regular file that appears at `path`, or replaces what is there, whole when Commit is called,
/// or not at all: a file without a name (a temporary one beside it where the file system knows none
/// such), fsync, rename. Until then, and after a FileError (with the system's reason), `path` is as
/// it was; nothing is left behind, by a process that is killed either.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Claims the room that the whole file needs, where the file system can say whether it has it.
  void Reserve(uint64_t size);

  /// Bytes at an offset from the start; what is never written reads as zeros.
  void WriteAt(uint64_t offset, std::string_view bytes);
  void Commit();

 private:
  std::filesystem::path path_, temporary_path_;
  int descriptor_ = -1;
  bool named_ = false;  // whether temporary_path_ exists
};

/// Creates or replaces the regular file at `path` whole or not at all, as AtomicFile does.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace posgauge
