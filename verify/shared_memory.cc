#include "posgauge/verify/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

namespace {

// A multiple of every page size, and small beside what a call takes.
constexpr size_t kSmallest = 64 << 10;

[[noreturn]] void Refuse(const char* what) {
  throw FileError(
      fmt::format("memory shared with a kernel's process: {}: {}", what, std::strerror(errno)));
}

}  // namespace

SharedMemory::SharedMemory()
    : file_(memfd_create("posgauge tensors", MFD_CLOEXEC | MFD_ALLOW_SEALING)), end_(kSmallest) {
  if (file_ < 0) Refuse("memfd_create");
  try {
    if (ftruncate(file_, static_cast<off_t>(end_)) != 0) Refuse("ftruncate");
    // Memory that the process took away from under posgauge would be its end.
    if (fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) != 0) Refuse("F_SEAL_SHRINK");
    page_ = Map(0, kSmallest);
  } catch (...) {
    close(file_);
    throw;
  }
}

SharedMemory::~SharedMemory() {
  for (const auto& [index, place] : places_) munmap(place.memory.data(), place.memory.size());
  munmap(page_, kSmallest);
  close(file_);
}

std::byte* SharedMemory::Map(uint64_t offset, size_t bytes) const {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) Refuse("mmap");
  return static_cast<std::byte*>(memory);
}

child::LastWords SharedMemory::TakeLastWords() {
  child::LastWords words;
  std::memcpy(&words, page_, sizeof words);
  std::memset(page_, 0, sizeof words);
  return words;
}

void SharedMemory::Release(const Place& place) const {
  munmap(place.memory.data(), place.memory.size());
  // Its pages go back; its place in the file is not used again.
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(place.slot.offset), static_cast<off_t>(place.slot.bytes));
}

const SharedMemory::Place& SharedMemory::Reserve(uint32_t index, bool writable, size_t bytes) {
  Require(index < child::kMostSlots, "a call of more than {} tensors", child::kMostSlots);
  const auto at = places_.find(index);
  if (at != places_.end() && at->second.memory.size() >= bytes &&
      at->second.slot.writable == writable) {
    return at->second;
  }
  // Powers of two: a slot that grows does so a few times only.
  const size_t size = std::bit_ceil(std::max(bytes, kSmallest));
  if (ftruncate(file_, static_cast<off_t>(end_ + size)) != 0) Refuse("ftruncate");
  const Place place = {{index, writable, end_, size}, {Map(end_, size), size}};
  end_ += size;
  if (at != places_.end()) Release(at->second);
  return places_.insert_or_assign(index, place).first->second;
}

}  // namespace posgauge
