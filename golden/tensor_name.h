#pragma once

#include <string>

#include "posgauge/golden/manifest.h"

namespace posgauge::golden {

/// Names of a case's tensors in the payload.
inline std::string InputTensor(const Case& golden_case, const std::string& input) {
  return fmt::format("{}/{}", golden_case.id, input);
}
inline std::string ValuesTensor(const Case& golden_case, const std::string& output, Dtype dtype) {
  return fmt::format("{}/{}.{}", golden_case.id, output, Name(dtype));
}
inline std::string DistancesTensor(const Case& golden_case, const std::string& output,
                                   Dtype dtype) {
  return ValuesTensor(golden_case, output, dtype) + ".distance";
}

/// The dtypes whose values come with distances.
inline bool HasDistances(Dtype dtype) { return dtype == Dtype::f64 || dtype == Dtype::f32; }

inline constexpr std::string_view kFormatName = "posgauge-golden";
inline constexpr std::string_view kGeneratorName = "posgauge";

}  // namespace posgauge::golden
