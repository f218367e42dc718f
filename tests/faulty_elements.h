#pragma once

#include <array>
#include <cmath>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "numbered_runs.h"
#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/faults/fault.h"
#include "tensor_view.h"

namespace posgauge {

// Kernels that are wrong element by element: from a function of one element of a bias, of scores or
// of buckets, kernels in every dtype.

/// Of one scheme and quantity: its equation with one thing wrong.
struct ElementFault {
  std::string_view name, scheme, quantity;
  double (*value)(const ElementPlace&);
};

template <auto& faults>
void ServeElements(size_t index, const posgauge_call& call) {
  const ElementFault& fault = faults[index];
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

/// faulty.<fault>.<quantity>.<dtype>: computed in binary64 and rounded once to the dtype.
template <auto& faults>
class ElementFaults {
 public:
  ElementFaults() {
    for (size_t index = 0; index < faults.size(); ++index) {
      if (faults[index].quantity == "buckets") {
        Add(index, Dtype::i32);
      } else {
        for (Dtype dtype : {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16}) Add(index, dtype);
      }
    }
  }

  const std::vector<posgauge_kernel>& kernels() const { return kernels_; }

 private:
  // Those of the default parameters with every switch on.
  static std::string WeightsFor(std::string_view name) {
    std::string text;
    for (const SchemeInfo& info : AllSchemes()) {
      if (info.name != name) continue;
      for (const Weight& weight : info.weights) text += fmt::format(" {}?:f64", weight.name);
    }
    return text;
  }

  void Add(size_t index, Dtype dtype) {
    const ElementFault& fault = faults[index];
    const bool buckets = fault.quantity == "buckets";
    std::string inputs = "query_positions:i64,f64 key_positions:i64,f64";
    if (!buckets) inputs += WeightsFor(fault.scheme);
    if (fault.quantity == "scores") inputs += fmt::format(" q:{0} k:{0}", Name(dtype));
    const std::string contract = fmt::format(
        "position=i64 frequency=f64:pow trig=1ulp:f64 rotate=f64 accumulate=f64 store={}:rne "
        "flush=no",
        Name(dtype));
    kernels_.push_back(
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

  const char* Keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

  static constexpr auto kRuns = NumberedRuns<ServeElements<faults>, faults.size()>();

  std::deque<std::string> texts_;  // what the descriptors point to
  std::vector<posgauge_kernel> kernels_;
};

}  // namespace posgauge
