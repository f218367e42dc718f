#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "posgauge/kernel.h"

namespace example {

/// bfloat16: the upper half of a float.
struct Bf16 {
  uint16_t bits;
};

inline float ToFloat(float value) { return value; }
inline float ToFloat(Bf16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

/// Rounded to nearest even.
template <class T>
T FromFloat(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    if (std::isnan(value)) return {0x7FC0};
    const auto bits = std::bit_cast<uint32_t>(value);
    return {static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)};
  }
}

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
