#include <algorithm>
#include <cmath>

#include "posgauge/reference/t5.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

using t5::Params;
using Place = ElementPlace;
using Number = double (*)(const Place&);

// Of the distance n to a key before the query, or, in the second half, after it.
int64_t Sided(const Params& params, double relative, int64_t bucket) {
  if (!params.bidirectional) return relative > 0 ? 0 : bucket;
  return relative > 0 ? params.DirectionBuckets() + bucket : bucket;
}
int64_t RightBucket(const Place& at) {
  return t5::Head<double>(at.Of<Params>(), *at.inputs, at.head).Bucket(at.Query(), at.Key());
}

// As the published code has it, in binary32; `cut` makes a whole number of the logarithm's steps.
template <class Cut>
int64_t LogBucket(const Params& params, float n, bool low, bool clamped, const Cut& cut) {
  const auto m = static_cast<float>(params.ExactBuckets());
  if (n < m) return static_cast<int64_t>(n);
  const float log = std::log(n / m);
  const auto others = static_cast<float>(params.DirectionBuckets() - params.ExactBuckets());
  const float steps = (low ? std::nextafter(log, 0.0F) : log) /
                      std::log(static_cast<float>(params.max_distance) / m) * others;
  const int64_t bucket = params.ExactBuckets() + static_cast<int64_t>(cut(std::max(steps, 0.0F)));
  return clamped ? std::min(bucket, params.DirectionBuckets() - 1) : bucket;
}
float Down(float x) { return std::floor(x); }
float Nearest(float x) { return std::round(x); }
float Up(float x) { return std::ceil(x); }

template <bool low, bool clamped, float (*cut)(float)>
double OfLogarithm(const Place& at) {
  const auto& params = at.Of<Params>();
  const double relative = at.Key() - at.Query();
  if (!params.bidirectional && relative > 0) return 0;
  const auto n = static_cast<float>(at.Distance());
  return static_cast<double>(Sided(params, relative, LogBucket(params, n, low, clamped, cut)));
}
// A distance of exactly half the buckets still counts as exact, all others follow by the same rule.
double BoundaryLate(const Place& at) {
  const auto& params = at.Of<Params>();
  const int64_t right = RightBucket(at), half = params.DirectionBuckets();
  const bool logarithmic = right % half > params.ExactBuckets();
  return static_cast<double>(logarithmic ? right - 1 : right);
}
double DirectionsSwapped(const Place& at) {
  const auto& params = at.Of<Params>();
  const int64_t right = RightBucket(at), half = params.DirectionBuckets();
  return static_cast<double>(params.bidirectional ? (right + half) % (2 * half) : right);
}
double ZeroCountsAsBehind(const Place& at) {
  const auto& params = at.Of<Params>();
  return params.bidirectional && at.Key() == at.Query()
             ? static_cast<double>(params.DirectionBuckets())
             : static_cast<double>(RightBucket(at));
}
double BehindCountsAsFarthest(const Place& at) {
  const auto& params = at.Of<Params>();
  return !params.bidirectional && at.Key() > at.Query()
             ? static_cast<double>(params.num_buckets - 1)
             : static_cast<double>(RightBucket(at));
}
double ExactAlone(const Place& at) {
  const auto& params = at.Of<Params>();
  const auto last = static_cast<double>(params.DirectionBuckets() - 1);
  const double relative = at.Key() - at.Query();
  return static_cast<double>(
      Sided(params, relative, static_cast<int64_t>(std::min(at.Distance(), last))));
}

// The table's entry of a bucket that may be beyond it.
template <Number bucket>
double EntryOf(const Place& at) {
  const ExactTensor& table = (*at.inputs)["table"];
  return table.At(std::min(static_cast<int64_t>(bucket(at)), table.shape[0] - 1), at.head);
}
double BucketsBlended(const Place& at) {
  const ExactTensor& table = (*at.inputs)["table"];
  const int64_t bucket = RightBucket(at);
  const double next = table.At(std::min(bucket + 1, table.shape[0] - 1), at.head);
  const double share = std::fmod(at.Distance() / 100, 1.0);
  return table.At(bucket, at.head) * (1 - share) + next * share;
}

template <Number bucket>
Change Bucket() {
  return ChangeElement{"t5", "buckets", bucket};
}
template <Number bucket>
Change Entry() {
  return ChangeElement{"t5", "bias", EntryOf<bucket>};
}
template <Number bucket>
Fault OfBucket(const char* id, const char* cause, const char* fix, const char* shows) {
  return {.id = id,
          .cause = cause,
          .fix = fix,
          .shows = shows,
          .change = Bucket<bucket>(),
          .more = {Entry<bucket>()}};
}

}  // namespace

std::vector<Fault> FaultsOfBuckets() {
  Fault directions = OfBucket<DirectionsSwapped>(
      "directions_swapped", "keys before the query take the half of the buckets behind it",
      "the second half is for keys after the query, j > i", "distance 0, bidirectional");
  Fault exact = OfBucket<ExactAlone>(
      "buckets_linear", "every distance has a bucket of its own, up to the last one",
      "buckets are exact up to half of a direction's and logarithmic from there",
      "a distance above half of a direction's buckets");
  exact.links = {"https://github.com/lucidrains/x-transformers/pull/10"};
  exact.kinds = {"T5_BUCKET"};
  std::vector<Fault> faults = {
      OfBucket<OfLogarithm<true, true, Down>>(
          "tie_lost", "the logarithm comes out an ulp low where it should be whole",
          "look distances up in a table of where buckets begin",
          "a distance at which a bucket begins: 16 of 32 buckets"),
      OfBucket<OfLogarithm<false, false, Down>>(
          "unclamped", "buckets of distances beyond max_distance are not held to the last one",
          "take the smaller of the bucket and the last one of its direction",
          "a distance well above max_distance"),
      OfBucket<OfLogarithm<false, true, Nearest>>(
          "bucket_rounded", "the logarithm's steps are rounded to nearest, not cut",
          "cut to a whole number", "a distance in the upper half of a logarithmic bucket"),
      OfBucket<OfLogarithm<false, true, Up>>("bucket_raised",
                                             "the logarithm's steps are rounded up, not cut",
                                             "cut to a whole number; rounding up is DeBERTa's rule",
                                             "a distance within a logarithmic bucket"),
      OfBucket<BoundaryLate>("bucket_boundary_late",
                             "logarithmic buckets begin one bucket too late",
                             "the first logarithmic bucket is that of max_exact itself",
                             "a distance of twice max_exact"),
      std::move(directions),
      OfBucket<ZeroCountsAsBehind>(
          "zero_counts_as_behind", "the query's own position counts as one behind it",
          "j > i, not j >= i, decides about the second half", "distance 0, bidirectional"),
      OfBucket<BehindCountsAsFarthest>("behind_counts_as_farthest",
                                       "keys behind the query take the last bucket, not the first",
                                       "of one direction only, distances below 0 count as 0",
                                       "a key behind the query, bidirectional false"),
      std::move(exact),
      {.id = "buckets_blended",
       .cause = "the bias is interpolated between a bucket and the next",
       .fix = "take the entry of the bucket alone",
       .shows = "distance 1",
       .change = ChangeElement{"t5", "bias", BucketsBlended}},
      {.id = "one_direction",
       .cause = "the buckets of a decoder are used in an encoder",
       .fix = "bidirectional is true for encoders: half of the buckets for each direction",
       .shows = "a key behind the query, bidirectional true",
       .change = Of<Params>([](Params& params) {
         if (!params.bidirectional || params.max_distance <= params.num_buckets / 2) return false;
         params.bidirectional = false;
         return true;
       })},
      {.id = "two_directions",
       .cause = "the buckets of an encoder are used in a decoder",
       .fix = "bidirectional is false for decoders: all buckets for keys before the query",
       .shows = "distance of a quarter of the buckets, bidirectional false",
       .change = Of<Params>([](Params& params) {
         if (params.bidirectional || params.num_buckets < 4) return false;
         params.bidirectional = true;
         return true;
       })},
      {.id = "table_transposed",
       .cause = "a table is read with its rows taken for columns",
       .fix = "its shape is [buckets, heads], [rows, width]: transpose what is stored otherwise",
       .shows = "two rows and two columns",
       .change = ChangeInputs{[](const Scheme&, NamedInputs& inputs) {
         const auto found = inputs.tensors.find("table");
         if (found == inputs.tensors.end()) return false;
         const ExactTensor before = found->second;
         const int64_t rows = before.shape[0], columns = before.shape[1];
         for (int64_t i = 0; i < rows; ++i) {
           for (int64_t j = 0; j < columns; ++j) {
             found->second.values[static_cast<size_t>(i * columns + j)] = before.At(j * rows + i);
           }
         }
         return rows > 1 && columns > 1;
       }}},
  };
  return faults;
}

}  // namespace posgauge
