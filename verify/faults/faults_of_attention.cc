#include "posgauge/verify/faults/bank.h"

namespace posgauge {

std::vector<Fault> FaultsOfAttention() { return {}; }

}  // namespace posgauge
