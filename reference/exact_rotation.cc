#include "posgauge/reference/exact_rotation.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>

#include "posgauge/reference/decide_sum.h"
#include "posgauge/reference/exact_rotation_state.h"
#include "posgauge/reference/parallel.h"
#include "posgauge/reference/settle.h"

namespace posgauge {

namespace {

// As narrow as a sum of two doubles can use; reached at the first level unless angles are huge.
constexpr double kNarrow = 0x1p-100;

template <class Get>
EnclosedValues EncloseEach(const RotationLadder& ladder, int64_t count, Get get) {
  EnclosedValues enclosed;
  for (int64_t i = 0; i < count; ++i) {
    ladder.WithLowest([&]<class I>(const Rotation<I>& rotation) {
      double radius = 0;
      const DoubleDouble value = MiddleOf(get(rotation, static_cast<size_t>(i)), &radius);
      const double relative = radius == 0 ? 0 : radius / std::fabs(value.high) * (1 + 0x1p-50);
      if (relative > kNarrow && I::Bits() < 1000) throw Undecided();
      enclosed.values.push_back(value);
      enclosed.radius = std::max(enclosed.radius, relative);
    });
  }
  return enclosed;
}

template <class Get>
RoundedValues Single(const RotationLadder& ladder, Dtype dtype, Get get) {
  Collector collector(dtype, 1);
  Settle<1>(ladder, {&collector}, {0},
            [&](const auto& rotation) { return std::array{get(rotation)}; });
  return collector.Take();
}

}  // namespace

ExactRotation::State::State(RotationLadder::Source source, const Rotary& layout, Axes of_positions)
    : ladder(std::move(source), layout), axes(std::move(of_positions)), rows(ladder) {
  pairs_of.resize(static_cast<size_t>(axes.count));
  for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
    pairs_of[static_cast<size_t>(axes.Of(pair))].push_back(pair);
  }
  magnitude =
      EncloseEach(ladder, 1, [](const auto& rotation, size_t) { return rotation.magnitude; });
  const RoundedValues rounded =
      Single(ladder, Dtype::f64, [](const auto& rotation) { return rotation.magnitude; });
  pure = rounded.values[0] == 1 && rounded.proofs[0] == Proof::exact;
  ladder.WithLowest([&](const auto& rotation) {
    for (const auto& frequency : rotation.frequency) still.push_back(frequency.IsZero());
  });
}

int ExactRotation::State::Exponent() const {
  int exponent = 0;
  std::frexp(Factor().high, &exponent);
  return pure ? 0 : exponent;
}

double ExactRotation::State::ScaledRadius(double radius) const {
  if (pure) return radius;
  return std::ldexp((radius + kScaleRadius + magnitude.radius) * (1 + 0x1p-50), Exponent());
}

bool ExactRotation::State::Scalable() const {
  // The largest entries stay finite in every dtype, the smallest usual ones normal in double.
  return pure || (Exponent() >= -20 && Exponent() <= 4);
}

void RequirePositions(const Axes& axes, Positions positions) {
  Require(positions.size() % static_cast<size_t>(axes.count) == 0,
          "positions must be [tokens, {} axes], got {} numbers", axes.count, positions.size());
  for (double position : positions) {
    Require(std::isfinite(position), "positions must be finite, got {}", position);
  }
}

namespace {

// An addition's waves turn a pair each.
Rotary LayoutOf(const Scheme& scheme) {
  if (IsRotary(scheme)) return RotaryOf(scheme);
  const int64_t width = 2 * FrequencyCount(scheme);
  return {.head_dim = width, .rotary_dim = width};
}

}  // namespace

ExactRotation::ExactRotation(const Scheme& scheme) {
  Validate(scheme);
  state_ = std::make_shared<State>(scheme, LayoutOf(scheme), AxesOf(scheme));
}

ExactRotation::ExactRotation(const Rotary& layout, std::span<const DoubleDouble> frequencies,
                             DoubleDouble magnitude, Axes axes) {
  layout.Validate();
  Require(static_cast<int64_t>(frequencies.size()) == layout.Pairs(),
          "frequencies must be one a pair, {}, got {}", layout.Pairs(), frequencies.size());
  Require(axes.count == 1 || static_cast<int64_t>(axes.of_pair.size()) == layout.Pairs(),
          "axes must be one a pair, {}, got {}", layout.Pairs(), axes.of_pair.size());
  state_ = std::make_shared<State>(
      GivenRotation{{frequencies.begin(), frequencies.end()}, magnitude}, layout, std::move(axes));
}

const Rotary& ExactRotation::layout() const { return state_->ladder.layout(); }

const Axes& ExactRotation::axes() const { return state_->axes; }

bool ExactRotation::IsPure() const { return state_->pure; }

RoundedValues ExactRotation::Frequencies(Dtype dtype) const {
  Collector collector(dtype, layout().Pairs());
  for (int64_t i = 0; i < layout().Pairs(); ++i) {
    Settle<1>(state_->ladder, {&collector}, {i}, [&](const auto& rotation) {
      return std::array{rotation.frequency[static_cast<size_t>(i)]};
    });
  }
  return collector.Take();
}

RoundedValues ExactRotation::Magnitude(Dtype dtype) const {
  return Single(state_->ladder, dtype, [](const auto& rotation) { return rotation.magnitude; });
}

RoundedValues ExactRotation::SoftmaxMultiplier(Dtype dtype) const {
  return Single(state_->ladder, dtype,
                [](const auto& rotation) { return rotation.softmax_multiplier; });
}

namespace {

// One walker an axis, since the positions on each run on their own; none where rows do not pay.
class AxisWalkers {
 public:
  AxisWalkers(const ExactRotation::State& state, bool bulk) {
    for (int64_t axis = 0; bulk && axis < state.axes.count; ++axis)
      walkers_.emplace_back(state.rows);
  }
  RowWalker& operator[](size_t axis) { return walkers_[axis]; }

 private:
  std::deque<RowWalker> walkers_;
};

}  // namespace

RoundedTable ExactRotation::Table(Positions positions, Dtype dtype) const {
  RequirePositions(axes(), positions);
  const int64_t pairs = layout().Pairs();
  const auto count = static_cast<int64_t>(axes().Tokens(positions));
  Collector cos(dtype, count * pairs), sin(dtype, count * pairs);
  const bool bulk =
      state_->Scalable() && RowCache::Pays(positions) && state_->rows.Prepare(positions);
  // The pairs of one axis, by the row at its position.
  const auto decide = [&](const RotationRow& row, double radius, double sign, int64_t token,
                          size_t axis) {
    for (int64_t pair : state_->pairs_of[axis]) {
      const int64_t at = token * pairs + pair;
      if (state_->pure && state_->still[static_cast<size_t>(pair)]) {
        cos.Set(at, {1, 0, Proof::exact}, kLowestBits);
        sin.Set(at, {0, 0, Proof::exact}, kLowestBits);
        continue;
      }
      const auto settle = [&](Collector& collector, DoubleDouble middle) {
        const auto decided = Decide(middle, radius, collector.format(), collector.with_distance());
        if (decided) collector.Set(at, *decided, kLowestBits);
        return decided.has_value();
      };
      const DoubleDouble y = row.Sin(pair);
      const std::array<bool, 2> done = {settle(cos, row.Cos(pair)),
                                        settle(sin, {sign * y.high, sign * y.low})};
      if (done[0] && done[1]) continue;
      const double position = axes().At(positions, static_cast<size_t>(token), pair);
      Settle<2>(
          state_->ladder, {&cos, &sin}, {at, at},
          [&]<class I>(const Rotation<I>& rotation) {
            return Turn(rotation, static_cast<size_t>(pair), I(position));
          },
          done);
    }
  };
  const RotationRow unknown(pairs);  // of zeros, which no radius decides
  ForBlocks(count, std::max<int64_t>(kValuesPerThread / std::max<int64_t>(pairs, 1), 1),
            [&](int64_t begin, int64_t end) {
              AxisWalkers walkers(*state_, bulk);
              RotationRow scaled(state_->pure ? 0 : pairs);
              for (int64_t token = begin; token < end; ++token) {
                for (size_t axis = 0; axis < state_->pairs_of.size(); ++axis) {
                  const double position = axes().Row(positions, static_cast<size_t>(token))[axis];
                  if (!bulk || !RowCache::Serves(position)) {
                    decide(unknown, 0, 1, token, axis);
                    continue;
                  }
                  RowWalker& walker = walkers[axis];
                  const RotationRow* row = &walker.At(static_cast<int64_t>(std::fabs(position)));
                  if (!state_->pure) {
                    scaled = *row;
                    Scale(state_->Factor(), &scaled);
                    row = &scaled;
                  }
                  decide(*row, state_->ScaledRadius(walker.radius()), position < 0 ? -1 : 1, token,
                         axis);
                }
              }
            });
  return {cos.Take(), sin.Take()};
}

EnclosedTable ExactRotation::EncloseTable(Positions positions) const {
  RequirePositions(axes(), positions);
  const int64_t pairs = layout().Pairs();
  const auto tokens = static_cast<int64_t>(axes().Tokens(positions));
  EnclosedTable table;
  table.cos.resize(static_cast<size_t>(tokens * pairs));
  table.sin.resize(static_cast<size_t>(tokens * pairs));
  const bool bulk = RowCache::Pays(positions) && state_->rows.Prepare(positions);
  // The pairs of one axis at its position; how wide the widest of their enclosures is.
  const auto enclose = [&](RowWalker* walker, double position, int64_t token, size_t axis) {
    const auto at = static_cast<size_t>(token * pairs);
    if (walker != nullptr && RowCache::Serves(position)) {
      const RotationRow& row = walker->At(static_cast<int64_t>(std::fabs(position)));
      const double sign = position < 0 ? -1 : 1;
      for (int64_t pair : state_->pairs_of[axis]) {
        const DoubleDouble sin = row.Sin(pair);
        table.cos[at + static_cast<size_t>(pair)] = row.Cos(pair);
        table.sin[at + static_cast<size_t>(pair)] = {sign * sin.high, sign * sin.low};
      }
      return walker->radius();
    }
    double widest = 0;
    for (int64_t pair : state_->pairs_of[axis]) {
      const size_t index = at + static_cast<size_t>(pair);
      double radius = 0;
      state_->ladder.WithLowest([&]<class I>(const Rotation<I>& rotation) {
        const auto [cos, sin] = CosSin(I(position) * rotation.frequency[static_cast<size_t>(pair)]);
        double cos_radius = 0, sin_radius = 0;
        table.cos[index] = MiddleOf(cos, &cos_radius);
        table.sin[index] = MiddleOf(sin, &sin_radius);
        radius = std::max(cos_radius, sin_radius);
        if (radius > kNarrow && I::Bits() < 1000) throw Undecided();
      });
      widest = std::max(widest, radius);
    }
    return widest;
  };
  std::mutex radius_mutex;
  ForBlocks(tokens, std::max<int64_t>(kValuesPerThread / std::max<int64_t>(pairs, 1), 1),
            [&](int64_t begin, int64_t end) {
              AxisWalkers walkers(*state_, bulk);
              double widest = 0;
              for (int64_t token = begin; token < end; ++token) {
                const Positions row = axes().Row(positions, static_cast<size_t>(token));
                for (size_t axis = 0; axis < row.size(); ++axis) {
                  widest = std::max(
                      widest, enclose(bulk ? &walkers[axis] : nullptr, row[axis], token, axis));
                }
              }
              const std::lock_guard lock(radius_mutex);
              table.radius = std::max(table.radius, widest);
            });
  return table;
}

EnclosedValues ExactRotation::EncloseFrequencies() const {
  return EncloseEach(state_->ladder, layout().Pairs(),
                     [](const auto& rotation, size_t i) { return rotation.frequency[i]; });
}

EnclosedValues ExactRotation::EncloseMagnitude() const { return state_->magnitude; }

}  // namespace posgauge
