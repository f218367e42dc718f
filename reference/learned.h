#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/learned.h"

namespace posgauge::learned {

/// P[p + offset].
template <class R>
class Rows {
 public:
  Rows(const Params& params, const NamedInputs& inputs)
      : params_(&params), table_(&inputs["table"]) {}

  std::vector<R> Row(double position) const {
    std::vector<R> values(static_cast<size_t>(params_->width), R(0));
    const int64_t row = static_cast<int64_t>(position) + params_->offset;
    if (row >= params_->rows || row == params_->padding_index) return values;
    for (int64_t channel = 0; channel < params_->width; ++channel) {
      values[static_cast<size_t>(channel)] = R(table_->At(row, channel));
    }
    return values;
  }

 private:
  const Params* params_;
  const ExactTensor* table_;
};

template <class R>
Rows<R> MakeRows(const Params& params, const NamedInputs& inputs) {
  return {params, inputs};
}

}  // namespace posgauge::learned
