#pragma once

#include <utility>
#include <vector>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/schemes/base/double_double.h"
#include "posgauge/verify/bound.h"
#include "posgauge/verify/kernel_info.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// The kernel's contract with the stages that posgauge hands over as accurate as they are handed
/// over. Against the end-to-end truth what posgauge hands over is a rounding of it; against the
/// local truth it is exact, as the GivenStages say.
std::pair<Contract, GivenStages> ContractWithGiven(const KernelInfo& info, bool local);

/// Frequencies as a kernel takes them. `values` are the numbers that it is handed, which its local
/// truth is computed from, unless they are a pair of doubles: that is the real number to within the
/// bound of `dd`.
struct SuppliedFrequencies {
  std::vector<DoubleDouble> values;  // radians per token; empty where the kernel takes none
  bool are_rounded = false;

  /// `real` are enclosures of the frequencies.
  SuppliedFrequencies(const KernelInfo& info, const EnclosedValues& real);

  /// The high parts, [pairs].
  std::vector<double> High() const;
};

/// The part of frequencies that a tensor of that name holds, [pairs]: high or low parts.
Tensor FrequencyTensor(const TensorSpec& spec, const std::vector<DoubleDouble>& frequencies);

}  // namespace posgauge
