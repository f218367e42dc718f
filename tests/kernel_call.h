#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "posgauge/fast/kernels.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/base/dtype.h"
#include "posgauge/schemes/base/scalars.h"

namespace posgauge {

/// A tensor somewhere in memory whose every other byte is watched.
class CallTensor {
 public:
  /// Strides in elements, of any sign; `shift` elements off a 64-byte boundary.
  CallTensor(Dtype dtype, std::vector<int64_t> shape, std::vector<int64_t> strides,
             int64_t shift = 0)
      : dtype_(dtype), shape_(std::move(shape)), strides_(std::move(strides)) {
    int64_t below = 0, above = 0;
    for (size_t axis = 0; axis < shape_.size(); ++axis) {
      const int64_t reach = std::max<int64_t>(shape_[axis] - 1, 0) * strides_[axis];
      (reach < 0 ? below : above) += reach;
    }
    const auto size = static_cast<int64_t>(SizeOf(dtype));
    const int64_t first = kGuard - below * size + shift * size;
    memory_.assign(static_cast<size_t>(first + (above + 1) * size + kGuard) + 64, kUntouched);
    const auto misaligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory_.data()) % 64);
    origin_ = first + (64 - misaligned) % 64;
  }

  /// Compact, in C order.
  CallTensor(Dtype dtype, const std::vector<int64_t>& shape)
      : CallTensor(dtype, shape, CompactStrides(shape)) {}

  static std::vector<int64_t> CompactStrides(const std::vector<int64_t>& shape) {
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
    return strides;
  }

  size_t size() const {
    size_t count = 1;
    for (int64_t length : shape_) count *= static_cast<size_t>(length);
    return count;
  }

  /// By flat logical index, in C order.
  uint64_t Bits(size_t index) const {
    uint64_t bits = 0;
    std::memcpy(&bits, memory_.data() + ByteOf(index), SizeOf(dtype_));
    return bits;
  }
  void SetBits(size_t index, uint64_t bits) {
    std::memcpy(memory_.data() + ByteOf(index), &bits, SizeOf(dtype_));
  }
  void Set(size_t index, double value) {
    if (IsFloat(dtype_)) {
      SetBits(index, Encode(dtype_, value));
    } else {
      SetBits(index, static_cast<uint64_t>(static_cast<int64_t>(value)));
    }
  }
  double Value(size_t index) const { return Decode(dtype_, Bits(index)); }
  std::vector<uint64_t> AllBits() const {
    std::vector<uint64_t> bits(size());
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = Bits(i);
    return bits;
  }

  /// Whether every byte that belongs to no element is as it was.
  bool OthersUntouched() const {
    std::vector<std::byte> rest = memory_;
    for (size_t i = 0; i < size(); ++i) {
      std::fill_n(rest.begin() + ByteOf(i), SizeOf(dtype_), kUntouched);
    }
    return std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == kUntouched; });
  }

  posgauge_tensor Argument(const char* name) {
    return {.size = sizeof(posgauge_tensor),
            .dtype = static_cast<int32_t>(dtype_),
            .name = name,
            .tensor = {.data = memory_.data() + origin_,
                       .device = {kDLCPU, 0},
                       .ndim = static_cast<int>(shape_.size()),
                       .dtype = {},
                       .shape = shape_.data(),
                       .strides = strides_.data(),
                       .byte_offset = 0}};
  }

 private:
  static constexpr int64_t kGuard = 256;
  static constexpr std::byte kUntouched{0xA5};

  int64_t ByteOf(size_t index) const {
    auto rest = static_cast<int64_t>(index);
    int64_t element = 0;
    for (size_t axis = shape_.size(); axis-- > 0;) {
      element += rest % shape_[axis] * strides_[axis];
      rest /= shape_[axis];
    }
    return origin_ + element * static_cast<int64_t>(SizeOf(dtype_));
  }

  Dtype dtype_;
  std::vector<int64_t> shape_, strides_;
  std::vector<std::byte> memory_;
  int64_t origin_ = 0;
};

inline CallTensor TensorOf(Dtype dtype, const std::vector<double>& values) {
  CallTensor tensor(dtype, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) tensor.Set(i, values[i]);
  return tensor;
}

inline const posgauge_kernel& FastKernel(std::string_view name) {
  size_t count = 0;
  const posgauge_kernel* kernels = FastKernels(&count);
  const auto* found = std::find_if(kernels, kernels + count,
                                   [&](const posgauge_kernel& k) { return name == k.name; });
  if (found == kernels + count) throw ParameterError("no kernel " + std::string(name));
  return *found;
}

/// Calls a kernel; what it answered, and why if not OK.
struct Answer {
  int32_t status;
  std::string why;
};
inline Answer CallKernel(std::string_view kernel, const Scheme& scheme,
                         const std::vector<posgauge_tensor>& inputs,
                         const std::vector<posgauge_tensor>& outputs) {
  const std::vector<Scalar> named = ScalarsOf(scheme);
  std::vector<posgauge_scalar> scalars;
  for (const auto& [name, value] : named) scalars.push_back({name.c_str(), value});
  const posgauge_kernel& descriptor = FastKernel(kernel);
  const std::string word(Name(scheme));
  const posgauge_call call = {.size = sizeof(posgauge_call),
                              .num_scalars = static_cast<uint32_t>(scalars.size()),
                              .scheme = word.c_str(),
                              .quantity = descriptor.quantity,
                              .scalars = scalars.data(),
                              .inputs = inputs.data(),
                              .outputs = outputs.data(),
                              .num_inputs = static_cast<uint32_t>(inputs.size()),
                              .num_outputs = static_cast<uint32_t>(outputs.size())};
  char why[256] = "";
  const int32_t status = descriptor.run(&call, why, sizeof why);
  return {status, why};
}

/// Runs body(target) on every instruction set that this machine has.
template <class Body>
void OnEveryTarget(const Body& body) {
  for (const std::string& target : fast::Targets()) {
    SCOPED_TRACE(target);
    fast::UseTarget(target);
    body();
  }
  fast::UseTarget("");
}

}  // namespace posgauge
