#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

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

}  // namespace example
