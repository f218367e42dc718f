#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

std::vector<Fault> FaultsOfAttention() {
  std::vector<Fault> faults = FaultsOfMasksAndScales();
  Append(faults, FaultsOfDistances());
  Append(faults, FaultsOfVectors());
  Append(faults, FaultsOfCounts());
  Append(faults, FaultsOfTurns());
  return faults;
}

}  // namespace posgauge
