#pragma once

#include <utility>
#include <vector>

#include "posgauge/schemes/base/double_double.h"
#include "posgauge/verify/bound.h"
#include "posgauge/verify/kernel_info.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// The kernel's contract with the stages that posgauge hands over as accurate as they are handed
/// over. Against the end-to-end truth what posgauge hands over is a rounding of it; against the
/// local truth it is exact, as the GivenStages say.
std::pair<Contract, GivenStages> ContractWithGiven(const KernelInfo& info, bool local);

/// The part of frequencies that a tensor of that name holds, [pairs]: high or low parts.
Tensor FrequencyTensor(const TensorSpec& spec, const std::vector<DoubleDouble>& frequencies);

}  // namespace posgauge
