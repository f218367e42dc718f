#pragma once

#include "posgauge/verify/faults/replay.h"
#include "posgauge/verify/faults/staged.h"
#include "posgauge/verify/random.h"

namespace posgauge {

/// The frequencies that a scheme of a rotation or of added waves means, in binary64, with the sign
/// of its direction, and what faults make of them. Throws ParameterError for other schemes.
FrequencySeries SeriesOf(const Scheme& scheme);

/// The positions as they are used, the shape of the input: faults of that stage act on each.
std::vector<double> PositionsOf(const ExactTensor& positions, Staged& staged);

/// A table entry on its way from angle to memory.
class EntryMaker {
 public:
  EntryMaker(Staged& staged, const LibraryNoise& noise);

  /// `place` with its angle still to be formed.
  TableEntry operator()(EntryPlace place) const;

 private:
  std::vector<const ChangeAngle*> angles_;
  std::vector<const ChangeEntry*> entries_;
  LibraryNoise noise_;
};

/// 1 + e with |e| up to the noise; `key` says whose.
double Noisy(const LibraryNoise& noise, uint64_t key, uint64_t more = 0);

}  // namespace posgauge
