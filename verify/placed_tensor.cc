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
// Of packed ones: as many as the tensor has are before and behind it in every row.
constexpr int64_t kPacked = 3;

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
  for (size_t row = 0; row < rows_; ++row) {
    visit(start_ + offset_ + row * step_ * SizeOf(dtype_), row * row_);
  }
}

// Without memory yet, but for as much of its own as is asked for.
PlacedTensor::PlacedTensor(const Tensor& tensor, Spacing spacing, uint16_t pattern,
                           size_t own_bytes)
    : dtype_(tensor.dtype()),
      shape_(tensor.shape()),
      strides_(tensor.shape().size()),
      own_(own_bytes),
      pattern_(pattern) {
  const bool spread = spacing == Spacing::spread && !shape_.empty();
  const bool packed = spacing == Spacing::packed && !shape_.empty();
  int64_t stride = 1;
  for (size_t axis = shape_.size(); axis-- > 0;) {
    strides_[axis] = stride;
    stride *= shape_[axis];
    if (spread && axis + 1 == shape_.size()) stride += kGap;
  }
  // A compact tensor is one row.
  row_ = spread ? static_cast<size_t>(shape_.back()) : tensor.size();
  if (packed) {
    row_ = static_cast<size_t>(shape_[0] == 0 ? 0 : stride / shape_[0]);
    strides_[0] *= kPacked;
  }
  step_ = spread ? row_ + static_cast<size_t>(kGap) : packed ? row_ * kPacked : row_;
  rows_ = row_ == 0 ? 0 : tensor.size() / row_;
  const size_t first = spread ? static_cast<size_t>(kOffset) : packed ? row_ : 0;
  offset_ = first * SizeOf(dtype_);
  reach_ = rows_ == 0 ? 0 : ((rows_ - 1) * step_ + row_) * SizeOf(dtype_);
}

PlacedTensor::PlacedTensor(const Tensor& tensor, Spacing spacing, uint16_t pattern)
    : PlacedTensor(tensor, spacing, pattern, RoomFor(tensor, spacing) + kGuard + kAlignment) {
  zone_ = own_;
  const auto address = reinterpret_cast<uintptr_t>(own_.data()) + kGuard;
  start_ = kGuard + (kAlignment - address % kAlignment) % kAlignment;
  Fill(tensor);
}

PlacedTensor::PlacedTensor(const Tensor& tensor, Spacing spacing, uint16_t pattern,
                           std::span<std::byte> memory, Edge edge)
    : PlacedTensor(tensor, spacing, pattern, 0) {
  const size_t size = offset_ + reach_ + kGuard;
  zone_ = edge == Edge::begin ? memory.first(size) : memory.last(size);
  start_ = edge == Edge::begin ? 0 : kGuard;
  Fill(tensor);
}

size_t PlacedTensor::RoomFor(const Tensor& tensor, Spacing spacing) {
  const PlacedTensor placed(tensor, spacing, 0, 0);
  return placed.offset_ + placed.reach_ + kGuard;
}

void PlacedTensor::Fill(const Tensor& tensor) {
  const auto fill = [&](size_t from, size_t to) {
    for (size_t byte = from; byte < to; ++byte) zone_[byte] = PatternAt(pattern_, byte);
  };
  size_t end = 0;
  ForEachRow([&](size_t byte, size_t element) {
    fill(end, byte);
    const size_t bytes = row_ * SizeOf(dtype_);
    std::memcpy(zone_.data() + byte, tensor.bytes().data() + element * SizeOf(dtype_), bytes);
    end = byte + bytes;
  });
  fill(end, zone_.size());
}

posgauge_tensor PlacedTensor::Argument(const char* name) {
  return {.size = sizeof(posgauge_tensor),
          .dtype = static_cast<int32_t>(dtype_),
          .name = name,
          .tensor = {.data = zone_.data() + start_,
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
    std::memcpy(tensor.bytes().data() + element * SizeOf(dtype_), zone_.data() + byte,
                row_ * SizeOf(dtype_));
  });
  return tensor;
}

bool PlacedTensor::Holds(const Tensor& tensor) const {
  bool same = true;
  ForEachRow([&](size_t byte, size_t element) {
    same =
        same && std::memcmp(zone_.data() + byte, tensor.bytes().data() + element * SizeOf(dtype_),
                            row_ * SizeOf(dtype_)) == 0;
  });
  return same;
}

std::string PlacedTensor::Overrun() const {
  const size_t begin = start_ + offset_;
  size_t end = begin;
  // Two right bytes, and every other byte equal to the one two before it.
  const auto is_whole = [&](size_t from, size_t to) {
    for (size_t byte = from; byte < std::min(from + 2, to); ++byte) {
      if (zone_[byte] != PatternAt(pattern_, byte)) return false;
    }
    return to < from + 2 ||
           std::memcmp(zone_.data() + from, zone_.data() + from + 2, to - from - 2) == 0;
  };
  bool gaps_are_whole = true;
  ForEachRow([&](size_t byte, size_t element) {
    if (element > 0) gaps_are_whole = gaps_are_whole && is_whole(end, byte);
    end = byte + row_ * SizeOf(dtype_);
  });
  if (!is_whole(0, begin)) return "before its beginning";
  if (!is_whole(end, zone_.size())) return "after its end";
  return gaps_are_whole ? "" : "between its rows";
}

}  // namespace posgauge
