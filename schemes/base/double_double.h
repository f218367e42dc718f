#pragma once

namespace posgauge {

/// An unevaluated sum high + low, |low| at most half an ulp of high: 106 bits of a real number.
struct DoubleDouble {
  double high = 0, low = 0;
};

}  // namespace posgauge
