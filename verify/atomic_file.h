#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace posgauge {

/// Creates or replaces the regular file at `path` whole or not at all: a temporary file in the same
/// folder, fsync, rename. Throws FileError with the system's reason; then `path` is as it was and
/// nothing is left behind.
void WriteFileAtomically(const std::filesystem::path& path, std::string_view bytes);

/// The bytes of a file or pipe. Throws FileError: missing, a folder, unreadable, or longer than
/// `limit` bytes.
std::string ReadFile(const std::filesystem::path& path, uint64_t limit);

}  // namespace posgauge
