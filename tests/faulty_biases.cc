#include "faulty_biases.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "numbered_runs.h"
#include "posgauge/reference/fire.h"
#include "posgauge/reference/kerple.h"
#include "posgauge/reference/sandwich.h"
#include "posgauge/reference/t5.h"
#include "posgauge/schemes/base/kind.h"
#include "posgauge/schemes/base/scalars.h"
#include "tensor_view.h"

namespace posgauge {

namespace {

// One element of a call.
struct Place {
  const Scheme* scheme;
  const NamedInputs* inputs;
  int64_t head, query_index, key_index;

  template <class Params>
  const Params& Of() const {
    return std::get<Params>(*scheme);
  }
  double Query() const { return (*inputs)["query_positions"].At(query_index); }
  double Key() const { return (*inputs)["key_positions"].At(key_index); }
  double Distance() const { return std::fabs(Query() - Key()); }
  double Weight(const char* name) const { return (*inputs)[name].At(head); }
};

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

struct Fault {
  std::string_view name, scheme, quantity;
  double (*value)(const Place&);
};

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

constexpr std::array kDtypes = {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16};

void Serve(const Fault& fault, const posgauge_call& call) {
  std::vector<Scalar> scalars;
  for (uint32_t i = 0; i < call.num_scalars; ++i) {
    scalars.emplace_back(call.scalars[i].name, call.scalars[i].value);
  }
  const Scheme scheme = SchemeFromScalars(call.scheme, scalars);
  NamedInputs inputs;
  for (uint32_t i = 0; i < call.num_inputs; ++i) {
    const View view(call.inputs[i]);
    ExactTensor& tensor = inputs.tensors[call.inputs[i].name];
    int64_t count = 1;
    for (int axis = 0; axis < call.inputs[i].tensor.ndim; ++axis) {
      tensor.shape.push_back(view.shape(axis));
      count *= view.shape(axis);
    }
    for (int64_t flat = 0; flat < count; ++flat) tensor.values.push_back(view.Flat(flat));
  }
  const View out(call.outputs[0]);
  const bool buckets = fault.quantity == "buckets";
  const int64_t queries = inputs["query_positions"].shape[0];
  const int64_t keys = inputs["key_positions"].shape[0];
  const int64_t heads = buckets ? 1 : AttentionOf(scheme).heads;
  int64_t flat = 0;
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t query = 0; query < queries; ++query) {
      for (int64_t key = 0; key < keys; ++key, ++flat) {
        const double value = fault.value({&scheme, &inputs, head, query, key});
        if (buckets) {
          out.SetInteger(static_cast<int64_t>(value), flat);
        } else {
          out.SetFlat(value, flat);
        }
      }
    }
  }
}

void ServeNumber(size_t index, const posgauge_call& call) { Serve(kFaults[index], call); }

constexpr auto kRuns = NumberedRuns<ServeNumber, kFaults.size()>();

struct Library {
  std::deque<std::string> texts;  // what the descriptors point to
  std::vector<posgauge_kernel> kernels;

  const char* Keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }

  std::string WeightsFor(std::string_view scheme) const {
    std::string text;
    std::vector<Weight> weights;
    if (scheme == "t5") weights = t5::Params().Weights();
    if (scheme == "fire") weights = fire::Params().Weights();
    if (scheme == "kerple") weights = WithEverySwitch<kerple::Params>(true).Weights();
    for (const Weight& weight : weights) text += fmt::format(" {}?:f64", weight.name);
    return text;
  }

  void Add(size_t index, Dtype dtype) {
    const Fault& fault = kFaults[index];
    const bool buckets = fault.quantity == "buckets";
    std::string inputs = "query_positions:i64,f64 key_positions:i64,f64";
    if (!buckets) inputs += WeightsFor(fault.scheme);
    if (fault.quantity == "scores") inputs += fmt::format(" q:{0} k:{0}", Name(dtype));
    const std::string contract = fmt::format(
        "position=i64 frequency=f64:pow trig=1ulp:f64 rotate=f64 accumulate=f64 store={}:rne "
        "flush=no",
        Name(dtype));
    kernels.push_back(
        {.size = sizeof(posgauge_kernel),
         .name = Keep(fmt::format("faulty.{}.{}.{}", fault.name, fault.quantity, Name(dtype))),
         .schemes = Keep(std::string(fault.scheme)),
         .quantity = Keep(std::string(fault.quantity)),
         .inputs = Keep(inputs),
         .outputs = Keep(fmt::format("{}:{}", fault.quantity, Name(dtype))),
         .pairings = "",
         .contract = buckets ? "" : Keep(contract),
         .invariances = "chunking batch",
         .in_place = 0,
         .largest_rotary_dim = 0,
         .largest_position = 0,
         .run = kRuns[index]});
  }

  Library() {
    for (size_t index = 0; index < kFaults.size(); ++index) {
      if (kFaults[index].quantity == "buckets") {
        Add(index, Dtype::i32);
      } else {
        for (Dtype dtype : kDtypes) Add(index, dtype);
      }
    }
  }
};

}  // namespace

std::span<const posgauge_kernel> FaultyBiases() {
  static const Library library;
  return library.kernels;
}

}  // namespace posgauge
