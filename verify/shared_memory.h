#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "posgauge/verify/child_protocol.h"

namespace posgauge {

/// Memory that posgauge shares with the process of a kernel library: a page of last words, and
/// slots that grow as calls want them and are used again by the next one. Nobody else can shrink
/// it.
class SharedMemory {
 public:
  /// Throws FileError when the system gives none.
  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// The file behind it; its child's kMemory.
  int descriptor() const { return file_; }

  /// What the process said last, and forgets now.
  child::LastWords TakeLastWords();

  /// Slot `index` with room for so many bytes, and posgauge's own view of it. Throws FileError when
  /// there is no memory.
  struct Place {
    child::Slot slot;
    std::span<std::byte> memory;
  };
  const Place& Reserve(uint32_t index, bool writable, size_t bytes);

 private:
  std::byte* Map(uint64_t offset, size_t bytes) const;
  void Release(const Place& place) const;

  int file_;
  uint64_t end_;  // bytes, of the file
  std::byte* page_ = nullptr;
  std::map<uint32_t, Place> places_;
};

}  // namespace posgauge
