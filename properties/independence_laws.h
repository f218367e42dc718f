#pragma once

#include <vector>

#include "posgauge/properties/law.h"

namespace posgauge {

/// What an output may depend on: its own pair, position and nothing else, however the work is cut,
/// ordered or stored. Bit for bit where the same work is done, or where the kernel declares it;
/// otherwise within the contract.
std::vector<Law> IndependenceLaws();

}  // namespace posgauge
