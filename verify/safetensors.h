#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "posgauge/verify/tensor.h"

namespace posgauge {

/// Limits of the reader. The header limit is that of the safetensors library; the others are far
/// above any dump that fits in memory.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;      // bytes
inline constexpr uint64_t kMaxSafetensorsFile = uint64_t{1} << 36;  // bytes
inline constexpr size_t kMaxTensorRank = 16;

/// The content of a safetensors file.
struct Safetensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata;  // __metadata__; absent where empty

  bool operator==(const Safetensors&) const = default;
};

/// A tensor as a header names it.
struct TensorPlace {
  std::string name;
  Dtype dtype = Dtype::f64;
  std::vector<int64_t> shape;
  uint64_t offset = 0;  // bytes from the start of the file, set by SafetensorsHeader
};

/// The first bytes of the file, up to the tensors' own; puts the places in the file's order and
/// sets their offsets. For files that are written piece by piece. Throws as SerializeSafetensors
/// does.
std::string SafetensorsHeader(std::vector<TensorPlace>& places,
                              const std::map<std::string, std::string>& metadata);

/// The one canonical encoding: tensors without gaps, wider dtypes first so that every one is
/// aligned, then by name; the header in that order, padded with spaces to a multiple of 8 bytes.
/// Throws ParameterError: a name that is "__metadata__", text that is not UTF-8, a rank above the
/// limit.
std::string SerializeSafetensors(const Safetensors& content);

/// Strict inverse: 8 bytes of little-endian header length, a JSON header, data. Any order of
/// tensors, but without holes, overlaps, trailing bytes, unknown or repeated keys; dtypes F64, F32,
/// BF16, F16, I64, I32, U8, F8_E4M3, F8_E5M2. Throws FormatError that begins with `path`.
Safetensors ParseSafetensors(std::string_view bytes, const std::string& path);

/// ParseSafetensors of a file. Throws FileError too.
Safetensors ReadSafetensors(const std::filesystem::path& path);

/// Writes SerializeSafetensors(content) atomically. Throws FileError too.
void WriteSafetensors(const std::filesystem::path& path, const Safetensors& content);

}  // namespace posgauge
