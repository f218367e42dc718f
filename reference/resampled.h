#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "posgauge/reference/float64.h"
#include "posgauge/reference/fraction.h"
#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/resampled.h"

namespace posgauge::resampled {

/// sum over h, w of weight_h weight_w P[h, w]. Weights are rational numbers, of any magnitude of
/// denominator: fractions until the end.
template <class R>
class Rows {
 public:
  using F = typename FractionOf<R>::Type;

  Rows(const Params& params, const NamedInputs& inputs)
      : params_(&params), table_(&inputs["table"]) {
    for (int64_t row = 0; row < params.target_h; ++row) {
      taps_h_.push_back(TapsOf({params.grid_h, params.target_h, params.scale_h}, row));
    }
    for (int64_t column = 0; column < params.target_w; ++column) {
      taps_w_.push_back(TapsOf({params.grid_w, params.target_w, params.scale_w}, column));
    }
  }

  std::vector<R> Row(double position) const {
    std::vector<R> values;
    const auto row = static_cast<int64_t>(position);
    const int64_t token = row - params_->prefix;
    for (int64_t channel = 0; channel < params_->width; ++channel) {
      values.push_back(token < 0 ? R(table_->At(row, channel)) : At(token, channel));
    }
    return values;
  }

 private:
  struct Tap {
    int64_t index;  // in the source's axis, clamped to it
    F weight;
  };
  struct Axis {
    int64_t grid, target;
    std::optional<double> scale;
  };

  R At(int64_t token, int64_t channel) const {
    std::vector<F> rows;
    for (const Tap& h : taps_h_[static_cast<size_t>(token / params_->target_w)]) {
      std::vector<F> columns;
      for (const Tap& w : taps_w_[static_cast<size_t>(token % params_->target_w)]) {
        const int64_t source = params_->prefix + h.index * params_->grid_w + w.index;
        columns.push_back(w.weight * R(table_->At(source, channel)));
      }
      rows.push_back(h.weight * Sum(columns));
    }
    return Quotient(Sum(rows));
  }

  // Distance in the source between neighbours of the target.
  F Step(const Axis& axis) const {
    if (params_->align_corners) {
      return axis.target == 1 ? F(0) : F(axis.grid - 1) / F(axis.target - 1);
    }
    if (axis.scale) return F(1) / F(*axis.scale);
    if (params_->offset == 0) return F(axis.grid) / F(axis.target);
    return F(axis.grid) / (F(axis.target) + F(params_->offset));
  }

  std::vector<Tap> TapsOf(const Axis& axis, int64_t target) const {
    std::vector<Tap> taps = params_->antialias ? WideTaps(axis, target) : NarrowTaps(axis, target);
    for (Tap& tap : taps) tap.weight = Held(tap.weight);
    return taps;
  }

  // |u| <= 1: (A+2)|u|^3 - (A+3)|u|^2 + 1.
  F Inner(const F& u) const {
    const F a(params_->cubic);
    return ((a + F(2)) * u - (a + F(3))) * u * u + F(1);
  }
  // 1 < |u| < 2: A|u|^3 - 5A|u|^2 + 8A|u| - 4A.
  F Outer(const F& u) const {
    const F a(params_->cubic);
    return ((a * u - F(5) * a) * u + F(8) * a) * u - F(4) * a;
  }

  // Two or four taps about x = step (o + 1/2) - 1/2, or step o; those beyond an edge read the edge.
  std::vector<Tap> NarrowTaps(const Axis& axis, int64_t target) const {
    const F step = Step(axis), half(0.5);
    const F x = params_->align_corners ? step * F(target)
                                       : step * F(static_cast<double>(target) + 0.5) - half;
    // Where a rounded x may lie on either side of a whole number, so may its taps: the filter is
    // continuous.
    const auto [low, high] = FloorRange(x);
    std::map<int64_t, F> weights = WeightsAbout(x, low);
    for (int64_t floor = low + 1; floor <= high; ++floor) {
      const std::map<int64_t, F> others = WeightsAbout(x, floor);
      for (const auto& [index, weight] : others) weights.try_emplace(index, F(0));
      for (auto& [index, weight] : weights) {
        const auto other = others.find(index);
        weight = Hull(weight, other == others.end() ? F(0) : other->second);
      }
    }
    std::vector<Tap> taps;
    for (const auto& [index, weight] : weights) {
      taps.push_back({std::clamp<int64_t>(index, 0, axis.grid - 1), weight});
    }
    return taps;
  }

  std::map<int64_t, F> WeightsAbout(const F& x, int64_t floor) const {
    const F t = x - F(floor), rest = F(1) - t;
    if (params_->filter == Filter::bilinear) return {{floor, rest}, {floor + 1, t}};
    return {{floor - 1, Outer(t + F(1))},
            {floor, Inner(t)},
            {floor + 1, Inner(rest)},
            {floor + 2, Outer(rest + F(1))}};
  }

  // Every tap under the filter, which is wider where the grid shrinks; their weights add up to 1.
  std::vector<Tap> WideTaps(const Axis& axis, int64_t target) const {
    const bool shrinks = axis.scale
                             ? *axis.scale < 1
                             : static_cast<double>(axis.grid - axis.target) > params_->offset;
    const F step = Step(axis), half(0.5);
    const F centre = step * F(static_cast<double>(target) + 0.5);
    const F radius(params_->filter == Filter::bilinear ? 1 : 2);
    const F reach = shrinks ? radius * step : radius;
    const auto [first, first_high] = FloorRange(centre - reach + half);
    const auto [end_low, end] = FloorRange(centre + reach + half);
    std::vector<Tap> taps;
    std::vector<F> weights;
    for (int64_t j = std::max<int64_t>(first, 0); j < std::min(end, axis.grid); ++j) {
      const F distance = Abs(F(static_cast<double>(j) + 0.5) - centre);
      F weight = Filtered(shrinks ? distance / step : distance);
      // At its rim the filter is 0, and a rounded reach may leave a tap out.
      if (j < first_high || j >= end_low) weight = Hull(weight, F(0));
      taps.push_back({j, weight});
      weights.push_back(weight);
    }
    const F total = Sum(weights);
    for (Tap& tap : taps) tap.weight = tap.weight / total;
    return taps;
  }

  // The filter at u >= 0, which is continuous.
  F Filtered(const F& u) const {
    const auto piece = [&](int64_t floor) {
      if (params_->filter == Filter::bilinear) return floor < 1 ? F(1) - u : F(0);
      return floor < 1 ? Inner(u) : floor < 2 ? Outer(u) : F(0);
    };
    const auto [low, high] = FloorRange(u);
    F value = piece(low);
    for (int64_t floor = low + 1; floor <= high; ++floor) value = Hull(value, piece(floor));
    return value;
  }

  const Params* params_;
  const ExactTensor* table_;
  std::vector<std::vector<Tap>> taps_h_, taps_w_;
};

template <class R>
Rows<R> MakeRows(const Params& params, const NamedInputs& inputs) {
  return {params, inputs};
}

}  // namespace posgauge::resampled
