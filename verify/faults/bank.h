#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "posgauge/verify/faults/fault.h"

namespace posgauge {

/// Every fault that has a name, in the order of the stages; ids are unique.
std::span<const Fault> FaultBank();

/// Null where there is none of that id.
const Fault* FindFault(std::string_view id);

// The parts of the bank, one a file.
std::vector<Fault> FaultsOfParameters();   // of any scheme: read wrongly, ignored, exchanged
std::vector<Fault> FaultsOfFrequencies();  // of rotations and waves
std::vector<Fault> FaultsOfSchedules();    // of one scheme each
std::vector<Fault> FaultsOfPositions();
std::vector<Fault> FaultsOfTables();
std::vector<Fault> FaultsOfRotations();
std::vector<Fault> FaultsOfWaves();  // sinusoidal rows
std::vector<Fault> FaultsOfRows();   // learned, resampled, sincos2d, cape
std::vector<Fault>
FaultsOfAttention();                   // scores and outputs: masks, scale, tables, turning vectors
std::vector<Fault> FaultsOfBiases();   // alibi, t5, kerple, fire, sandwich
std::vector<Fault> FaultsOfWindows();  // deberta, swin, swin2

}  // namespace posgauge
