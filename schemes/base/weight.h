#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
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

}  // namespace posgauge
