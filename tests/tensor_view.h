#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "posgauge/schemes/base/dtype.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/kernel.h"

namespace posgauge {

/// A tensor of a call, element by element.
class View {
 public:
  explicit View(const posgauge_tensor& tensor)
      : tensor_(tensor.tensor), dtype_(static_cast<Dtype>(tensor.dtype)) {}

  int64_t shape(int axis) const { return tensor_.shape[axis]; }
  Dtype dtype() const { return dtype_; }
  const void* data() const { return tensor_.data; }

  /// The same memory, read as if its strides were those of a compact tensor.
  View AsIfCompact() const {
    View view = *this;
    view.as_if_compact_ = true;
    return view;
  }

  template <class... Index>
  double Get(Index... index) const {
    uint64_t bits = 0;
    std::memcpy(&bits, At({index...}), SizeOf(dtype_));
    if (dtype_ == Dtype::i64) return static_cast<double>(static_cast<int64_t>(bits));
    if (dtype_ == Dtype::i32) return static_cast<double>(static_cast<int32_t>(bits));
    return Decode(dtype_, bits);
  }
  template <class... Index>
  void Set(double value, Index... index) const {
    const uint64_t bits = Encode(dtype_, value);
    std::memcpy(At({index...}), &bits, SizeOf(dtype_));
  }
  // The bits themselves: what is copied stays what it is.
  template <class... Index>
  void Copy(const View& from, Index... index) const {
    std::memmove(At({index...}), from.At({index...}), SizeOf(dtype_));
  }

 private:
  std::byte* At(std::initializer_list<int64_t> index) const {
    int64_t element = 0;
    size_t axis = 0;
    for (const int64_t i : index) {
      element =
          as_if_compact_ ? element * tensor_.shape[axis] + i : element + i * tensor_.strides[axis];
      ++axis;
    }
    return static_cast<std::byte*>(tensor_.data) + tensor_.byte_offset +
           element * static_cast<int64_t>(SizeOf(dtype_));
  }

  DLTensor tensor_;
  Dtype dtype_;
  bool as_if_compact_ = false;
};

inline View Find(const posgauge_tensor* tensors, uint32_t count, std::string_view name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (name == tensors[i].name) return View(tensors[i]);
  }
  throw ParameterError(fmt::format("the call has no tensor {}", name));
}

inline View Input(const posgauge_call& call, std::string_view name) {
  return Find(call.inputs, call.num_inputs, name);
}

inline View Output(const posgauge_call& call, std::string_view name) {
  return Find(call.outputs, call.num_outputs, name);
}

}  // namespace posgauge
