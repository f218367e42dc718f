#pragma once

#include <string>
#include <vector>

#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/law.h"

namespace posgauge {

/// The smallest distance of every bucket of one direction, of a scheme that has `thresholds`.
std::vector<double> FirstDistances(const Subject& subject);

/// Buckets of keys before one query or after it, at distances that tell and about every first one.
struct BucketSide {
  BucketSide(const Subject& subject, const LawCase& law_case, bool after);

  /// Records whether bucket i is what it must be, in words.
  void Hold(Comparisons& comparisons, size_t i, bool holds, const std::string& want) const;

  double query;
  std::vector<double> distances, buckets;  // distances ascend
};

}  // namespace posgauge
