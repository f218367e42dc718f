#pragma once

#include <optional>
#include <string>
#include <vector>

#include "posgauge/verify/judged_case.h"

namespace posgauge {

/// Place of a number among those of its dtype, ascending; -0 is just below +0. Of an integer
/// itself.
int64_t OrderOf(Dtype dtype, uint64_t bits);
uint64_t BitsAt(Dtype dtype, int64_t order);

/// Which numbers a check accepts of one element of an output.
struct AcceptedValue {
  size_t output = 0, index = 0;     // which output; flat index in it
  uint64_t exact = 0;               // bits of the truth, rounded
  int64_t lowest = 0, highest = 0;  // by OrderOf
};

/// Of every element of a case the numbers that its judge accepts, the others being the truth; the
/// judge itself is asked, by bisection. At most the first `most` elements of each output. Nothing
/// where the elements do not stand for themselves: the judge refuses the rounded truth, or the
/// kernel declares `rowshift`. Frequencies in two parts are left out: AcceptedSums has them.
std::optional<std::vector<AcceptedValue>> AcceptedValues(const JudgedCase& judged, bool by_budget,
                                                         double budget, size_t most);

/// Of a frequency that is the sum of two outputs: how far from high + low the sum may be.
struct AcceptedSum {
  double high = 0, low = 0, allowed = 0;  // radians per token
};

/// One a pair, in order; none where frequencies come in one part. By bisection as above.
std::vector<AcceptedSum> AcceptedSums(const JudgedCase& judged);

}  // namespace posgauge
