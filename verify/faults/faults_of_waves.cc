#include "posgauge/verify/faults/bank.h"

namespace posgauge {

std::vector<Fault> FaultsOfWaves() { return {}; }

}  // namespace posgauge
