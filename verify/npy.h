#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "posgauge/verify/tensor.h"

namespace posgauge {

/// Limits of the reader: the header's is that of NumPy's own (numpy.lib.format, max_header_size).
inline constexpr uint64_t kMaxNpyHeader = 10'000;           // bytes
inline constexpr uint64_t kMaxNpyFile = uint64_t{1} << 36;  // bytes

/// The file that numpy.save writes, version 1.0: little-endian, in C order, the header padded so
/// that the data begin at a multiple of 64 bytes. Throws ParameterError for a rank above
/// kMaxTensorRank.
std::string SerializeNpy(const Tensor& tensor);

/// Strict inverse, for versions 1.0, 2.0 and 3.0: one array and nothing after it. What is in
/// Fortran order is transposed. Types by their `descr`:
///
///   <f8 <f4 <f2 <i8 <i4 |u1   of NumPy itself
///   <V2 |V2 bfloat16          bf16: how ml_dtypes saves it
///   <V1 |V1 float8_e4m3fn     f8e4m3, the same; other eight-bit types of ml_dtypes that are saved
///                             as V1 cannot be told from it
///   <f1 float8_e5m2           f8e5m2, the same
///
/// Everything else is refused by name: big-endian numbers, objects, structures. Throws FormatError
/// that begins with `path`.
Tensor ParseNpy(std::string_view bytes, const std::string& path);

/// ParseNpy of a file. Throws FileError too.
Tensor ReadNpy(const std::filesystem::path& path);

/// Writes SerializeNpy(tensor) atomically. Throws FileError too.
void WriteNpy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace posgauge
