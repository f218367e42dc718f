#pragma once

#include <string>
#include <vector>

#include "posgauge/fast/call.h"
#include "posgauge/fast/rows.h"
#include "posgauge/schemes/learned.h"

namespace posgauge::learned {

/// A gather: rows are read where they lie.
inline fast::RowMaker FastRows(const Params& params, const fast::Call& call,
                               const std::vector<double>& positions, Dtype io, Dtype) {
  const fast::Array table = call.Input("table", {io}, {params.rows, params.width});
  Require(table.stride[1] == 1, "the channels of table must be contiguous");
  return [params, table, &positions](int64_t token) -> fast::Row {
    const auto channels = static_cast<size_t>(params.width);
    const double row = positions[static_cast<size_t>(token)] + static_cast<double>(params.offset);
    const bool padding = params.padding_index && row == static_cast<double>(*params.padding_index);
    if (padding || row >= static_cast<double>(params.rows))
      return {{{nullptr, table.dtype, channels}, {}}};
    return {{{table.At(static_cast<int64_t>(row)), table.dtype, channels}, {}}};
  };
}

inline std::string RowContract(const Params&, Dtype made) {
  return fmt::format("position=exact table={}", Name(made));
}

}  // namespace posgauge::learned
