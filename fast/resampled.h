#pragma once

#include <string>

#include "posgauge/fast/call.h"
#include "posgauge/fast/rows.h"
#include "posgauge/schemes/resampled.h"

namespace posgauge::resampled {

/// Along columns, kept for the other tokens of a column, then along rows.
fast::RowMaker FastRows(const Params& params, const fast::Call& call,
                        const std::vector<double>& positions, Dtype io, Dtype made);

/// Weights are formed in double-double and rounded once.
std::string RowContract(const Params& params, Dtype made);

}  // namespace posgauge::resampled
