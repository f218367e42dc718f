#include "faulty_attention.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "posgauge/reference/exact_attention.h"
#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/attention_bound.h"
#include "tensor_view.h"

namespace posgauge {

namespace {

enum Is : size_t {
  kHonest,
  // of the inputs
  kPositionBf16,
  kQueriesAlike,
  kHeadLeak,
  // of the scheme
  kNoMask,
  kScoreScale,
  kMaxBiasIgnored,
  kHeadsRoundedUp,
  kSliceIgnored,
  kKeyFormFalls,
  // of the results
  kSign,
  kShortSighted,
  kSlopesFromZero,
  kNanSpreads,
  kUnstable,
  kCount
};

constexpr std::array<std::string_view, kCount> kNames = {
    "honest",      "position_bf16",    "queries_alike",    "head_leak",     "no_mask",
    "score_scale", "max_bias_ignored", "heads_rounded_up", "slice_ignored", "key_form_falls",
    "sign",        "short_sighted",    "slopes_from_zero", "nan_spreads",   "unstable"};

constexpr std::array kDtypes = {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16};
constexpr size_t kQuantities = kVariantNames<AttentionQuantity>.size();
constexpr size_t kPerFault = kQuantities * kDtypes.size();

struct Offer {
  size_t fault;
  AttentionQuantity quantity;
  Dtype dtype;
};

constexpr Offer OfferAt(size_t index) {
  const size_t rest = index % kPerFault;
  return {index / kPerFault, static_cast<AttentionQuantity>(rest / kDtypes.size()),
          kDtypes[rest % kDtypes.size()]};
}

bool HasEffect(size_t fault, AttentionQuantity quantity) {
  switch (fault) {
    case kPositionBf16:
    case kQueriesAlike:
    case kShortSighted:
      return quantity != AttentionQuantity::slopes;
    case kHeadLeak:
    case kNoMask:
    case kScoreScale:
      return quantity == AttentionQuantity::scores || quantity == AttentionQuantity::attention;
    case kNanSpreads:
      return quantity == AttentionQuantity::attention;
    case kSlopesFromZero:
      return quantity == AttentionQuantity::slopes;
    case kSign:
      return quantity == AttentionQuantity::slopes || quantity == AttentionQuantity::bias;
    case kMaxBiasIgnored:
    case kHeadsRoundedUp:
    case kSliceIgnored:
      return quantity != AttentionQuantity::buckets;
    case kKeyFormFalls:
      return quantity == AttentionQuantity::bias;
    default:
      return true;
  }
}

std::string ContractOf(Dtype dtype) {
  return fmt::format(
      "position=i64 frequency=f64:pow trig=1ulp:f64 rotate=f64 accumulate=f64 store={}:rne "
      "flush=no",
      dtype == Dtype::i32 ? "f64" : Name(dtype));
}

bool EveryOther() {
  static std::atomic<unsigned> calls{0};
  return calls.fetch_add(1) % 2 == 1;
}

void SpoilScheme(Scheme& scheme, size_t fault) {
  if (fault == kNoMask) {
    std::visit(
        [](auto& params) {
          if constexpr (requires { params.attention; }) params.attention.causal = false;
        },
        scheme);
  }
  if (fault == kScoreScale) {
    std::visit(
        [](auto& params) {
          if constexpr (requires { params.attention; }) {
            ScoreScale& scale = params.attention.scale;
            scale = scale == ScoreScale::one ? ScoreScale::inverse_sqrt : ScoreScale::one;
          }
        },
        scheme);
  }
  auto* alibi = std::get_if<alibi::Params>(&scheme);
  if (alibi == nullptr) return;
  if (fault == kMaxBiasIgnored) alibi->max_bias = 8;
  if (fault == kSliceIgnored) {
    alibi->total_heads.reset();
    alibi->first_head = 0;
  }
}

void SpoilInputs(NamedInputs& inputs, size_t fault) {
  if (fault == kPositionBf16) {
    for (const char* name : {"query_positions", "key_positions"}) {
      for (double& position : inputs.tensors.find(name)->second.values) {
        position = RoundTo(FormatOf(Dtype::bf16), position);
      }
    }
  }
  if (fault == kQueriesAlike) {
    std::vector<double>& queries = inputs.tensors.find("query_positions")->second.values;
    std::ranges::fill(queries, queries.back());
  }
  if (fault == kShortSighted) {
    // Farther keys count as at the distance of four tokens.
    const double last = inputs["query_positions"].values.back();
    for (double& key : inputs.tensors.find("key_positions")->second.values) {
      key = std::max(key, last - 4);
    }
  }
  if (fault == kHeadLeak) {
    ExactTensor& q = inputs.tensors.find("q")->second;
    const auto row = static_cast<size_t>(q.shape[1] * q.shape[2]);
    const auto width = static_cast<size_t>(q.shape[2]);
    for (size_t i = 0; i < q.values.size(); ++i) q.values[i] = q.values[i / row * row + i % width];
  }
}

// Of heads that are no power of two: 2^(-max_bias h / heads), as if they were.
void RoundHeadsUp(const Scheme& scheme, std::vector<double>& slopes) {
  const auto& params = std::get<alibi::Params>(scheme);
  for (size_t head = 0; head < slopes.size(); ++head) {
    const auto index = static_cast<double>(static_cast<int64_t>(head) + params.first_head + 1);
    slopes[head] = std::exp2(-params.max_bias * index / static_cast<double>(params.TotalHeads()));
  }
}

void Serve(const Offer& offer, const posgauge_call& call) {
  std::vector<Scalar> scalars;
  for (uint32_t i = 0; i < call.num_scalars; ++i) {
    scalars.emplace_back(call.scalars[i].name, call.scalars[i].value);
  }
  Scheme scheme = SchemeFromScalars(call.scheme, scalars);
  const bool causal = AttentionOf(scheme).causal;
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
  std::vector<int64_t> shape;
  const View out(call.outputs[0]);
  for (int axis = 0; axis < call.outputs[0].tensor.ndim; ++axis) shape.push_back(out.shape(axis));
  const NamedInputs given = inputs;
  SpoilInputs(inputs, offer.fault);
  SpoilScheme(scheme, offer.fault);
  if (offer.quantity == AttentionQuantity::buckets) {
    const std::vector<int64_t> buckets = ExactAttention(scheme).Buckets(inputs);
    const int64_t more = offer.fault == kUnstable && EveryOther() ? 1 : 0;
    for (size_t i = 0; i < buckets.size(); ++i) {
      out.SetInteger(buckets[i] + more, static_cast<int64_t>(i));
    }
    return;
  }
  const auto run = [&](AttentionQuantity quantity, const NamedInputs& of,
                       const std::vector<int64_t>& as) {
    return EmulateAttention(Contract::Parse(ContractOf(Dtype::f64), Dtype::f64), scheme, quantity,
                            of, as);
  };
  const bool own_slopes = offer.fault == kHeadsRoundedUp || offer.fault == kSlopesFromZero;
  std::vector<double> values;
  if (own_slopes && std::holds_alternative<alibi::Params>(scheme)) {
    std::vector<double> slopes = run(AttentionQuantity::slopes, {}, {AttentionOf(scheme).heads});
    if (offer.fault == kHeadsRoundedUp) {
      RoundHeadsUp(scheme, slopes);
    } else {
      for (double& slope : slopes) slope *= slopes[0] < 1 ? 1 / slopes[0] : 1;
    }
    if (offer.quantity != AttentionQuantity::slopes) {
      inputs.tensors["slopes"] = {{static_cast<int64_t>(slopes.size())}, slopes};
    } else {
      values = slopes;
    }
  }
  if (values.empty()) values = run(offer.quantity, inputs, shape);
  const auto* alibi = std::get_if<alibi::Params>(&scheme);
  const bool falls = offer.fault == kKeyFormFalls && alibi != nullptr &&
                     (alibi->form == alibi::Form::key || alibi->form == alibi::Form::key_from_last);
  if (offer.fault == kSign || falls) {
    for (double& value : values) value = -value;
  }
  if (offer.fault == kNanSpreads && causal) {
    // A weight of zero times what is out of sight.
    for (double v : given["v"].values) {
      for (double& value : values) value += 0 * v;
    }
  }
  if (offer.fault == kUnstable && EveryOther()) {
    for (double& value : values) value *= 1.25;
  }
  for (size_t i = 0; i < values.size(); ++i) out.SetFlat(values[i], static_cast<int64_t>(i));
}

template <size_t index>
int32_t Run(const posgauge_call* call, char* why, size_t why_size) {
  try {
    Serve(OfferAt(index), *call);
    return POSGAUGE_OK;
  } catch (const std::exception& error) {
    std::snprintf(why, why_size, "%s", error.what());
    return POSGAUGE_FAILED;
  }
}

using RunFunction = int32_t (*)(const posgauge_call*, char*, size_t);

template <size_t... index>
constexpr auto AllRuns(std::index_sequence<index...>) {
  return std::array<RunFunction, sizeof...(index)>{Run<index>...};
}

constexpr auto kRuns = AllRuns(std::make_index_sequence<kCount * kPerFault>());

// " table?:f64 r1?:f64 ...": the weights of every scheme.
template <class... Params>
std::string AllWeights(const std::variant<Params...>*) {
  std::set<std::string> names;
  const auto add = [&](const auto& params) {
    for (const Weight& weight : WeightsOf(params)) names.emplace(weight.name);
  };
  const auto add_of = [&]<class P>(const P*) {
    if constexpr (Attends<P>) add(WithEverySwitch<P>());
  };
  (add_of(static_cast<const Params*>(nullptr)), ...);
  std::string text;
  for (const std::string& name : names) text += fmt::format(" {}?:f64", name);
  return text;
}

struct Library {
  std::deque<std::string> texts;  // what the descriptors point to
  std::vector<posgauge_kernel> kernels;

  Library() {
    const auto keep = [&](std::string text) { return texts.emplace_back(std::move(text)).c_str(); };
    const std::string weights = AllWeights(static_cast<const Scheme*>(nullptr));
    for (size_t index = 0; index < kRuns.size(); ++index) {
      Offer offer = OfferAt(index);
      const bool buckets = offer.quantity == AttentionQuantity::buckets;
      if (!HasEffect(offer.fault, offer.quantity)) continue;
      if (buckets && offer.dtype != Dtype::f64) continue;
      if (buckets) offer.dtype = Dtype::i32;
      const std::string_view io = Name(offer.dtype), quantity = VariantName(offer.quantity);
      std::string inputs;
      if (offer.quantity != AttentionQuantity::slopes) {
        inputs = "query_positions:i64,f64 key_positions:i64,f64";
        if (!buckets) inputs += weights;
        if (offer.quantity >= AttentionQuantity::scores) inputs += fmt::format(" q:{0} k:{0}", io);
        if (offer.quantity == AttentionQuantity::attention) inputs += fmt::format(" v:{}", io);
      }
      const std::string prefix =
          offer.fault == kHonest ? "honest" : fmt::format("faulty.{}", kNames[offer.fault]);
      kernels.push_back({.size = sizeof(posgauge_kernel),
                         .name = keep(fmt::format("{}.{}.{}", prefix, quantity, io)),
                         .schemes = "*",
                         .quantity = keep(std::string(quantity)),
                         .inputs = keep(inputs),
                         .outputs = keep(fmt::format("{}:{}", quantity, io)),
                         .pairings = "",
                         .contract = buckets ? "" : keep(ContractOf(offer.dtype)),
                         .invariances = "chunking batch",
                         .in_place = 0,
                         .largest_rotary_dim = 0,
                         .largest_position = 0,
                         .run = kRuns[index]});
    }
  }
};

}  // namespace

std::span<const posgauge_kernel> FaultyAttention() {
  static const Library library;
  return library.kernels;
}

}  // namespace posgauge
