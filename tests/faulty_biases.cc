#include "faulty_biases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "faulty_elements.h"
#include "posgauge/reference/fire.h"
#include "posgauge/reference/kerple.h"
#include "posgauge/reference/sandwich.h"
#include "posgauge/reference/t5.h"

namespace posgauge {

namespace {

using Place = ElementPlace;

// T5: of the distance n to a key before the query, or, in the second half, after it.
int64_t Sided(const t5::Params& params, double relative, int64_t bucket) {
  if (!params.bidirectional) return relative > 0 ? 0 : bucket;
  return relative > 0 ? params.DirectionBuckets() + bucket : bucket;
}
int64_t ExactBucket(const Place& at, double query, double key) {
  return t5::Head<double>(at.Of<t5::Params>(), *at.inputs, at.head).Bucket(query, key);
}
int64_t LogBucket(const t5::Params& params, float n, bool low, bool clamped) {
  const auto m = static_cast<float>(params.ExactBuckets());
  if (n < m) return static_cast<int64_t>(n);
  const float log = std::log(n / m);
  const auto others = static_cast<float>(params.DirectionBuckets() - params.ExactBuckets());
  const float steps = (low ? std::nextafter(log, 0.0F) : log) /
                      std::log(static_cast<float>(params.max_distance) / m) * others;
  const int64_t bucket = params.ExactBuckets() + static_cast<int64_t>(std::max(steps, 0.0F));
  return clamped ? std::min(bucket, params.DirectionBuckets() - 1) : bucket;
}

// A logarithm in binary32 that is an ulp low, as fast libraries may be.
double TieLost(const Place& at) {
  const auto& params = at.Of<t5::Params>();
  const auto n = static_cast<float>(at.Distance());
  return static_cast<double>(
      Sided(params, at.Key() - at.Query(), LogBucket(params, n, true, true)));
}
double DirectionSwapped(const Place& at) {
  return static_cast<double>(ExactBucket(at, at.Key(), at.Query()));
}
double OffByOne(const Place& at) {
  return static_cast<double>(ExactBucket(at, at.Query(), at.Key() - 1));
}
double Unclamped(const Place& at) {
  const auto& params = at.Of<t5::Params>();
  const auto n = static_cast<float>(at.Distance());
  return static_cast<double>(
      Sided(params, at.Key() - at.Query(), LogBucket(params, n, false, false)));
}
double DistanceInt16(const Place& at) {
  const auto wrapped =
      static_cast<int16_t>(static_cast<uint16_t>(static_cast<int64_t>(at.Key() - at.Query())));
  return static_cast<double>(ExactBucket(at, 0, wrapped));
}

// The table's entry of a bucket that may be beyond it.
template <double (*bucket)(const Place&)>
double EntryOf(const Place& at) {
  const ExactTensor& table = (*at.inputs)["table"];
  return table.At(std::min(static_cast<int64_t>(bucket(at)), table.shape[0] - 1), at.head);
}

// [heads, buckets] taken for [buckets, heads].
double TableTransposed(const Place& at) {
  const int64_t bucket = ExactBucket(at, at.Query(), at.Key());
  return (*at.inputs)["table"].At(at.head * at.Of<t5::Params>().num_buckets + bucket);
}
double BucketsBlended(const Place& at) {
  const ExactTensor& table = (*at.inputs)["table"];
  const int64_t bucket = ExactBucket(at, at.Query(), at.Key());
  const double next = table.At(std::min(bucket + 1, table.shape[0] - 1), at.head);
  const double share = std::fmod(at.Distance() / 100, 1.0);
  return table.At(bucket, at.head) * (1 - share) + next * share;
}

// FIRE: the network of x.
double NetworkOf(const Place& at, double x) {
  const NamedInputs& in = *at.inputs;
  double sum = in["b2"].At(at.head);
  for (int64_t unit = 0; unit < at.Of<fire::Params>().mlp_width; ++unit) {
    sum += in["w2"].At(at.head, unit) * std::max(in["w1"].At(unit) * x + in["b1"].At(unit), 0.0);
  }
  return sum;
}
double Psi(const Place& at, double t) { return std::log1p((*at.inputs)["c"].At(0) * t); }
double Threshold(const Place& at) { return (*at.inputs)["threshold"].At(0); }

double NormalisedByKey(const Place& at) {
  const double scale = std::max(Threshold(at), at.Key());
  return NetworkOf(at, Psi(at, at.Distance()) / (Psi(at, scale) + at.Of<fire::Params>().epsilon));
}
double ThresholdIgnored(const Place& at) {
  const double scale = std::max(512.0, at.Query());
  return NetworkOf(at, Psi(at, at.Distance()) / (Psi(at, scale) + at.Of<fire::Params>().epsilon));
}
double EpsilonMissing(const Place& at) {
  return NetworkOf(at, Psi(at, at.Distance()) / Psi(at, std::max(Threshold(at), at.Query())));
}
double FireMissingOne(const Place& at) {
  const double c = (*at.inputs)["c"].At(0), scale = std::max(Threshold(at), at.Query());
  return NetworkOf(
      at, std::log(c * at.Distance()) / (std::log(c * scale) + at.Of<fire::Params>().epsilon));
}

// KERPLE.
double KerpleBias(const Place& at) {
  return kerple::Head<double>(at.Of<kerple::Params>(), *at.inputs, at.head)
      .Bias(at.Query(), at.Key());
}
bool IsLog(const Place& at) { return at.Of<kerple::Params>().kernel == kerple::Kernel::log; }
double KerpleMissingOne(const Place& at) {
  if (!IsLog(at)) return -at.Weight("r1") * std::pow(at.Distance() + 1, at.Weight("r2"));
  return -at.Weight("r1") * std::log(at.Weight("r2") * at.Distance());
}
double LogBase(const Place& at) {
  if (!IsLog(at)) return KerpleBias(at);
  return -at.Weight("r1") * std::log2(1 + at.Weight("r2") * at.Distance());
}
double Log1pNaive(const Place& at) {
  if (!IsLog(at)) return KerpleBias(at);
  const auto x = static_cast<float>(at.Weight("r2") * at.Distance());
  return -at.Weight("r1") * static_cast<double>(std::log(1 + x));
}
double RateIgnored(const Place& at) {
  if (!IsLog(at)) return -at.Weight("r1") * at.Distance();
  return -at.Weight("r1") * std::log1p(at.Distance());
}
double ExponentDoubled(const Place& at) {
  if (IsLog(at)) return KerpleBias(at);
  return -at.Weight("r1") * std::pow(at.Distance(), 2 * at.Weight("r2"));
}
// A lower triangle of distances, zero above it.
double FutureZero(const Place& at) { return at.Key() > at.Query() ? 0 : KerpleBias(at); }
// The factor on the whole score.
double FactorOnBias(const Place& at) {
  const auto& params = at.Of<kerple::Params>();
  if (!params.attention.Visible(at.Query(), at.Key())) return -HUGE_VAL;
  const double dot =
      Scaled(params.attention, DotOf<double>(*at.inputs, at.head, at.query_index, at.key_index));
  const double factor =
      params.weighted ? std::exp(-at.Weight("w1") * std::pow(at.Distance(), at.Weight("w2"))) : 0.5;
  return (dot + KerpleBias(at)) * factor;
}

// Sandwich: the sum of a function of D base^(-2k/width), k from first_index on.
template <class Term>
double SumOf(const Place& at, int64_t first, const Term& term) {
  const auto& params = at.Of<sandwich::Params>();
  double sum = params.centred ? -static_cast<double>(params.sandwich_width / 2) : 0;
  for (int64_t k = first; k < first + params.sandwich_width / 2; ++k) {
    const double exponent =
        -2 * static_cast<double>(k) / static_cast<double>(params.sandwich_width);
    sum += term((at.Query() - at.Key()) * std::pow(params.base, exponent));
  }
  return sum;
}
double HeadFactor(const Place& at) {
  return static_cast<double>(at.Of<sandwich::Params>().attention.heads) /
         (8 * static_cast<double>(at.head + 1));
}
double NoCosine(const Place& at) {
  return SumOf(at, at.Of<sandwich::Params>().first_index, [](double x) { return x; }) *
         HeadFactor(at);
}
double Sines(const Place& at) {
  return SumOf(at, at.Of<sandwich::Params>().first_index, [](double x) { return std::sin(x); }) *
         HeadFactor(at);
}
double RatioIgnored(const Place& at) {
  return SumOf(at, at.Of<sandwich::Params>().first_index, [](double x) { return std::cos(x); });
}
double OtherIndex(const Place& at) {
  return SumOf(at, 1 - at.Of<sandwich::Params>().first_index,
               [](double x) { return std::cos(x); }) *
         HeadFactor(at);
}

using Fault = ElementFault;

constexpr std::array kFaults = {
    Fault{"tie_lost", "t5", "buckets", TieLost},
    Fault{"direction_swapped", "t5", "buckets", DirectionSwapped},
    Fault{"off_by_one", "t5", "buckets", OffByOne},
    Fault{"unclamped", "t5", "buckets", Unclamped},
    Fault{"distance_int16", "t5", "buckets", DistanceInt16},
    Fault{"tie_lost", "t5", "bias", EntryOf<TieLost>},
    Fault{"direction_swapped", "t5", "bias", EntryOf<DirectionSwapped>},
    Fault{"off_by_one", "t5", "bias", EntryOf<OffByOne>},
    Fault{"unclamped", "t5", "bias", EntryOf<Unclamped>},
    Fault{"distance_int16", "t5", "bias", EntryOf<DistanceInt16>},
    Fault{"table_transposed", "t5", "bias", TableTransposed},
    Fault{"buckets_blended", "t5", "bias", BucketsBlended},
    Fault{"normalised_by_key", "fire", "bias", NormalisedByKey},
    Fault{"threshold_ignored", "fire", "bias", ThresholdIgnored},
    Fault{"epsilon_missing", "fire", "bias", EpsilonMissing},
    Fault{"fire_missing_one", "fire", "bias", FireMissingOne},
    Fault{"missing_one", "kerple", "bias", KerpleMissingOne},
    Fault{"log_base", "kerple", "bias", LogBase},
    Fault{"log1p_naive", "kerple", "bias", Log1pNaive},
    Fault{"rate_ignored", "kerple", "bias", RateIgnored},
    Fault{"exponent_doubled", "kerple", "bias", ExponentDoubled},
    Fault{"future_zero", "kerple", "bias", FutureZero},
    Fault{"factor_on_bias", "kerple", "scores", FactorOnBias},
    Fault{"no_cosine", "sandwich", "bias", NoCosine},
    Fault{"sines", "sandwich", "bias", Sines},
    Fault{"ratio_ignored", "sandwich", "bias", RatioIgnored},
    Fault{"other_index", "sandwich", "bias", OtherIndex},
};

}  // namespace

std::span<const posgauge_kernel> FaultyBiases() {
  static const ElementFaults<kFaults> faults;
  return faults.kernels();
}

}  // namespace posgauge
