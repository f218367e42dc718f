#include "posgauge/schemes/base/read_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

namespace {

[[noreturn]] void Refuse(const std::string& why, const std::filesystem::path& path) {
  throw FileError(fmt::format("{}: cannot read: {}", path.string(), why));
}

[[noreturn]] void Refuse(int error_number, const std::filesystem::path& path) {
  Refuse(std::strerror(error_number), path);
}

// Open for reading, without waiting for the writer of a pipe.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : number_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (number_ < 0) Refuse(errno, path);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close(number_); }

  int number() const { return number_; }

 private:
  int number_;
};

// What `read` does, but waits while a writer of a pipe has nothing yet.
size_t ReadSome(const OpenFile& file, char* to, size_t room, const std::filesystem::path& path) {
  for (;;) {
    const ssize_t got = read(file.number(), to, room);
    if (got >= 0) return static_cast<size_t>(got);
    if (errno == EAGAIN) {
      pollfd wait = {.fd = file.number(), .events = POLLIN, .revents = 0};
      if (poll(&wait, 1, -1) < 0 && errno != EINTR) Refuse(errno, path);
    } else if (errno != EINTR) {
      Refuse(errno, path);
    }
  }
}

}  // namespace

std::string ReadFile(const std::filesystem::path& path, uint64_t limit) {
  const OpenFile file(path);
  struct stat status = {};
  if (fstat(file.number(), &status) != 0) Refuse(errno, path);
  if (S_ISDIR(status.st_mode)) Refuse(EISDIR, path);
  const bool regular = S_ISREG(status.st_mode), pipe = S_ISFIFO(status.st_mode);
  if (!regular && !pipe) Refuse("neither a regular file nor a pipe", path);
  const std::string too_long = fmt::format("longer than {} bytes", limit);
  if (regular && static_cast<uint64_t>(status.st_size) > limit) Refuse(too_long, path);

  constexpr size_t kSmallestStep = 1 << 16;  // a pipe's buffer; a pipe does not tell its size
  std::string bytes;
  size_t size = 0;
  try {
    for (;;) {
      if (size == bytes.size()) {
        const auto hint = regular ? static_cast<size_t>(status.st_size) + 1 : 0;
        bytes.resize(std::max({hint, size + size / 2, size + kSmallestStep}));
      }
      const size_t got = ReadSome(file, bytes.data() + size, bytes.size() - size, path);
      if (got == 0) break;
      size += got;
      if (size > limit) Refuse(too_long, path);
    }
    bytes.resize(size);
  } catch (const std::bad_alloc&) {
    Refuse(ENOMEM, path);
  }
  if (pipe && bytes.empty()) Refuse("a pipe that nobody writes to", path);
  return bytes;
}

}  // namespace posgauge
