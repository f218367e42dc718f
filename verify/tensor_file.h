#pragma once

#include <array>
#include <filesystem>
#include <string_view>

#include "posgauge/verify/safetensors.h"

namespace posgauge {

/// The endings of files that hold tensors, with their dot: ".safetensors", ".npz", ".npy".
inline constexpr std::array<std::string_view, 3> kTensorFileEndings = {".safetensors", ".npz",
                                                                       ".npy"};

/// The tensors of a file by its ending: .npz by their names, .npy one tensor of the name "", any
/// other ending safetensors, which alone have metadata. Throws FileError and FormatError that
/// begins with the path.
Safetensors ReadTensorFile(const std::filesystem::path& path);

/// The inverse, atomically: .npz, or safetensors. In an npz file each entry of the metadata is a
/// tensor of its bytes (u8) by its key. Throws FileError and ParameterError.
void WriteTensorFile(const std::filesystem::path& path, const Safetensors& content);

}  // namespace posgauge
