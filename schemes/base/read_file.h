#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace posgauge {

/// The bytes of a regular file, or of a pipe that somebody writes to (/dev/stdin, a shell's
/// <(...)). Throws FileError: missing, a folder or a device, unreadable, longer than `limit` bytes,
/// or a pipe without a writer, for which it does not wait.
std::string ReadFile(const std::filesystem::path& path, uint64_t limit);

}  // namespace posgauge
