#pragma once

#include <string>
#include <vector>

#include "posgauge/fast/call.h"
#include "posgauge/fast/rows.h"
#include "posgauge/schemes/cape.h"

namespace posgauge::cape {

/// One row at a time, from its position in double-double. Throws ParameterError where the terms of
/// a scaled position add up to more than fast::kLargestPosition.
fast::RowMaker FastRows(const Params& params, const fast::Call& call,
                        const std::vector<double>& positions, Dtype io, Dtype made);

/// Error: see cape.cc.
std::string RowContract(const Params& params, Dtype made);

}  // namespace posgauge::cape
