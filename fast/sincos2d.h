#pragma once

#include <memory>
#include <string>
#include <vector>

#include "posgauge/fast/angles.h"
#include "posgauge/fast/rotation.h"
#include "posgauge/fast/rows.h"
#include "posgauge/fast/simd.h"
#include "posgauge/schemes/sincos2d.h"

namespace posgauge::sincos2d {

/// Half rows of one axis, [patches, width/2]: sines, then cosines.
class AxisTable {
 public:
  /// Frequencies carry the scale of the coordinates: relative errors below 2^-92 (two quotients
  /// more than InversePower).
  AxisTable(const Params& params, int64_t patches, Dtype dtype)
      : half_(static_cast<size_t>(params.width / 2)),
        size_(SizeOf(dtype)),
        rows_(static_cast<size_t>(patches) * half_) {
    const fast::Wide log_base = fast::Log(params.base);
    std::vector<double> high, low;
    for (int64_t k = 0; k < params.AxisWaves(); ++k) {
      fast::Wide frequency = fast::InversePower(log_base, k, params.AxisWaves());
      if (params.base_size) {
        frequency = frequency * fast::Wide(static_cast<double>(*params.base_size)) /
                    fast::Wide(static_cast<double>(patches));
      }
      frequency = frequency / fast::Wide(params.interpolation_scale);
      high.push_back(frequency.high);
      low.push_back(frequency.low);
    }
    const fast::Turns turns = fast::TurnsOf(high, low);
    for (int64_t index = 0; index < patches; ++index) {
      std::byte* const sines = rows_.data() + static_cast<size_t>(index) * half_ * size_;
      fast::CosSinRow(turns, fast::TurnPositionOf(static_cast<double>(index)), 1, dtype,
                      sines + half_ / 2 * size_, sines);
    }
  }

  const void* At(int64_t index) {
    return rows_.data() + static_cast<size_t>(index) * half_ * size_;
  }

 private:
  size_t half_, size_;
  fast::RowBuffer rows_;
};

/// Two halves out of the tables of the axes, made once a call.
inline fast::RowMaker FastRows(const Params& params, const fast::Call&,
                               const std::vector<double>& positions, Dtype, Dtype made) {
  const auto of_h = std::make_shared<AxisTable>(params, params.grid_h, made);
  const auto of_w = std::make_shared<AxisTable>(params, params.grid_w, made);
  return [params, of_h, of_w, made, &positions](int64_t token) -> fast::Row {
    const auto half = static_cast<size_t>(params.width / 2);
    const int64_t patch =
        static_cast<int64_t>(positions[static_cast<size_t>(token)]) - params.prefix;
    if (patch < 0) return {{{nullptr, made, half}, {nullptr, made, half}}};
    const fast::RowPiece row{of_h->At(patch / params.grid_w), made, half};
    const fast::RowPiece column{of_w->At(patch % params.grid_w), made, half};
    return params.first_axis == FirstAxis::column ? fast::Row{column, row} : fast::Row{row, column};
  };
}

inline std::string RowContract(const Params&, Dtype made) {
  return fmt::format("position=exact frequency=dd:rn angle=turn96 trig=2ulp:f64 table={}",
                     Name(made));
}

}  // namespace posgauge::sincos2d
