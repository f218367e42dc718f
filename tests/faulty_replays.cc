#include "faulty_replays.h"

#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "numbered_runs.h"
#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/replay.h"
#include "tensor_view.h"

namespace posgauge {

namespace {

struct Replayed {
  std::string_view name, scheme, quantity;
  std::string_view fault, second = "";  // of the bank; those that have something to act on
};

constexpr auto kReplayed = std::to_array<Replayed>({
    {"tie_lost", "t5", "buckets", "tie_lost"},
    {"tie_lost", "t5", "bias", "tie_lost"},
    {"direction_swapped", "t5", "buckets", "distance_negated"},
    {"direction_swapped", "t5", "bias", "distance_negated"},
    {"off_by_one", "t5", "buckets", "distance_plus_one"},
    {"off_by_one", "t5", "bias", "distance_plus_one"},
    {"unclamped", "t5", "buckets", "unclamped"},
    {"unclamped", "t5", "bias", "unclamped"},
    {"distance_int16", "t5", "buckets", "distance_int16"},
    {"distance_int16", "t5", "bias", "distance_int16"},
    {"table_transposed", "t5", "bias", "table_transposed"},
    {"buckets_blended", "t5", "bias", "buckets_blended"},
    {"normalised_by_key", "fire", "bias", "normalised_by_key"},
    {"threshold_ignored", "fire", "bias", "threshold_ignored"},
    {"epsilon_missing", "fire", "bias", "epsilon_missing"},
    {"fire_missing_one", "fire", "bias", "fire_missing_one"},
    {"missing_one", "kerple", "bias", "kerple_missing_one"},
    {"log_base", "kerple", "bias", "log_base"},
    {"log1p_naive", "kerple", "bias", "log1p_naive"},
    {"rate_ignored", "kerple", "bias", "rate_ignored"},
    {"exponent_doubled", "kerple", "bias", "exponent_doubled"},
    {"future_zero", "kerple", "bias", "future_zero"},
    {"factor_on_bias", "kerple", "scores", "factor_on_bias"},
    {"no_cosine", "sandwich", "bias", "no_cosine"},
    {"sines", "sandwich", "bias", "sines"},
    {"ratio_ignored", "sandwich", "bias", "ratio_ignored"},
    {"other_index", "sandwich", "bias", "first_index_ignored", "first_index_plus_one"},
    {"rows_swapped", "deberta", "buckets", "distance_negated"},
    {"tie_raised", "deberta", "buckets", "tie_raised"},
    {"far_unclamped", "deberta", "buckets", "far_unclamped"},
    {"after_short", "deberta", "buckets", "after_short"},
    {"terms_uncounted", "deberta", "scores", "terms_uncounted"},
    {"table_normalised", "deberta", "scores", "table_normalised"},
    {"axes_exchanged", "swin", "buckets", "window_axes_exchanged"},
    {"axes_exchanged", "swin", "bias", "window_axes_exchanged"},
    {"wrong_side", "swin", "buckets", "wrong_side"},
    {"wrong_side", "swin", "bias", "wrong_side"},
    {"offsets_reversed", "swin", "buckets", "offsets_reversed"},
    {"offsets_reversed", "swin", "bias", "offsets_reversed"},
    {"offsets_absolute", "swin", "buckets", "offsets_absolute"},
    {"offsets_absolute", "swin", "bias", "offsets_absolute"},
    {"sigmoid_missing", "swin2", "bias", "sigmoid_missing"},
    {"coordinate_sign", "swin2", "bias", "coordinate_sign"},
    {"coordinate_linear", "swin2", "bias", "coordinate_linear"},
    {"network_wrong_side", "swin2", "bias", "network_wrong_side"},
    {"pretrained_whole", "swin2", "bias", "pretrained_whole"},
    {"pretrained_ignored", "swin2", "bias", "pretrained_h_ignored", "pretrained_w_ignored"},
    {"norms_missing", "swin2", "scores", "norms_missing"},
    {"tau_unclamped", "swin2", "scores", "tau_unclamped"},
});

void ServeNumber(size_t index, const posgauge_call& call) {
  const Replayed& replayed = kReplayed[index];
  std::vector<Scalar> scalars;
  for (uint32_t i = 0; i < call.num_scalars; ++i) {
    scalars.emplace_back(call.scalars[i].name, call.scalars[i].value);
  }
  Question question{
      SchemeFromScalars(call.scheme, scalars), std::string(replayed.quantity), {}, {}};
  for (uint32_t i = 0; i < call.num_inputs; ++i) {
    const View view(call.inputs[i]);
    ExactTensor& tensor = question.inputs.tensors[call.inputs[i].name];
    int64_t count = 1;
    for (int axis = 0; axis < call.inputs[i].tensor.ndim; ++axis) {
      tensor.shape.push_back(view.shape(axis));
      count *= view.shape(axis);
    }
    for (int64_t flat = 0; flat < count; ++flat) tensor.values.push_back(view.Flat(flat));
  }
  const View out(call.outputs[0]);
  for (int axis = 0; axis < call.outputs[0].tensor.ndim; ++axis) {
    question.shape.push_back(out.shape(axis));
  }
  std::vector<const Fault*> faults;
  for (const std::string_view id : {replayed.fault, replayed.second}) {
    const Fault* fault = id.empty() ? nullptr : FindFault(id);
    if (fault != nullptr && Replay(question, std::span(&fault, 1))) faults.push_back(fault);
  }
  const auto values = Replay(question, faults);
  for (size_t i = 0; i < values->size(); ++i) {
    if (replayed.quantity == "buckets") {
      out.SetInteger(static_cast<int64_t>((*values)[i]), static_cast<int64_t>(i));
    } else {
      out.SetFlat((*values)[i], static_cast<int64_t>(i));
    }
  }
}

constexpr auto kRuns = NumberedRuns<ServeNumber, kReplayed.size()>();

// Those of the default parameters with every switch on.
std::string WeightsFor(std::string_view name) {
  std::string text;
  for (const SchemeInfo& info : AllSchemes()) {
    if (info.name != name) continue;
    for (const Weight& weight : info.weights) text += fmt::format(" {}?:f64", weight.name);
  }
  return text;
}

struct Library {
  std::deque<std::string> texts;  // what the descriptors point to
  std::vector<posgauge_kernel> kernels;

  const char* Keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }

  Library() {
    for (size_t index = 0; index < kReplayed.size(); ++index) {
      if (kReplayed[index].quantity == "buckets") {
        Add(index, Dtype::i32);
      } else {
        for (Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16}) Add(index, dtype);
      }
    }
  }

  void Add(size_t index, Dtype dtype) {
    const Replayed& replayed = kReplayed[index];
    const bool buckets = replayed.quantity == "buckets";
    std::string inputs = "query_positions:i64,f64 key_positions:i64,f64";
    if (!buckets) inputs += WeightsFor(replayed.scheme);
    if (replayed.quantity == "scores") inputs += fmt::format(" q:{0} k:{0}", Name(dtype));
    const std::string contract = fmt::format(
        "position=i64 frequency=f64:pow trig=1ulp:f64 rotate=f64 accumulate=f64 store={}:rne "
        "flush=no",
        Name(dtype));
    kernels.push_back({.size = sizeof(posgauge_kernel),
                       .name = Keep(fmt::format("faulty.{}.{}.{}", replayed.name, replayed.quantity,
                                                Name(dtype))),
                       .schemes = Keep(std::string(replayed.scheme)),
                       .quantity = Keep(std::string(replayed.quantity)),
                       .inputs = Keep(inputs),
                       .outputs = Keep(fmt::format("{}:{}", replayed.quantity, Name(dtype))),
                       .pairings = "",
                       .contract = buckets ? "" : Keep(contract),
                       .invariances = "chunking batch",
                       .in_place = 0,
                       .largest_rotary_dim = 0,
                       .largest_position = 0,
                       .run = kRuns[index]});
  }
};

}  // namespace

std::span<const posgauge_kernel> FaultyReplays() {
  static const Library library;
  return library.kernels;
}

}  // namespace posgauge
