#include "posgauge/verify/faults/bank.h"

namespace posgauge {

std::vector<Fault> FaultsOfBiases() { return {}; }

}  // namespace posgauge
