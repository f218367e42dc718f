#pragma once

#include <cmath>
#include <vector>

#include "bf16.h"
#include "call.h"

namespace example {

/// Rotates by the frequencies and the magnitude that it is handed, and so serves every rotary
/// scheme: rope, yarn, llama3, ..., with positions of one axis or several. Angles are formed in
/// double, cos and sin held in float, the rotation computed in float.
template <class T>
int32_t Rotate(const posgauge_call* call, char*, size_t) {
  const View<const T> x(*Find(*call, "x"));
  const View<const int64_t> positions(*Find(*call, "positions"));
  const View<const double> frequency(*Find(*call, "frequency"));
  const View<const double> magnitude(*Find(*call, "magnitude"));
  const posgauge_tensor* axis = Find(*call, "axis");  // only where positions have several
  const View<T> out(call->outputs[0]);

  const int64_t pairs = frequency.extent(0);
  const auto offset = static_cast<int64_t>(Scalar(*call, "rotary_offset"));
  const bool half = Scalar(*call, "pairing") == 0;
  const bool clockwise = Scalar(*call, "direction") == 1;
  std::vector<float> cosine(static_cast<size_t>(pairs)), sine(cosine);

  for (int64_t token = 0; token < x.extent(0); ++token) {
    for (int64_t pair = 0; pair < pairs; ++pair) {
      const int64_t position =
          axis != nullptr ? positions(token, View<const int64_t>(*axis)(pair)) : positions(token);
      const double angle = static_cast<double>(position) * frequency(pair);
      const auto i = static_cast<size_t>(pair);
      cosine[i] = static_cast<float>(magnitude(0) * std::cos(angle));
      sine[i] = static_cast<float>(magnitude(0) * std::sin(clockwise ? -angle : angle));
    }
    for (int64_t head = 0; head < x.extent(1); ++head) {
      for (int64_t channel = 0; channel < x.extent(2); ++channel) {
        const bool rotates = channel >= offset && channel < offset + 2 * pairs;
        if (!rotates) out(token, head, channel) = x(token, head, channel);
      }
      for (int64_t pair = 0; pair < pairs; ++pair) {
        const auto i = static_cast<size_t>(pair);
        const int64_t first = offset + (half ? pair : 2 * pair);
        const int64_t second = first + (half ? pairs : 1);
        const float u = ToFloat(x(token, head, first)), v = ToFloat(x(token, head, second));
        out(token, head, first) = FromFloat<T>(u * cosine[i] - v * sine[i]);
        out(token, head, second) = FromFloat<T>(u * sine[i] + v * cosine[i]);
      }
    }
  }
  return POSGAUGE_OK;
}

}  // namespace example
