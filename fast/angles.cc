#include "posgauge/fast/angles.h"

#include <cmath>

#include "posgauge/schemes/base/error.h"

namespace posgauge::fast {

namespace {

// Knuth's error of the sum: 0 where it is exact.
double ExactSum(double position, double start) {
  const double sum = position + start, back = sum - position;
  Require((position - (sum - back)) + (start - back) == 0,
          "a position plus start must be a binary64 number, got {} + {}", position, start);
  return sum;
}

}  // namespace

Angles AnglesOf(const Call& call, int64_t tokens, int64_t pairs, int64_t start) {
  const Array positions =
      call.Input("positions", {Dtype::i64, Dtype::i32, Dtype::f64, Dtype::f32}, {tokens});
  const Array high = call.Input("frequency", {Dtype::f64}, {pairs});
  const Array low = call.Input("frequency_low", {Dtype::f64}, {high.shape[0]});
  Angles angles;
  angles.positions.reserve(static_cast<size_t>(positions.shape[0]));
  for (int64_t token = 0; token < positions.shape[0]; ++token) {
    const double position = positions.Value(token);
    angles.positions.push_back(
        TurnPositionOf(start == 0 ? position : ExactSum(position, static_cast<double>(start))));
  }
  std::vector<double> highs, lows;
  highs.reserve(static_cast<size_t>(high.shape[0]));
  lows.reserve(static_cast<size_t>(high.shape[0]));
  for (int64_t i = 0; i < high.shape[0]; ++i) {
    highs.push_back(high.Value(i));
    lows.push_back(low.Value(i));
  }
  angles.turns = TurnsOf(highs, lows);
  return angles;
}

}  // namespace posgauge::fast
