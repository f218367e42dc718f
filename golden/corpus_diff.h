#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "posgauge/golden/corpus.h"

namespace posgauge::golden {

/// Values of one output in one dtype that are not what they were.
struct ValueChange {
  std::string output;
  Dtype dtype = Dtype::f64;
  int64_t changed = 0, of = 0;
  /// How many numbers of the dtype the farthest moved, counted over zero; where one of the two is
  /// not a number, the number of all.
  uint64_t farthest = 0;
  int64_t distances = 0;  // how many distances changed: the real number is another
};

/// What became of one case, or of a whole manifest where `id` is empty.
struct CaseChange {
  std::string place, id;
  std::string what;  // "added", "removed", "changed"
  /// Each why: "scheme.base: 10000.0 -> 500000.0", "input positions", "result: valid -> invalid",
  /// "certificate of cos f64: max_bits 128 -> 257".
  std::vector<std::string> reasons;
  std::vector<ValueChange> values;
};

/// What changed between two versions of a corpus, in the order of places and of the new cases.
std::vector<CaseChange> DiffCorpora(const std::vector<PlacedManifest>& before,
                                    const std::vector<PlacedManifest>& after);

/// Lines that the new changelog has and the old one has not, in order.
std::vector<std::string> NewLines(const std::string& before, const std::string& after);

}  // namespace posgauge::golden
