#include "posgauge/properties/bucket_side.h"

#include <algorithm>

#include <fmt/format.h>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/distance_laws.h"

namespace posgauge {

std::vector<double> FirstDistances(const Subject& subject) {
  return subject.equations().exact().ReadyMade("thresholds", Dtype::f64)->values;
}

BucketSide::BucketSide(const Subject& subject, const LawCase& law_case, bool after) {
  const double largest = FarthestPosition(law_case);
  distances = TellingDistances(largest);
  for (double first : FirstDistances(subject)) {
    for (double distance : {first - 1, first, first + 1}) {
      if (distance >= 0 && distance <= largest) distances.push_back(distance);
    }
  }
  std::ranges::sort(distances);
  const auto repeated = std::ranges::unique(distances);
  distances.erase(repeated.begin(), repeated.end());
  query = after ? 0 : largest;
  buckets = EquationAnswer(subject, ProbeOf({}, query, distances, after)).out.Values();
}

void BucketSide::Hold(Comparisons& comparisons, size_t i, bool holds,
                      const std::string& want) const {
  comparisons.AddExact(query, holds, [&] {
    return Witness{.where = fmt::format("query at {}, distance {}", query, distances[i]),
                   .got = fmt::format("{}", buckets[i]),
                   .want = want};
  });
}

}  // namespace posgauge
