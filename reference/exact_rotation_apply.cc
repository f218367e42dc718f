// What turning vectors by the exact rotation gives: rotate, its transpose, scores.
#include <algorithm>
#include <cmath>
#include <limits>

#include "posgauge/reference/decide_sum.h"
#include "posgauge/reference/double_double_product.h"
#include "posgauge/reference/exact_rotation_state.h"
#include "posgauge/reference/exact_sum.h"
#include "posgauge/reference/parallel.h"
#include "posgauge/reference/settle.h"

namespace posgauge {

namespace {

// Tokens whose rows are held at once.
constexpr int64_t kTokensAtOnce = 2048;

// u a + v b. Off by less than (|u| + |v|) 2^-103 where |a|, |b| <= 1 and low parts are at most
// 2^-53: the products' low halves are exact, sums of terms up to 2^-53 (|u| + |v|) round five times
// to within 2^-106, 2^-106, 2^-106, 2^-105 and 2^-104.4 of (|u| + |v|), and u a.low v b.low
// products to within 2^-106 each.
DoubleDouble SumOfProducts(double u, DoubleDouble a, double v, DoubleDouble b) {
  const DoubleDouble p = TwoProduct(u, a.high), q = TwoProduct(v, b.high);
  const double sum = p.high + q.high;
  const double q_seen = sum - p.high;
  const double error = (p.high - (sum - q_seen)) + (q.high - q_seen);
  const double low = error + ((p.low + q.low) + (u * a.low + v * b.low));
  const double high = sum + low;
  const double low_seen = high - sum;
  return {high, (sum - (high - low_seen)) + (low - low_seen)};
}
constexpr double kSumOfProductsRadius = 0x1p-103;

// Nothing in SumOfProducts leaves the normal range.
bool IsOrdinary(double x) { return x == 0 || (std::fabs(x) > 0x1p-400 && std::fabs(x) < 0x1p400); }

// Rows of x with the channels that rotate, and the one place where values that no equation covers
// (not finite, exact zeros) get theirs.
class RotateRows {
 public:
  RotateRows(const ExactRotation::State& state, Positions positions, std::span<const double> x,
             int64_t heads, double angle_sign, Dtype dtype)
      : state_(state),
        layout_(state.ladder.layout()),
        positions_(positions),
        x_(x),
        heads_(heads),
        angle_sign_(angle_sign),
        collector_(dtype, static_cast<int64_t>(x.size())) {}

  // Rows of the tokens from `first`, whose cos and sin `table` encloses.
  void Run(const EnclosedTable& table, int64_t first, int64_t tokens) {
    ForBlocks(tokens * heads_,
              std::max<int64_t>(kValuesPerThread / std::max<int64_t>(layout_.Pairs(), 1), 1),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  Row(table, (row / heads_) * layout_.Pairs(), first * heads_ + row);
                }
              });
  }

  RoundedValues Take() { return collector_.Take(); }

 private:
  void Copy(int64_t at) {
    const double value = x_[static_cast<size_t>(at)];
    const double rounded = RoundTo(collector_.format(), value);
    Decided decided{rounded, 0, rounded == value ? Proof::exact : Proof::proven};
    if (std::isnan(value)) decided.proof = Proof::exact;
    if (collector_.with_distance() && std::isfinite(rounded) && rounded != value) {
      // Exact: both lie within an ulp of f32 of each other.
      decided.distance = static_cast<int32_t>(
          std::lrint((value - rounded) / Ulp(collector_.format(), rounded) * 65536));
    }
    collector_.Set(at, decided, 53);
  }

  void Row(const EnclosedTable& table, int64_t table_row, int64_t row) {
    const auto token = static_cast<size_t>(row / heads_);
    const int64_t start = row * layout_.head_dim;
    for (int64_t channel = 0; channel < layout_.head_dim; ++channel) {
      const int64_t inside = channel - layout_.rotary_offset;
      if (inside < 0 || inside >= layout_.rotary_dim) Copy(start + channel);
    }
    for (int64_t pair = 0; pair < layout_.Pairs(); ++pair) {
      const auto [first, second] = layout_.Channels(pair);
      const double u = x_[static_cast<size_t>(start + first)];
      const double v = x_[static_cast<size_t>(start + second)];
      const double position = state_.axes.At(positions_, token, pair);
      if (!std::isfinite(u) || !std::isfinite(v)) {
        const Decided nan{std::numeric_limits<double>::quiet_NaN(), 0, Proof::exact};
        collector_.Set(start + first, nan, 53);
        collector_.Set(start + second, nan, 53);
      } else if (position == 0 && state_.pure) {
        Copy(start + first);
        Copy(start + second);
      } else {
        const auto entry = static_cast<size_t>(table_row + pair);
        Turned({start + first, start + second}, u, v, table.cos[entry], table.sin[entry],
               table.radius, position, static_cast<size_t>(pair));
        if (position == 0 && u == 0) Copy(start + first);  // keeps its sign
        if (position == 0 && v == 0) Copy(start + second);
      }
    }
  }

  void Turned(std::array<int64_t, 2> at, double u, double v, DoubleDouble cos, DoubleDouble sin,
              double table_radius, double position, size_t pair) {
    std::array<bool, 2> done = {};
    if (IsOrdinary(u) && IsOrdinary(v) && state_.Scalable()) {
      if (angle_sign_ < 0) sin = {-sin.high, -sin.low};
      const std::array<DoubleDouble, 2> turned = {SumOfProducts(u, cos, -v, sin),
                                                  SumOfProducts(u, sin, v, cos)};
      const double size = (std::fabs(u) + std::fabs(v)) * (1 + 0x1p-50);
      const double radius = size * (table_radius + kSumOfProductsRadius) * (1 + 0x1p-50);
      for (size_t k : {0, 1}) {
        DoubleDouble value = turned[k];
        double value_radius = radius;
        if (!state_.pure) {
          value = Times(value, state_.Factor());
          value_radius =
              std::ldexp((radius + size * (kTimesRadius + state_.magnitude.radius)) * (1 + 0x1p-50),
                         state_.Exponent());
        }
        if (const auto decided =
                Decide(value, value_radius, collector_.format(), collector_.with_distance())) {
          collector_.Set(at[k], *decided, kLowestBits);
          done[k] = true;
        }
      }
    }
    if (done[0] && done[1]) return;
    Settle<2>(
        state_.ladder, {&collector_, &collector_}, at,
        [&]<class I>(const Rotation<I>& rotation) -> std::array<I, 2> {
          const auto [c, s] = Turn(rotation, pair, I(angle_sign_ * position));
          return {I(u) * c - I(v) * s, I(u) * s + I(v) * c};
        },
        done);
  }

  const ExactRotation::State& state_;
  const Rotary& layout_;
  Positions positions_;
  std::span<const double> x_;
  int64_t heads_;
  double angle_sign_;  // -1 for the transpose
  Collector collector_;
};

}  // namespace

RoundedValues ExactRotation::RotateBy(double angle_sign, Positions positions,
                                      std::span<const double> x, int64_t heads, Dtype dtype) const {
  RequirePositions(axes(), positions);
  const auto tokens = static_cast<int64_t>(axes().Tokens(positions));
  Require(heads >= 0 && static_cast<int64_t>(x.size()) == tokens * heads * layout().head_dim,
          "x must be [tokens {}, heads {}, head_dim {}], got {} values", tokens, heads,
          layout().head_dim, x.size());
  RotateRows rows(*state_, positions, x, heads, angle_sign, dtype);
  const auto count = static_cast<size_t>(axes().count);
  for (int64_t first = 0; first < tokens; first += kTokensAtOnce) {
    const int64_t some = std::min(kTokensAtOnce, tokens - first);
    rows.Run(EncloseTable(positions.subspan(static_cast<size_t>(first) * count,
                                            static_cast<size_t>(some) * count)),
             first, some);
  }
  return rows.Take();
}

RoundedValues ExactRotation::Rotate(Positions positions, std::span<const double> x, int64_t heads,
                                    Dtype dtype) const {
  return RotateBy(1, positions, x, heads, dtype);
}

RoundedValues ExactRotation::RotateBackward(Positions positions, std::span<const double> x,
                                            int64_t heads, Dtype dtype) const {
  return RotateBy(-1, positions, x, heads, dtype);
}

RoundedValues ExactRotation::Scores(Positions query_positions, Positions key_positions,
                                    std::span<const double> q, std::span<const double> k,
                                    int64_t heads, double scale, Dtype dtype) const {
  RequirePositions(axes(), query_positions);
  RequirePositions(axes(), key_positions);
  const auto queries = static_cast<int64_t>(axes().Tokens(query_positions));
  const auto keys = static_cast<int64_t>(axes().Tokens(key_positions));
  const int64_t head_dim = layout().head_dim;
  Require(heads >= 0 && static_cast<int64_t>(q.size()) == queries * heads * head_dim &&
              static_cast<int64_t>(k.size()) == keys * heads * head_dim,
          "q must be [queries {0}, heads {2}, head_dim {3}] and k [keys {1}, ...], got {4} and {5} "
          "values",
          queries, keys, heads, head_dim, q.size(), k.size());
  for (const auto values : {q, k}) {
    for (double value : values) Require(std::isfinite(value), "q and k must be finite");
  }
  Require(std::isfinite(scale), "scale must be finite, got {}", scale);
  Collector collector(dtype, heads * queries * keys);
  const auto one = [&](int64_t head, int64_t query, int64_t key) {
    const std::span<const double> q_row = q.subspan(
        static_cast<size_t>((query * heads + head) * head_dim), static_cast<size_t>(head_dim));
    const std::span<const double> k_row = k.subspan(
        static_cast<size_t>((key * heads + head) * head_dim), static_cast<size_t>(head_dim));
    const int64_t at = (head * queries + query) * keys + key;
    const Positions p = axes().Row(query_positions, static_cast<size_t>(query));
    const Positions t = axes().Row(key_positions, static_cast<size_t>(key));
    bool apart = false;  // on an axis that turns anything
    for (size_t axis = 0; axis < p.size(); ++axis) {
      apart |= p[axis] != t[axis] && !state_->pairs_of[axis].empty();
    }
    if (!apart && IsPure()) {
      // A plain dot product: rational, so that ties happen and no precision need end Ziv's loop.
      ExactSum sum;
      for (size_t channel = 0; channel < q_row.size(); ++channel) {
        sum.Add(q_row[channel], k_row[channel], scale);
      }
      collector.Set(at, sum.Round(collector.format(), collector.with_distance()), 53);
      return;
    }
    // <R(p) q, R(t) k> depends on t - p only, of the pair's axis:  per pair, as complex numbers,
    //   Re(conj(q) k e^(i (t-p) w)) = (q0 k0 + q1 k1) cos - (q0 k1 - q1 k0) sin.
    Settle<1>(state_->ladder, {&collector}, {at},
              [&]<class I>(const Rotation<I>& rotation) -> std::array<I, 1> {
                const auto product = [&](int64_t a, int64_t b) {
                  return I(q_row[static_cast<size_t>(a)]) * I(k_row[static_cast<size_t>(b)]);
                };
                std::vector<I> offset;  // [axes]
                for (size_t axis = 0; axis < p.size(); ++axis) {
                  offset.push_back(I(t[axis]) - I(p[axis]));
                }
                I rotated(0), rest(0);
                for (int64_t pair = 0; pair < layout().Pairs(); ++pair) {
                  const auto [a, b] = layout().Channels(pair);
                  const auto [cos, sin] = CosSin(offset[static_cast<size_t>(axes().Of(pair))] *
                                                 rotation.frequency[static_cast<size_t>(pair)]);
                  rotated = rotated + (product(a, a) + product(b, b)) * cos -
                            (product(a, b) - product(b, a)) * sin;
                }
                for (int64_t channel = 0; channel < head_dim; ++channel) {
                  const int64_t inside = channel - layout().rotary_offset;
                  if (inside < 0 || inside >= layout().rotary_dim) {
                    rest = rest + product(channel, channel);
                  }
                }
                const auto& fraction = rotation.magnitude_squared;
                const I turned = fraction ? rotated * I((*fraction)[0]) / I((*fraction)[1])
                                          : rotation.magnitude * rotation.magnitude * rotated;
                return {(turned + rest) * I(scale)};
              });
  };
  ForBlocks(heads * queries * keys, 8, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      one(at / (queries * keys), at / keys % queries, at % keys);
    }
  });
  return collector.Take();
}

}  // namespace posgauge
