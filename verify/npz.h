#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "posgauge/verify/tensor.h"

namespace posgauge {

/// What numpy.savez writes of these arrays, stored without compression: a ZIP archive whose members
/// are npy files named NAME.npy, in the order of names, dated 1980-01-01 so that equal tensors give
/// equal bytes. Throws ParameterError: a name that is empty or not printable ASCII, more than 65535
/// tensors or 4 GiB - 2 bytes, which is where ZIP needs other records.
std::string SerializeNpz(const std::map<std::string, Tensor>& tensors);

/// Strict inverse, also of numpy.savez_compressed: members stored or deflated, their directory the
/// last thing in the file, every byte of which belongs to one member or the directory. Sizes are
/// checked before anything is allocated, checksums and the npy files (ParseNpy) after. Members are
/// read into memory only: their names never become paths. Refused by name: encryption, archives
/// written to a pipe, comments, ZIP64 but for the sizes in local headers that NumPy writes there.
/// Throws FormatError that begins with `path`.
std::map<std::string, Tensor> ParseNpz(std::string_view bytes, const std::string& path);

/// ParseNpz of a file. Throws FileError too.
std::map<std::string, Tensor> ReadNpz(const std::filesystem::path& path);

/// Writes SerializeNpz(tensors) atomically. Throws FileError too.
void WriteNpz(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors);

}  // namespace posgauge
