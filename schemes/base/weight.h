#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <vector>

namespace posgauge {

/// A tensor of learned numbers that a scheme takes with every call, by its name in
/// posgauge/kernel.h, with the range its elements must lie in.
struct Weight {
  std::string_view name;
  std::vector<int64_t> shape;
  std::string_view description;
  double lowest = std::numeric_limits<double>::lowest();
  double highest = std::numeric_limits<double>::max();
  double typical = 1;  // about what size a trained one has

  int64_t Elements() const {
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  }
};

/// Those of a scheme: what its parameters say, or none.
template <class Params>
std::vector<Weight> WeightsOf(const Params& params) {
  if constexpr (requires { params.Weights(); }) {
    return params.Weights();
  } else {
    return {};
  }
}

/// Parameters with every switch on or off: weights that some parameters call for are those of one
/// and not of the other.
template <class Params>
Params WithEverySwitch(bool on) {
  Params params;
  Params::Fields(params, [on](std::string_view, auto& field, auto&&...) {
    if constexpr (std::is_same_v<decltype(field), bool&>) field = on;
  });
  return params;
}

}  // namespace posgauge
