#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "posgauge/fast/scoring.h"
#include "posgauge/fast/simd.h"
#include "posgauge/fast/window.h"
#include "posgauge/schemes/swin2.h"

namespace posgauge::swin2 {

inline fast::RowsBy BiasRowsBy(const Params&) { return fast::RowsBy::query_and_key; }

/// Coordinates of the offsets -(side - 1)..side - 1 of an axis, in double: glibc's logarithms are
/// within an ulp.
inline std::vector<double> Coordinates(int64_t side, int64_t extent) {
  std::vector<double> coordinates;
  for (int64_t offset = 1 - side; offset < side; ++offset) {
    if (extent == 1) {
      coordinates.push_back(0);
      continue;
    }
    const double u = static_cast<double>(8 * offset) / static_cast<double>(extent - 1);
    coordinates.push_back(std::copysign(std::log1p(std::fabs(u)) / std::log(8.0), u));
  }
  return coordinates;
}

/// 16 sigmoid of the network of every offset, [offsets], in double and rounded once to T; a row of
/// offsets at a time (fast/distance-inl.h), whose first layer has the row's share in its offsets.
template <class T>
std::vector<T> BiasTable(const Params& params, const fast::WeightValues<T>& weights, int64_t head) {
  const std::vector<double> ys = Coordinates(params.window.h, params.ExtentH());
  const std::vector<double> xs = Coordinates(params.window.w, params.ExtentW());
  const auto units = static_cast<size_t>(params.mlp_width);
  const T* const w1 = weights.find("w1")->second.data();
  const T* const b1 = weights.find("b1")->second.data();
  const T* const w2 = weights.find("w2")->second.data() + static_cast<size_t>(head) * units;
  const std::vector<double> upper(w2, w2 + units);
  std::vector<double> of_x(units), offsets(units), row(xs.size());
  for (size_t unit = 0; unit < units; ++unit) of_x[unit] = w1[2 * unit + 1];
  std::vector<T> table;
  for (double y : ys) {
    for (size_t unit = 0; unit < units; ++unit) {
      offsets[unit] = static_cast<double>(w1[2 * unit]) * y + static_cast<double>(b1[unit]);
    }
    fast::NetworkRow(xs.data(), xs.size(), {of_x.data(), offsets.data(), upper.data(), 0, units},
                     row.data());
    fast::Sigmoids(row.data(), row.size());
    for (double sigmoid : row) table.push_back(static_cast<T>(16 * sigmoid));
  }
  return table;
}

template <class T>
fast::FillBiasRow<T> FastBias(const Params& params, const fast::WeightValues<T>& weights,
                              int64_t head) {
  return fast::BiasByOffset<T>(params.window, BiasTable(params, weights, head));
}

/// <q, k> / |q| / |k|: a dot product errs by d u of the sum of magnitudes, a norm by (d/2 + 1) u of
/// itself, and each quotient rounds once; then the scale, exp within an ulp, and the bias.
template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>& weights,
                             int64_t head) {
  const auto width = static_cast<size_t>(params.attention.head_dim);
  const auto norms_of = [width](const std::vector<const T*>& rows, T* norms) {
    fast::DotPairs(rows.data(), rows.data(), width, rows.size(), norms);
    for (size_t i = 0; i < rows.size(); ++i) {
      norms[i] = std::max(std::sqrt(norms[i]), static_cast<T>(1e-12));
    }
  };
  const T tau = weights.find("tau")->second[static_cast<size_t>(head)];
  const T scale = std::exp(std::min(tau, std::log(T{100})));
  const auto norms = std::make_shared<std::vector<T>>();
  fast::Scoring<T> scoring;
  scoring.take_keys = [=](const fast::KeyRows<T>& keys) {
    std::vector<const T*> rows(keys.positions.size());
    for (size_t j = 0; j < rows.size(); ++j) rows[j] = keys.k + j * width;
    norms->resize(rows.size());
    norms_of(rows, norms->data());
  };
  scoring.score = [=, fill = FastBias<T>(params, weights, head),
                   bias = std::vector<T>()](const fast::ScoredRow<T>& row) mutable {
    const size_t keys = row.keys.size();
    bias.resize(keys);
    fill({row.query, nullptr, row.keys.data(), keys, bias.data()});
    T of_query = 0;
    norms_of({row.q}, &of_query);
    for (size_t j = 0; j < keys; ++j) {
      row.scores[j] = row.scores[j] / of_query / (*norms)[j] * scale + bias[j];
    }
  };
  return scoring;
}

}  // namespace posgauge::swin2
