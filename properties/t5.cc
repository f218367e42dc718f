#include "posgauge/properties/t5.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/bucket_side.h"
#include "posgauge/properties/distance_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::t5 {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

Verdict CheckRising(const Subject& subject, const LawCase& c) {
  const BucketSide side(subject, c, false);
  const auto count = static_cast<double>(ParamsOf(subject).DirectionBuckets());
  Comparisons comparisons;
  for (size_t i = 0; i < side.buckets.size(); ++i) {
    const double least = i == 0 ? 0 : side.buckets[i - 1], got = side.buckets[i];
    side.Hold(comparisons, i, got >= least && got < count,
              fmt::format("in {}..{}", least, count - 1));
  }
  return comparisons.Take();
}

Verdict CheckExact(const Subject& subject, const LawCase& c) {
  const BucketSide side(subject, c, false);
  Comparisons comparisons;
  for (size_t i = 0; i < side.buckets.size(); ++i) {
    if (side.distances[i] >= static_cast<double>(ParamsOf(subject).ExactBuckets())) break;
    side.Hold(comparisons, i, side.buckets[i] == side.distances[i],
              fmt::format("{}", side.distances[i]));
  }
  return comparisons.Take();
}

Verdict CheckSaturation(const Subject& subject, const LawCase& c) {
  const auto last = static_cast<double>(ParamsOf(subject).DirectionBuckets() - 1);
  const auto from = static_cast<double>(ParamsOf(subject).max_distance);
  if (from > FarthestPosition(c)) throw Unsupported("no position is max_distance tokens away");
  const BucketSide side(subject, c, false);
  Comparisons comparisons;
  for (size_t i = 0; i < side.buckets.size(); ++i) {
    if (side.distances[i] < from) continue;
    side.Hold(comparisons, i, side.buckets[i] == last, fmt::format("{}", last));
  }
  return comparisons.Take();
}

// Every start of a bucket and the distance before it: where the logarithm is a whole number of
// steps, one that is an ulp low drops a bucket.
Verdict CheckThresholds(const Subject& subject, const LawCase& c) {
  const BucketSide side(subject, c, false);
  const std::vector<double> first = FirstDistances(subject);
  Comparisons comparisons;
  for (size_t i = 0; i < side.buckets.size(); ++i) {
    const auto above = std::ranges::upper_bound(first, side.distances[i]);
    const auto want = static_cast<double>(above - first.begin() - 1);
    side.Hold(comparisons, i, side.buckets[i] == want, fmt::format("{}", want));
  }
  return comparisons.Take();
}

Verdict CheckSides(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const BucketSide before(subject, c, false), after(subject, c, true);
  Comparisons comparisons;
  for (size_t i = 0; i < after.buckets.size(); ++i) {
    double want = 0;
    if (params.bidirectional && after.distances[i] > 0) {
      want = before.buckets[i] + static_cast<double>(params.DirectionBuckets());
    }
    after.Hold(comparisons, i, after.buckets[i] == want, fmt::format("{}", want));
  }
  return comparisons.Take();
}

// The biases of keys about one query and their buckets.
struct Row {
  Row(const Subject& subject, const LawCase& c)
      : answer(subject, [&] {
          NamedInputs inputs = InputsOf(subject, c);
          const double largest = FarthestPosition(c);
          return ProbeOf(inputs, largest, TellingDistances(largest));
        }()) {
    NamedInputs positions = answer.inputs;
    positions.tensors.erase("table");
    buckets = subject.equations().exact().Buckets(positions);
  }

  EquationAnswer answer;
  std::vector<int64_t> buckets;
};

Verdict CheckOneBias(const Subject& subject, const LawCase& c) {
  const Row row(subject, c);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(row.answer.quantity, row.answer.out.shape())) {
    const auto key = static_cast<size_t>(place.last);
    const auto same = std::ranges::find(row.buckets, row.buckets[key]);
    EquationPlace first = place;
    first.last = same - row.buckets.begin();
    CompareBits(comparisons, row.answer, place, row.answer, first);
  }
  return comparisons.Take();
}

Verdict CheckEntries(const Subject& subject, const LawCase& c) {
  const Row row(subject, c);
  const ExactTensor& table = row.answer.inputs["table"];
  const Format format = FormatOf(subject.io());
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(row.answer.quantity, row.answer.out.shape())) {
    const double entry = table.At(row.buckets[static_cast<size_t>(place.last)], place.head);
    const double want = RoundTo(format, entry), got = row.answer.Value(place);
    comparisons.Add(row.answer.QueryPosition(place), std::fabs(got - want), row.answer.Limit(place),
                    std::fabs(want), [&] {
                      return Witness{.where = row.answer.Text(place),
                                     .got = HexFloat(got),
                                     .want = HexFloat(want)};
                    });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {
      {"rising", "buckets never fall as the distance grows, and none is beyond the last", "buckets",
       true, CheckRising},
      {"exact_distances", "the first half of the buckets of a direction are one distance each",
       "buckets", true, CheckExact},
      {"saturation", "from max_distance on there is one bucket, the last of the direction",
       "buckets", true, CheckSaturation},
      {"thresholds", "a bucket begins where powers of whole numbers say, ties included", "buckets",
       true, CheckThresholds},
      {"sides",
       "keys after the query have the buckets of the same distances before it, in the second "
       "half; or bucket 0 where there is one direction only",
       "buckets", true, CheckSides},
      {"one_bias", "keys of one bucket have one bias, bit for bit", "bias", false, CheckOneBias},
      {"entries", "a bias is the table's entry of its bucket and head", "bias", false,
       CheckEntries},
      TranslationLaw()};
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, int64_t num_buckets, int64_t stretch,
                       bool bidirectional) {
    Params params{.attention = attention,
                  .num_buckets = bidirectional ? std::max<int64_t>(4, num_buckets) : num_buckets,
                  .bidirectional = bidirectional};
    params.max_distance = params.ExactBuckets() + stretch;
    return params;
  };
  return rc::gen::apply(
      make, AnyAttention(), rc::gen::element<int64_t>(32, 8, 4, 2, 64, 7, 33, 320),
      rc::gen::element<int64_t>(120, 1, 2, 16, 24, 112, 1000, 720, 65536, int64_t{1} << 30),
      rc::gen::arbitrary<bool>());
}

}  // namespace posgauge::t5
