#include "posgauge/verify/faults/bank.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace posgauge {

namespace {

// A parameter that a scheme names like another one's fault is the same fault, of both.
void Add(Fault fault, std::vector<Fault>& all) {
  const auto same = std::ranges::find(all, fault.id, &Fault::id);
  if (same == all.end()) {
    all.push_back(std::move(fault));
    return;
  }
  same->more.push_back(std::move(fault.change));
  std::ranges::move(fault.more, std::back_inserter(same->more));
  std::ranges::move(fault.links, std::back_inserter(same->links));
  std::ranges::move(fault.kinds, std::back_inserter(same->kinds));
}

}  // namespace

std::span<const Fault> FaultBank() {
  static const std::vector<Fault> bank = [] {
    std::vector<Fault> all;
    for (const auto part : {FaultsOfParameters, FaultsOfFrequencies, FaultsOfSchedules,
                            FaultsOfPositions, FaultsOfTables, FaultsOfRotations, FaultsOfWaves,
                            FaultsOfRows, FaultsOfAttention, FaultsOfBiases, FaultsOfWindows}) {
      std::vector<Fault> faults = part();
      for (Fault& fault : faults) Add(std::move(fault), all);
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
