#include "posgauge/verify/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

namespace {

static_assert(std::endian::native == std::endian::little,
              "tensor bytes are stored in memory order and must be little-endian on disk");

size_t ByteCount(Dtype dtype, const std::vector<int64_t>& shape) {
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max());
  size_t bytes = SizeOf(dtype);
  for (int64_t extent : shape) {
    Require(extent >= 0, "a tensor's extents must not be negative, got shape [{}]",
            fmt::join(shape, ", "));
    const auto count = static_cast<size_t>(extent);
    Require(count == 0 || bytes <= kMost / count, "a tensor of shape [{}] is too large to address",
            fmt::join(shape, ", "));
    bytes *= count;
  }
  return bytes;
}

// The smallest and largest integers that Value() gives back exactly.
std::pair<double, double> IntegerRange(Dtype dtype) {
  switch (dtype) {
    case Dtype::u8:
      return {0, 255};
    case Dtype::i32:
      return {-0x1p31, 0x1p31 - 1};
    default:
      return {-0x1p53, 0x1p53};
  }
}

uint64_t EncodeElement(Dtype dtype, double value) {
  if (IsFloat(dtype)) return Encode(dtype, value);
  const auto [lowest, highest] = IntegerRange(dtype);
  Require(value >= lowest && value <= highest && value == std::trunc(value),
          "an element of a tensor of dtype {} must be an integer in {}..{}, got {}", Name(dtype),
          lowest, highest, value);
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

}  // namespace

Tensor::Tensor(Dtype dtype, std::vector<int64_t> shape)
    : dtype_(dtype), shape_(std::move(shape)), bytes_(ByteCount(dtype_, shape_)) {}

Tensor Tensor::FromValues(Dtype dtype, std::vector<int64_t> shape, std::span<const double> values) {
  Tensor tensor(dtype, std::move(shape));
  Require(values.size() == tensor.size(), "a tensor of shape [{}] takes {} values, got {}",
          fmt::join(tensor.shape_, ", "), tensor.size(), values.size());
  // Tables of weights are large and converted for every call; the machine's own conversion rounds
  // the same.
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_nan = std::isnan(values[i]);
    if (dtype == Dtype::f64 && !is_nan) {
      tensor.SetBits(i, std::bit_cast<uint64_t>(values[i]));
    } else if (dtype == Dtype::f32 && !is_nan) {
      tensor.SetBits(i, std::bit_cast<uint32_t>(static_cast<float>(values[i])));
    } else {
      tensor.Set(i, values[i]);
    }
  }
  return tensor;
}

double Tensor::Value(size_t index) const {
  const uint64_t bits = Bits(index);
  switch (dtype_) {
    case Dtype::i64:
      return static_cast<double>(static_cast<int64_t>(bits));
    case Dtype::i32:
      return static_cast<double>(static_cast<int32_t>(static_cast<uint32_t>(bits)));
    case Dtype::u8:
      return static_cast<double>(bits);
    default:
      return Decode(dtype_, bits);
  }
}

uint64_t Tensor::Bits(size_t index) const {
  // One load of a known width each: a copy of SizeOf(dtype_) bytes would be a call.
  const auto load = [&]<class Bits>(Bits bits) {
    std::memcpy(&bits, bytes_.data() + index * sizeof bits, sizeof bits);
    return static_cast<uint64_t>(bits);
  };
  switch (SizeOf(dtype_)) {
    case 8:
      return load(uint64_t{});
    case 4:
      return load(uint32_t{});
    case 2:
      return load(uint16_t{});
    default:
      return load(uint8_t{});
  }
}

void Tensor::Set(size_t index, double value) { SetBits(index, EncodeElement(dtype_, value)); }

void Tensor::SetBits(size_t index, uint64_t bits) {
  std::memcpy(bytes_.data() + index * SizeOf(dtype_), &bits, SizeOf(dtype_));
}

std::vector<double> Tensor::Values() const {
  std::vector<double> values(size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = Value(i);
  return values;
}

}  // namespace posgauge
