#include "posgauge/verify/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

namespace {

// Takes the number first: whatever builds the message may itself change errno.
[[noreturn]] void Refuse(int error_number, const std::filesystem::path& path) {
  throw FileError(fmt::format("{}: cannot write: {}", path.string(), std::strerror(error_number)));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }

  int number() const { return number_; }

 private:
  int number_;
};

std::filesystem::path Folder(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

// A name that no other thread or process of this machine takes; O_EXCL settles the rest.
std::filesystem::path TemporaryPath(const std::filesystem::path& path) {
  static std::atomic<int> counter = 0;
  return path.parent_path() /
         fmt::format(".{}.{}.{}.tmp", path.filename().string(), getpid(), counter++);
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path)
    : path_(path), temporary_path_(TemporaryPath(path)) {
  // A rename would replace a device such as /dev/null, or the name of a folder, by a file.
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw FileError(fmt::format("{}: cannot write: not a regular file", path.string()));
  }
  if (path.filename().empty()) {
    throw FileError(fmt::format("'{}': cannot write: no file name", path.string()));
  }
  if (std::filesystem::exists("/proc/self/fd", ignored)) {  // by which Commit names the file
    descriptor_ = open(Folder(path).c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) {
    descriptor_ = open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) Refuse(errno, path_);
    named_ = true;
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (named_) unlink(temporary_path_.c_str());
}

void AtomicFile::Reserve(uint64_t size) {
  if (size == 0 || fallocate(descriptor_, 0, 0, static_cast<off_t>(size)) == 0) return;
  if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT) Refuse(errno, path_);
}

void AtomicFile::WriteAt(uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Refuse(errno, path_);
    bytes.remove_prefix(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
}

void AtomicFile::Commit() {
  if (fsync(descriptor_) != 0) Refuse(errno, path_);
  if (!named_) {
    const std::string unnamed = fmt::format("/proc/self/fd/{}", descriptor_);
    if (linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, temporary_path_.c_str(), AT_SYMLINK_FOLLOW) !=
        0) {
      Refuse(errno, path_);
    }
    named_ = true;
  }
  if (close(std::exchange(descriptor_, -1)) != 0) Refuse(errno, path_);
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) Refuse(errno, path_);
  named_ = false;
  // The rename itself survives a power cut only once the folder is on disk; some file systems
  // refuse to sync folders, which harms nothing that was promised.
  const Descriptor directory(open(Folder(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.number() >= 0) fsync(directory.number());
}

void WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.WriteAt(0, bytes);
  file.Commit();
}

}  // namespace posgauge
