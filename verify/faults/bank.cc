#include "posgauge/verify/faults/bank.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace posgauge {

std::span<const Fault> FaultBank() {
  static const std::vector<Fault> bank = [] {
    std::vector<Fault> all;
    for (const auto part : {FaultsOfParameters, FaultsOfFrequencies, FaultsOfSchedules,
                            FaultsOfPositions, FaultsOfTables, FaultsOfRotations, FaultsOfWaves,
                            FaultsOfRows, FaultsOfAttention, FaultsOfBiases, FaultsOfWindows}) {
      std::ranges::move(part(), std::back_inserter(all));
    }
    return all;
  }();
  return bank;
}

const Fault* FindFault(std::string_view id) {
  const std::span<const Fault> bank = FaultBank();
  const auto found = std::ranges::find(bank, id, &Fault::id);
  return found == bank.end() ? nullptr : &*found;
}

}  // namespace posgauge
