#include "posgauge/verify/faults/bank.h"

namespace posgauge {

std::vector<Fault> FaultsOfWindows() { return {}; }

}  // namespace posgauge
