#include "faulty_attention.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "numbered_runs.h"
#include "posgauge/reference/exact_equations.h"
#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/equation_bound.h"
#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/replay.h"
#include "tensor_view.h"

namespace posgauge {

namespace {

enum Is : size_t {
  kHonest,
  // of the inputs
  kPositionBf16,
  kPositionUint8,
  kQueriesAlike,
  kHeadLeak,
  kLateQueries,  // a relative shift off by a row
  kBiasesSwapped,
  kScaleOnContent,
  kCosinesFirst,
  kIndexWraps,
  // of the scheme
  kNoMask,
  kScoreScale,
  kBiasLeft,
  kValuesMissing,
  kClipShort,
  kIndexIgnored,
  kP2cIndexIgnored,
  kClampIgnored,
  kPlacementSwapped,
  kMaxBiasIgnored,
  kHeadsRoundedUp,
  kSliceIgnored,
  kKeyFormFalls,
  kPairingSwapped,
  kFadingIgnored,
  kFadingRises,
  kCentresDiffer,  // keys of a cache that fade about another position
  kWindowIgnored,
  kWindowShort,
  kTemperatureIgnored,
  kChunksIgnored,
  kCriticalQueries,
  kLocalIgnored,
  kAxesExchanged,  // columns counted as rows
  kRowsIgnored,
  kRowsReversed,
  kKeysStill,  // queries alone turn
  // of the positions that gates count
  kCountExclusive,
  kCountFromStart,
  kCountUnmasked,
  kInterpolationSwapped,
  kInterpolationUnbalanced,
  // of the results
  kSign,
  kShortSighted,
  kSlopesFromZero,
  kNanSpreads,
  kUnstable,
  kCount
};

constexpr std::array<std::string_view, kCount> kNames = {"honest",
                                                         "position_bf16",
                                                         "position_uint8",
                                                         "queries_alike",
                                                         "head_leak",
                                                         "late_queries",
                                                         "biases_swapped",
                                                         "scale_on_content",
                                                         "cosines_first",
                                                         "index_wraps",
                                                         "no_mask",
                                                         "score_scale",
                                                         "bias_left",
                                                         "values_missing",
                                                         "clip_short",
                                                         "index_ignored",
                                                         "p2c_index_ignored",
                                                         "clamp_ignored",
                                                         "placement_swapped",
                                                         "max_bias_ignored",
                                                         "heads_rounded_up",
                                                         "slice_ignored",
                                                         "key_form_falls",
                                                         "pairing_swapped",
                                                         "fading_ignored",
                                                         "fading_rises",
                                                         "centres_differ",
                                                         "window_ignored",
                                                         "window_short",
                                                         "temperature_ignored",
                                                         "chunks_ignored",
                                                         "critical_queries",
                                                         "local_ignored",
                                                         "axes_exchanged",
                                                         "rows_ignored",
                                                         "rows_reversed",
                                                         "keys_still",
                                                         "count_exclusive",
                                                         "count_from_start",
                                                         "count_unmasked",
                                                         "interpolation_swapped",
                                                         "interpolation_unbalanced",
                                                         "sign",
                                                         "short_sighted",
                                                         "slopes_from_zero",
                                                         "nan_spreads",
                                                         "unstable"};

// Faults of one scheme, which others do not have.
constexpr std::string_view SchemeOf(size_t fault) {
  switch (fault) {
    case kMaxBiasIgnored:
    case kHeadsRoundedUp:
    case kSliceIgnored:
    case kKeyFormFalls:
    case kSlopesFromZero:
      return "alibi";
    case kBiasLeft:
      return "none";
    case kValuesMissing:
    case kClipShort:
    case kIndexIgnored:
    case kIndexWraps:
      return "shaw";
    case kP2cIndexIgnored:
      return "deberta";
    case kBiasesSwapped:
    case kCosinesFirst:
    case kClampIgnored:
    case kLateQueries:
      return "transformer_xl";
    case kPlacementSwapped:
    case kCountExclusive:
    case kCountFromStart:
    case kCountUnmasked:
    case kInterpolationSwapped:
    case kInterpolationUnbalanced:
      return "cope";
    case kScaleOnContent:
      return "shaw transformer_xl";
    case kPairingSwapped:
      return "xpos rerope dual_chunk mixed";
    case kFadingIgnored:
    case kFadingRises:
    case kCentresDiffer:
      return "xpos";
    case kWindowIgnored:
    case kWindowShort:
      return "rerope";
    case kTemperatureIgnored:
      return "none rerope";
    case kChunksIgnored:
    case kCriticalQueries:
    case kLocalIgnored:
      return "dual_chunk";
    case kAxesExchanged:
    case kRowsIgnored:
    case kRowsReversed:
    case kKeysStill:
      return "mixed";
    default:
      return "*";
  }
}

constexpr std::array kDtypes = {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16};
constexpr auto kQuantities = static_cast<size_t>(EquationQuantity::table);  // of attention
constexpr size_t kPerFault = kQuantities * kDtypes.size();

struct Offer {
  size_t fault;
  EquationQuantity quantity;
  Dtype dtype;
};

constexpr Offer OfferAt(size_t index) {
  const size_t rest = index % kPerFault;
  return {index / kPerFault, static_cast<EquationQuantity>(rest / kDtypes.size()),
          kDtypes[rest % kDtypes.size()]};
}

bool HasEffect(size_t fault, EquationQuantity quantity) {
  const bool scored =
      quantity == EquationQuantity::scores || quantity == EquationQuantity::attention;
  if (fault == kValuesMissing) return quantity == EquationQuantity::attention;
  if (SchemeOf(fault) != "*" && SchemeOf(fault) != "alibi") return scored;
  switch (fault) {
    case kPositionBf16:
    case kPositionUint8:
    case kQueriesAlike:
    case kShortSighted:
      return quantity != EquationQuantity::slopes;
    case kHeadLeak:
    case kNoMask:
    case kScoreScale:
      return scored;
    case kNanSpreads:
      return quantity == EquationQuantity::attention;
    case kSlopesFromZero:
      return quantity == EquationQuantity::slopes;
    case kSign:
      return quantity == EquationQuantity::slopes || quantity == EquationQuantity::bias;
    case kMaxBiasIgnored:
    case kHeadsRoundedUp:
    case kSliceIgnored:
      return quantity != EquationQuantity::buckets;
    case kKeyFormFalls:
      return quantity == EquationQuantity::bias;
    default:
      return true;
  }
}

std::string ContractOf(Dtype dtype) {
  return fmt::format(
      "position=i64 frequency=f64:pow angle=f64 trig=1ulp:f64 rotate=f64 accumulate=f64 "
      "store={}:rne "
      "flush=no",
      dtype == Dtype::i32 ? "f64" : Name(dtype));
}

bool EveryOther() {
  static std::atomic<unsigned> calls{0};
  return calls.fetch_add(1) % 2 == 1;
}

bool CountsWrong(size_t fault) {
  return fault >= kCountExclusive && fault <= kInterpolationUnbalanced;
}

// Of those whose vectors turn. What a fault makes of parameters need not be valid.
void SpoilTurns(Scheme& scheme, size_t fault) {
  std::visit(
      [&](auto& params) {
        if constexpr (requires { params.turning; }) {
          Pairing& pairing = params.turning.pairing;
          if (fault == kPairingSwapped) {
            pairing = pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
          }
        }
      },
      scheme);
  if (auto* xpos = std::get_if<xpos::Params>(&scheme)) {
    if (fault == kFadingIgnored) xpos->scale_base = 0x1p100;
    if (fault == kFadingRises) xpos->scale_base = -xpos->scale_base;
  }
  if (auto* rerope = std::get_if<rerope::Params>(&scheme)) {
    if (fault == kWindowIgnored) rerope->window = kLargestLength;
    if (fault == kWindowShort) rerope->window -= 1;
    if (fault == kTemperatureIgnored) rerope->trained_length.reset();
  }
  if (auto* none = std::get_if<none::Params>(&scheme)) {
    if (fault == kTemperatureIgnored) *none = {.attention = none->attention};
  }
  if (auto* chunks = std::get_if<dual_chunk::Params>(&scheme)) {
    if (fault == kChunksIgnored) chunks->chunk_size = kLargestLength;
    if (fault == kCriticalQueries) chunks->queries = dual_chunk::Queries::critical;
    if (fault == kLocalIgnored) chunks->local_size = 0;
  }
}

void SpoilScheme(Scheme& scheme, size_t fault) {
  SpoilTurns(scheme, fault);
  if (auto* shaw = std::get_if<shaw::Params>(&scheme)) {
    if (fault == kValuesMissing) shaw->values = false;
    if (fault == kIndexIgnored) shaw->index = shaw::Index::key_minus_query;
    if (fault == kClipShort) shaw->clip -= 1;
  }
  if (auto* deberta = std::get_if<deberta::Params>(&scheme)) {
    if (fault == kP2cIndexIgnored) deberta->p2c_index = deberta::P2cIndex::same;
  }
  if (auto* xl = std::get_if<transformer_xl::Params>(&scheme)) {
    if (fault == kClampIgnored) xl->clamp_length.reset();
  }
  if (auto* cope = std::get_if<cope::Params>(&scheme)) {
    if (fault == kPlacementSwapped) {
      cope->placement = cope->placement == cope::Placement::before_scale
                            ? cope::Placement::after_scale
                            : cope::Placement::before_scale;
    }
  }
  if (fault == kBiasLeft) scheme = alibi::Params{.attention = AttentionOf(scheme)};
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

// The rows of a table [heads, rows, channels] from row(i) of `rows` on.
template <class Row>
void TakeRows(ExactTensor& table, int64_t rows, const Row& row) {
  const ExactTensor before = table;
  table = {{before.shape[0], rows, before.shape[2]}, {}};
  for (int64_t head = 0; head < before.shape[0]; ++head) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t c = 0; c < before.shape[2]; ++c) {
        table.values.push_back(before.At(head, row(i), c));
      }
    }
  }
}

// Of parameters that are still right.
void SpoilWeights(Scheme& scheme, NamedInputs& inputs, size_t fault) {
  const double root = std::sqrt(static_cast<double>(AttentionOf(scheme).head_dim));
  for (const char* name : {"key_table", "value_table"}) {
    const auto found = inputs.tensors.find(name);
    if (found == inputs.tensors.end()) continue;
    auto& params = std::get<shaw::Params>(scheme);
    if (fault == kClipShort) {
      TakeRows(found->second, 2 * params.clip - 1, [](int64_t i) { return i + 1; });
    }
    if (fault == kIndexWraps) {
      // A negative index counts from the end, one too large from the start.
      const int64_t rows = 2 * params.clip + 1;
      TakeRows(found->second, 5 * rows, [&](int64_t i) { return i % rows; });
    }
  }
  if (fault == kIndexWraps) {
    auto& params = std::get<shaw::Params>(scheme);
    params.clip += 2 * (2 * params.clip + 1);
  }
  const bool scaled = AttentionOf(scheme).scale == ScoreScale::inverse_sqrt;
  for (const char* name : {"key_table", "position_weight"}) {
    const auto found = inputs.tensors.find(name);
    if (fault != kScaleOnContent || !scaled || found == inputs.tensors.end()) continue;
    for (double& value : found->second.values) value *= root;
  }
  if (fault == kCentresDiffer) {
    const auto& params = std::get<xpos::Params>(scheme);
    const Rotary rotary = params.turning.Of(params.attention);
    std::vector<double>& k = inputs.tensors["k"].values;
    for (int64_t pair = 0; pair < rotary.Pairs(); ++pair) {
      const double zeta =
          (static_cast<double>(2 * pair) / static_cast<double>(rotary.rotary_dim) + params.gamma) /
          (1 + params.gamma);
      for (int64_t channel : rotary.Channels(pair)) {
        for (auto i = static_cast<size_t>(channel); i < k.size();
             i += static_cast<size_t>(rotary.head_dim)) {
          k[i] *= std::pow(zeta, 64 / params.scale_base);
        }
      }
    }
  }
  if (fault == kAxesExchanged) {
    std::swap(inputs.tensors["x_frequency"], inputs.tensors["y_frequency"]);
  }
  if (fault == kKeysStill) std::ranges::fill(inputs.tensors["key_positions"].values, 0.0);
  if (fault == kRowsIgnored || fault == kRowsReversed) {
    for (double& frequency : inputs.tensors["y_frequency"].values) {
      frequency = fault == kRowsIgnored ? 0 : -frequency;
    }
  }
  if (fault == kBiasesSwapped) {
    std::swap(inputs.tensors["content_bias"], inputs.tensors["position_bias"]);
  }
  if (fault == kCosinesFirst) {
    ExactTensor& weight = inputs.tensors["position_weight"];
    const auto width = weight.shape[2], half = width / 2;
    const ExactTensor before = weight;
    for (size_t i = 0; i < weight.values.size(); ++i) {
      const auto channel = static_cast<int64_t>(i) % width;
      weight.values[i] = before.values[i - static_cast<size_t>(channel) +
                                       static_cast<size_t>((channel + half) % width)];
    }
  }
}

void SpoilInputs(NamedInputs& inputs, size_t fault) {
  if (fault == kLateQueries) {
    for (double& query : inputs.tensors.find("query_positions")->second.values) ++query;
  }
  if (fault == kPositionBf16 || fault == kPositionUint8) {
    for (const char* name : {"query_positions", "key_positions"}) {
      for (double& position : inputs.tensors.find(name)->second.values) {
        position = fault == kPositionBf16 ? RoundTo(FormatOf(Dtype::bf16), position)
                                          : position - 256 * std::floor(position / 256);
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
  SpoilWeights(scheme, inputs, offer.fault);
  SpoilScheme(scheme, offer.fault);
  if (offer.quantity == EquationQuantity::buckets) {
    const std::vector<int64_t> buckets = ExactEquations(scheme).Buckets(inputs);
    const int64_t more = offer.fault == kUnstable && EveryOther() ? 1 : 0;
    for (size_t i = 0; i < buckets.size(); ++i) {
      out.SetInteger(buckets[i] + more, static_cast<int64_t>(i));
    }
    return;
  }
  const auto run = [&](EquationQuantity quantity, const NamedInputs& of,
                       const std::vector<int64_t>& as) {
    return EmulateEquations(Contract::Parse(ContractOf(Dtype::f64), Dtype::f64), scheme, quantity,
                            of, as);
  };
  const bool own_slopes = offer.fault == kHeadsRoundedUp || offer.fault == kSlopesFromZero;
  std::vector<double> values;
  if (own_slopes && std::holds_alternative<alibi::Params>(scheme)) {
    std::vector<double> slopes = run(EquationQuantity::slopes, {}, {AttentionOf(scheme).heads});
    if (offer.fault == kHeadsRoundedUp) {
      RoundHeadsUp(scheme, slopes);
    } else {
      for (double& slope : slopes) slope *= slopes[0] < 1 ? 1 / slopes[0] : 1;
    }
    if (offer.quantity != EquationQuantity::slopes) {
      inputs.tensors["slopes"] = {{static_cast<int64_t>(slopes.size())}, slopes};
    } else {
      values = slopes;
    }
  }
  if (CountsWrong(offer.fault)) {
    const Fault* fault = FindFault(kNames[offer.fault]);
    const Question question{scheme, std::string(VariantName(offer.quantity)), inputs, shape};
    values = *Replay(question, std::span(&fault, 1));
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

void ServeNumber(size_t index, const posgauge_call& call) { Serve(OfferAt(index), call); }

constexpr auto kRuns = NumberedRuns<ServeNumber, kCount * kPerFault>();

// " table?:f64 r1?:f64 ...": the weights of every scheme.
template <class... Params>
std::string AllWeights(const std::variant<Params...>*) {
  std::set<std::string> names;
  const auto add = [&](const auto& params) {
    for (const Weight& weight : WeightsOf(params)) names.emplace(weight.name);
  };
  const auto add_of = [&]<class P>(const P*) {
    if constexpr (Attends<P>) add(WithEverySwitch<P>(true));
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
      const bool buckets = offer.quantity == EquationQuantity::buckets;
      if (!HasEffect(offer.fault, offer.quantity)) continue;
      if (buckets && offer.dtype != Dtype::f64) continue;
      if (buckets) offer.dtype = Dtype::i32;
      const std::string_view io = Name(offer.dtype), quantity = VariantName(offer.quantity);
      std::string inputs;
      if (offer.quantity != EquationQuantity::slopes) {
        inputs = "query_positions:i64,f64 key_positions:i64,f64";
        if (!buckets) inputs += weights;
        if (offer.quantity >= EquationQuantity::scores) inputs += fmt::format(" q:{0} k:{0}", io);
        if (offer.quantity == EquationQuantity::attention) inputs += fmt::format(" v:{}", io);
      }
      const std::string prefix =
          offer.fault == kHonest ? "honest" : fmt::format("faulty.{}", kNames[offer.fault]);
      kernels.push_back({.size = sizeof(posgauge_kernel),
                         .name = keep(fmt::format("{}.{}.{}", prefix, quantity, io)),
                         .schemes = keep(std::string(SchemeOf(offer.fault))),
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
