#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/reference/float64.h"
#include "posgauge/reference/interval.h"
#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/sincos2d.h"

namespace posgauge::sincos2d {

/// Sines, then cosines of each axis: He et al. 2022, util/pos_embed.py.
template <class R>
class Rows {
 public:
  explicit Rows(const Params& params)
      : params_(&params),
        frequency_h_(Frequencies(params, params.grid_h)),
        frequency_w_(Frequencies(params, params.grid_w)) {}

  std::vector<R> Row(double position) const {
    std::vector<R> values(static_cast<size_t>(params_->width), R(0));
    const int64_t token = static_cast<int64_t>(position) - params_->prefix;
    if (token < 0) return values;
    const int64_t row = token / params_->grid_w, column = token % params_->grid_w;
    const bool column_first = params_->first_axis == FirstAxis::column;
    Fill(row, frequency_h_, column_first ? params_->width / 2 : 0, values);
    Fill(column, frequency_w_, column_first ? 0 : params_->width / 2, values);
    return values;
  }

 private:
  // Radians an index of the axis: base^(-k/D) / (patches/base_size) / interpolation_scale.
  static std::vector<R> Frequencies(const Params& params, int64_t patches) {
    std::vector<R> frequencies;
    for (int64_t k = 0; k < params.AxisWaves(); ++k) {
      R frequency = RationalPower(R(params.base), -k, params.AxisWaves());
      if (params.base_size) frequency = frequency / (R(patches) / R(*params.base_size));
      if (params.interpolation_scale != 1) frequency = frequency / R(params.interpolation_scale);
      frequencies.push_back(Held(frequency));
    }
    return frequencies;
  }

  static void Fill(int64_t index, const std::vector<R>& frequency, int64_t first,
                   std::vector<R>& values) {
    for (size_t k = 0; k < frequency.size(); ++k) {
      const auto [cos, sin] = CosSin(Angle(R(index), frequency[k]));
      values[static_cast<size_t>(first) + k] = sin;
      values[static_cast<size_t>(first) + frequency.size() + k] = cos;
    }
  }

  const Params* params_;
  std::vector<R> frequency_h_, frequency_w_;
};

template <class R>
Rows<R> MakeRows(const Params& params, const NamedInputs&) {
  return Rows<R>(params);
}

}  // namespace posgauge::sincos2d
