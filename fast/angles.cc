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

Array PositionsOf(const Call& call, std::initializer_list<int64_t> shape) {
  return call.Input("positions", {Dtype::i64, Dtype::i32, Dtype::f64, Dtype::f32}, shape);
}

std::vector<int64_t> AxesOfPairs(const Call& call, int64_t pairs, int64_t axes) {
  const Array axis = call.Input("axis", {Dtype::i64, Dtype::i32}, {pairs});
  std::vector<int64_t> of_pair;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const double value = axis.Value(pair);
    Require(value >= 0 && value < static_cast<double>(axes), "axis must be in 0..{}, got {}",
            axes - 1, value);
    of_pair.push_back(static_cast<int64_t>(value));
  }
  return of_pair;
}

}  // namespace

Angles AnglesOf(const Call& call, int64_t tokens, int64_t pairs, int64_t start) {
  const bool has_axes = call.Has("axis");
  const Array positions =
      has_axes ? PositionsOf(call, {tokens, kAnyLength}) : PositionsOf(call, {tokens});
  const Array high = call.Input("frequency", {Dtype::f64}, {pairs});
  const Array low = call.Input("frequency_low", {Dtype::f64}, {high.shape[0]});
  Angles angles;
  angles.positions.reserve(static_cast<size_t>(positions.shape[0]));
  const auto add = [&](double position) {
    angles.positions.push_back(
        TurnPositionOf(start == 0 ? position : ExactSum(position, static_cast<double>(start))));
  };
  if (has_axes) {
    angles.axes = positions.shape[1];
    Require(angles.axes >= 1, "positions must have an axis, got none");
    angles.axis = AxesOfPairs(call, high.shape[0], angles.axes);
  }
  for (int64_t token = 0; token < positions.shape[0]; ++token) {
    for (int64_t axis = 0; axis < angles.axes; ++axis) add(positions.Value(token, axis));
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
