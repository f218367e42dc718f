#pragma once

#include <algorithm>
#include <map>
#include <type_traits>
#include <utility>

#include "posgauge/fast/rotation.h"
#include "posgauge/fast/scoring.h"
#include "posgauge/fast/simd.h"
#include "posgauge/fast/turns.h"
#include "posgauge/schemes/transformer_xl.h"

namespace posgauge::transformer_xl {

/// base^(-2k/model_width) as turns. Relative error of a frequency: see fast/rotation.h.
inline fast::Turns Waves(const Params& params) {
  const fast::Wide log_base = fast::Log(params.base);
  std::vector<double> high, low;
  for (int64_t wave = 0; wave < params.model_width / 2; ++wave) {
    const fast::Wide frequency = fast::InversePower(log_base, 2 * wave, params.model_width);
    high.push_back(frequency.high);
    low.push_back(frequency.low);
  }
  return fast::TurnsOf(high, low);
}

/// W R_o of one head by offset, each made when it is first asked for.
template <class T>
class ProjectedOffsets {
 public:
  ProjectedOffsets(const Params& params, const T* weight)
      : width_(static_cast<size_t>(params.attention.head_dim)),
        waves_(Waves(params)),
        row_(static_cast<size_t>(params.model_width)) {
    for (size_t channel = 0; channel < width_; ++channel) {
      weight_.push_back(weight + channel * row_.size());
    }
  }

  /// [head_dim], valid until Forget. Sines and cosines as fast/table-inl.h makes them, then sums of
  /// model_width products.
  const T* At(double offset) {
    std::vector<T>& projected = made_[offset];
    if (projected.empty()) {
      T* const cosines = row_.data() + waves_.Pairs();
      fast::CosSinRow(waves_, fast::TurnPositionOf(offset), 1,
                      std::is_same_v<T, double> ? Dtype::f64 : Dtype::f32, cosines, row_.data());
      projected.resize(width_);
      fast::DotRows(row_.data(), weight_.data(), row_.size(), width_, projected.data());
    }
    return projected.data();
  }

  /// Those of a run of queries overlap, so that they are kept as long as they are not more than
  /// `most`.
  void ForgetAbove(size_t most) {
    if (made_.size() > most) made_.clear();
  }

 private:
  size_t width_;
  fast::Turns waves_;
  std::vector<T> row_;  // the sinusoid of one offset, sines first
  std::vector<const T*> weight_;
  std::map<double, std::vector<T>> made_;
};

/// <q + u, k> and <q + v, W R_o> as two sums, q + u and q + v rounded first. An offset has a row of
/// its own, so that there is nothing to shift.
template <class T>
fast::Scoring<T> FastScoring(const Params& params, const fast::WeightValues<T>& weights,
                             int64_t head) {
  const auto width = static_cast<size_t>(params.attention.head_dim);
  const auto of_head = [&](std::string_view name, size_t size) {
    return weights.find(name)->second.data() + static_cast<size_t>(head) * size;
  };
  const T* const u = of_head("content_bias", width);
  const T* const v = of_head("position_bias", width);
  ProjectedOffsets<T> projected(
      params, of_head("position_weight", width * static_cast<size_t>(params.model_width)));
  return {.query_shift = {u, u + width},
          .score = [params, v, projected = std::move(projected), moved = std::vector<T>(width),
                    rows = std::vector<const T*>(),
                    products = std::vector<T>()](const fast::ScoredRow<T>& row) mutable {
            const size_t keys = row.keys.size();
            for (size_t c = 0; c < moved.size(); ++c) moved[c] = row.q[c] + v[c];
            projected.ForgetAbove(2 * keys);
            rows.clear();
            for (double key : row.keys) {
              double offset = row.query - key;
              if (params.clamp_length) {
                offset = std::min(offset, static_cast<double>(*params.clamp_length));
              }
              rows.push_back(projected.At(offset));
            }
            products.resize(keys);
            fast::DotRows(moved.data(), rows.data(), moved.size(), keys, products.data());
            for (size_t key = 0; key < keys; ++key) {
              row.scores[key] = row.scale * (row.scores[key] + products[key]);
            }
          }};
}

}  // namespace posgauge::transformer_xl
