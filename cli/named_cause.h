#pragma once

#include "posgauge/verify/check.h"

namespace posgauge::cli {

/// Adds to the failed check of a kernel which of the known faults explains its values, or a note
/// that none does. Asks the kernel again; nothing of a kernel that failed otherwise than by values.
void NameCause(const Subject& subject, const CheckPlan& plan, KernelCheck& check);

}  // namespace posgauge::cli
