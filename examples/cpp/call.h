#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "posgauge/kernel.h"

namespace example {

/// The elements of a tensor where its strides say.
template <class T>
class View {
 public:
  explicit View(const posgauge_tensor& tensor)
      : data_(reinterpret_cast<T*>(static_cast<char*>(tensor.tensor.data) +
                                   tensor.tensor.byte_offset)),
        shape_(tensor.tensor.shape),
        strides_(tensor.tensor.strides) {}

  int64_t extent(int axis) const { return shape_[axis]; }

  T& operator()(auto... index) const {
    const int64_t indices[] = {index...};
    int64_t element = 0;
    for (size_t axis = 0; axis < sizeof...(index); ++axis)
      element += indices[axis] * strides_[axis];
    return data_[element];
  }

 private:
  T* data_;
  const int64_t *shape_, *strides_;
};

/// An input of the call by its name, null where there is none.
inline const posgauge_tensor* Find(const posgauge_call& call, std::string_view name) {
  for (uint32_t i = 0; i < call.num_inputs; ++i) {
    if (call.inputs[i].name == name) return &call.inputs[i];
  }
  return nullptr;
}

/// A field of the scheme, `absent` where it is not set.
inline double Scalar(const posgauge_call& call, std::string_view name,
                     double absent = std::numeric_limits<double>::quiet_NaN()) {
  for (uint32_t i = 0; i < call.num_scalars; ++i) {
    if (call.scalars[i].name == name) return call.scalars[i].value;
  }
  return absent;
}

}  // namespace example
