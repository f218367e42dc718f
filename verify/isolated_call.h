#pragma once

#include <string>
#include <vector>

#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/kernel_call.h"

namespace posgauge {

/// What a call is made of, beside its outputs.
struct CallInputs {
  std::string scheme;
  std::vector<Scalar> scalars;
  std::vector<const Named*> tensors;
};

/// CallKernel for a kernel in a process of its own. It runs twice: with tensors at the beginning of
/// their memory, then at the end of it, before and behind which nobody may read or write, and with
/// other poison in its outputs, in the heap and on the stack. Where results differ it runs a third
/// time, to tell what the place of a tensor may do, which is lawful, from what it may not. The
/// outputs are those of the first run.
void CallIsolated(const KernelInfo& info, const CallInputs& inputs, std::vector<Named>& outputs,
                  Placement placement);

}  // namespace posgauge
