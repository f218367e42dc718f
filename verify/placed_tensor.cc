#include "posgauge/verify/placed_tensor.h"

#include <algorithm>
#include <cstring>

namespace posgauge {

namespace {

// Bytes on either side: as far as a vector's tail or a row of a usual head reaches.
constexpr size_t kGuard = 1024;
constexpr size_t kAlignment = 64;
// Of spread tensors: elements before the first, and behind every row.
constexpr int64_t kOffset = 3, kGap = 5;

std::byte PatternAt(uint16_t pattern, size_t byte) {
  return static_cast<std::byte>(byte % 2 == 0 ? pattern & 0xFF : pattern >> 8);
}

DLDataType DlpackType(Dtype dtype) {
  const auto bits = static_cast<uint8_t>(8 * SizeOf(dtype));
  // DLPack 0.6 has no code for floating bytes.
  if (bits == 8) return {kDLUInt, bits, 1};
  if (!IsFloat(dtype)) return {kDLInt, bits, 1};
  return {static_cast<uint8_t>(dtype == Dtype::bf16 ? kDLBfloat : kDLFloat), bits, 1};
}

}  // namespace

template <class Visit>
void PlacedTensor::ForEachRow(Visit visit) const {
  const size_t step = strides_.size() < 2 ? row_ : static_cast<size_t>(strides_.end()[-2]);
  size_t count = row_ == 0 ? 0 : 1;
  for (size_t axis = 0; axis + 1 < shape_.size(); ++axis)
    count *= static_cast<size_t>(shape_[axis]);
  for (size_t row = 0; row < count; ++row) {
    visit(start_ + offset_ + row * step * SizeOf(dtype_), row * row_);
  }
}

PlacedTensor::PlacedTensor(const Tensor& tensor, Spacing spacing, uint16_t pattern)
    : dtype_(tensor.dtype()),
      shape_(tensor.shape()),
      strides_(tensor.shape().size()),
      row_(tensor.shape().empty() ? 1 : static_cast<size_t>(tensor.shape().back())),
      pattern_(pattern) {
  const bool spread = spacing == Spacing::spread;
  int64_t stride = 1;
  for (size_t axis = shape_.size(); axis-- > 0;) {
    strides_[axis] = stride;
    stride *= shape_[axis];
    if (spread && axis + 1 == shape_.size()) stride += kGap;
  }
  offset_ = spread ? static_cast<size_t>(kOffset) * SizeOf(dtype_) : 0;
  extent_ = static_cast<size_t>(stride) * SizeOf(dtype_);
  memory_.resize(kGuard + kAlignment + offset_ + extent_ + kGuard);
  const auto address = reinterpret_cast<uintptr_t>(memory_.data()) + kGuard;
  start_ = kGuard + (kAlignment - address % kAlignment) % kAlignment;
  for (size_t byte = 0; byte < memory_.size(); ++byte) memory_[byte] = PatternAt(pattern_, byte);
  ForEachRow([&](size_t byte, size_t element) {
    std::memcpy(memory_.data() + byte, tensor.bytes().data() + element * SizeOf(dtype_),
                row_ * SizeOf(dtype_));
  });
}

posgauge_tensor PlacedTensor::Argument(const char* name) {
  return {.size = sizeof(posgauge_tensor),
          .dtype = static_cast<int32_t>(dtype_),
          .name = name,
          .tensor = {.data = memory_.data() + start_,
                     .device = {kDLCPU, 0},
                     .ndim = static_cast<int32_t>(shape_.size()),
                     .dtype = DlpackType(dtype_),
                     .shape = shape_.data(),
                     .strides = strides_.data(),
                     .byte_offset = offset_}};
}

Tensor PlacedTensor::Read() const {
  Tensor tensor(dtype_, shape_);
  ForEachRow([&](size_t byte, size_t element) {
    std::memcpy(tensor.bytes().data() + element * SizeOf(dtype_), memory_.data() + byte,
                row_ * SizeOf(dtype_));
  });
  return tensor;
}

std::string PlacedTensor::Overrun() const {
  const size_t begin = start_ + offset_;
  size_t end = begin;
  // Two right bytes, and every other byte equal to the one two before it.
  const auto is_whole = [&](size_t from, size_t to) {
    for (size_t byte = from; byte < std::min(from + 2, to); ++byte) {
      if (memory_[byte] != PatternAt(pattern_, byte)) return false;
    }
    return to < from + 2 ||
           std::memcmp(memory_.data() + from, memory_.data() + from + 2, to - from - 2) == 0;
  };
  bool gaps_are_whole = true;
  ForEachRow([&](size_t byte, size_t element) {
    if (element > 0) gaps_are_whole = gaps_are_whole && is_whole(end, byte);
    end = byte + row_ * SizeOf(dtype_);
  });
  if (!is_whole(0, begin)) return "before its beginning";
  if (!is_whole(end, memory_.size())) return "after its end";
  return gaps_are_whole ? "" : "between its rows";
}

}  // namespace posgauge
