#pragma once

#include <cstdint>

namespace posgauge {

/// What one channel of an added row holds: a function of the angle of one of the row's waves.
enum class Wave { sin, cos, zero };

struct Channel {
  Wave function = Wave::zero;
  int64_t wave = 0;  // which frequency; 0 for zero
  bool operator==(const Channel&) const = default;
};

}  // namespace posgauge
