#include "posgauge/fast/resampled.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "posgauge/fast/angles.h"
#include "posgauge/fast/simd.h"
#include "posgauge/fast/wide.h"

namespace posgauge::resampled {

namespace {

using fast::Wide;

Wide Number(int64_t value) { return Wide(static_cast<double>(value)); }

// Neighbours of the target are step = a/b apart in the source.
struct Axis {
  int64_t grid, target;
  Wide a, b;
  bool shrinks;
};

Axis AxisOf(const Params& params, int64_t grid, int64_t target, std::optional<double> scale) {
  if (params.align_corners) {
    return {grid, target, Number(target == 1 ? 0 : grid - 1),
            Number(std::max<int64_t>(target - 1, 1)), false};
  }
  if (scale) return {grid, target, Wide(1), Wide(*scale), *scale < 1};
  return {grid, target, Number(grid), fast::TwoSum(static_cast<double>(target), params.offset),
          static_cast<double>(grid - target) > params.offset};
}

struct Taps {
  std::vector<int64_t> index;
  std::vector<Wide> weight;
};

// Weights are products of factors that are quotients of exact numbers (all of the sums below are
// whole multiples of one unit and less than 2^106 of it, unless the offset is below 2^-30) or sums
// of positive numbers: relative errors below 2^-95.

// Of the cubic at distances t, 1 - t from its two middle rows.
// inner(u) = (1 - u)(1 + u - (A+2) u^2), outer(1 + t) = A t (1 - t)^2.
Wide Inner(const Params& params, Wide u, Wide rest) {
  return rest * (Wide(1) + u - Wide(params.cubic + 2) * u * u);
}
Wide Outer(const Params& params, Wide t, Wide rest) { return Wide(params.cubic) * t * rest * rest; }

Taps NarrowTaps(const Params& params, const Axis& axis, int64_t target) {
  // x = p/q.
  const Wide p =
      params.align_corners ? Number(target) * axis.a : Number(2 * target + 1) * axis.a - axis.b;
  const Wide q = params.align_corners ? axis.b : axis.b + axis.b;
  const Wide floor = fast::Floor(p / q);
  const Wide over = p - floor * q, t = over / q, rest = (q - over) / q;
  const auto first = static_cast<int64_t>(floor.high);
  Taps taps;
  if (params.filter == Filter::bilinear) {
    taps = {{first, first + 1}, {rest, t}};
  } else {
    taps = {{first - 1, first, first + 1, first + 2},
            {Outer(params, t, rest), Inner(params, t, rest), Inner(params, rest, t),
             Outer(params, rest, t)}};
  }
  for (int64_t& index : taps.index) index = std::clamp<int64_t>(index, 0, axis.grid - 1);
  return taps;
}

Taps WideTaps(const Params& params, const Axis& axis, int64_t target) {
  const Wide unit = axis.shrinks ? axis.a : axis.b, one = unit + unit, two = one + one;
  Taps taps;
  Wide total(0);
  for (int64_t j = 0; j < axis.grid; ++j) {
    // u = from/one.
    Wide from = Number(2 * j + 1) * axis.b - Number(2 * target + 1) * axis.a;
    if (from < Wide(0)) from = -from;
    Wide weight(0);
    if (from < one) {
      weight = params.filter == Filter::bilinear ? (one - from) / one
                                                 : Inner(params, from / one, (one - from) / one);
    } else if (params.filter == Filter::bicubic && from < two) {
      weight = Outer(params, (from - one) / one, (two - from) / one);
    }
    if (weight.high == 0) continue;
    taps.index.push_back(j);
    taps.weight.push_back(weight);
    total = total + weight;
  }
  for (Wide& weight : taps.weight) weight = weight / total;
  return taps;
}

// Of numbers of T, what a row is computed in.
template <class T>
class Rows {
 public:
  Rows(const Params& params, const fast::Array& table, const std::vector<double>& positions)
      : params_(params),
        table_(table),
        positions_(positions),
        taps_h_(params, params.grid_h, params.target_h, params.scale_h),
        taps_w_(params, params.grid_w, params.target_w, params.scale_w),
        row_(static_cast<size_t>(params.width)) {}

  fast::Row At(int64_t token) {
    const auto channels = static_cast<size_t>(params_.width);
    const auto row = static_cast<int64_t>(positions_[static_cast<size_t>(token)]);
    if (row < params_.prefix) return {{{table_.At(row), table_.dtype, channels}, {}}};
    const int64_t patch = row - params_.prefix;
    const auto& h = taps_h_.of[static_cast<size_t>(patch / params_.target_w)];
    sources_.clear();
    for (int64_t source : h.index) sources_.push_back(Column(source, patch % params_.target_w));
    const Dtype compute = fast::ComputeDtype(table_.dtype);
    fast::WeightedSum(compute, sources_.data(), nullptr, h.weight.data(), h.weight.size(), channels,
                      row_.data());
    return {{{row_.data(), compute, channels}, {}}};
  }

 private:
  struct OfAxis {
    struct Of {
      std::vector<int64_t> index;
      std::vector<T> weight;
    };
    OfAxis(const Params& params, int64_t grid, int64_t target, std::optional<double> scale) {
      const Axis axis = AxisOf(params, grid, target, scale);
      for (int64_t o = 0; o < target; ++o) {
        const Taps taps =
            params.antialias ? WideTaps(params, axis, o) : NarrowTaps(params, axis, o);
        Of& rounded = of.emplace_back(Of{taps.index, {}});
        for (Wide weight : taps.weight) rounded.weight.push_back(fast::RoundedTo<T>(weight));
      }
    }
    std::vector<Of> of;  // [target]
  };

  // Row `source` of the grid, resampled at a target column: kept, as the tokens above and below
  // take it too.
  const void* Column(int64_t source, int64_t column) {
    const auto channels = static_cast<size_t>(params_.width);
    const auto [at, is_new] = columns_.try_emplace(source * params_.target_w + column, channels);
    fast::RowBuffer& made = at->second;
    if (!is_new) return made.data();
    const auto& w = taps_w_.of[static_cast<size_t>(column)];
    std::vector<const void*> rows;
    for (int64_t index : w.index) {
      rows.push_back(table_.At(params_.prefix + source * params_.grid_w + index));
    }
    fast::WeightedSum(table_.dtype, rows.data(), nullptr, w.weight.data(), rows.size(), channels,
                      made.data());
    return made.data();
  }

  Params params_;
  fast::Array table_;
  const std::vector<double>& positions_;
  OfAxis taps_h_, taps_w_;
  std::unordered_map<int64_t, fast::RowBuffer> columns_;
  fast::RowBuffer row_;
  std::vector<const void*> sources_;
};

}  // namespace

fast::RowMaker FastRows(const Params& params, const fast::Call& call,
                        const std::vector<double>& positions, Dtype io, Dtype) {
  const fast::Array table =
      call.Input("table", {io}, {params.prefix + params.grid_h * params.grid_w, params.width});
  Require(table.stride[1] == 1, "the channels of table must be contiguous");
  const auto make = [&]<class T>(T) -> fast::RowMaker {
    const auto rows = std::make_shared<Rows<T>>(params, table, positions);
    return [rows](int64_t token) { return rows->At(token); };
  };
  return io == Dtype::f64 ? make(double{}) : make(float{});
}

std::string RowContract(const Params&, Dtype made) {
  const auto compute = Name(fast::ComputeDtype(made));
  return fmt::format("position=exact frequency={0}:rn accumulate={0} table={0}", compute);
}

}  // namespace posgauge::resampled
