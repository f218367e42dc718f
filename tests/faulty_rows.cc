#include "faulty_rows.h"

#include <array>
#include <atomic>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "numbered_runs.h"
#include "posgauge/reference/exact_equations.h"
#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/equation_bound.h"
#include "row_faults.h"
#include "tensor_view.h"

namespace posgauge {

namespace {

using namespace row_faults;

constexpr std::array kDtypes = {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16};
constexpr size_t kPerFault = 2 * kDtypes.size();

struct Offer {
  size_t fault;
  EquationQuantity quantity;
  Dtype dtype;
};

constexpr Offer OfferAt(size_t index) {
  const size_t rest = index % kPerFault;
  return {index / kPerFault,
          rest < kDtypes.size() ? EquationQuantity::table : EquationQuantity::embed,
          kDtypes[rest % kDtypes.size()]};
}

std::string ContractOf(Dtype dtype) {
  return fmt::format(
      "position=f64 frequency=f64:pow angle=f64 trig=1ulp:f64 table=f64 rotate=f64 accumulate=f64 "
      "store={}:rne flush=no",
      Name(dtype));
}

bool EveryOther() {
  static std::atomic<unsigned> calls{0};
  return calls.fetch_add(1) % 2 == 1;
}

void Serve(const Offer& offer, const posgauge_call& call) {
  std::vector<Scalar> scalars;
  for (uint32_t i = 0; i < call.num_scalars; ++i) {
    scalars.emplace_back(call.scalars[i].name, call.scalars[i].value);
  }
  Scheme scheme = SchemeFromScalars(call.scheme, scalars);
  NamedInputs inputs;
  for (uint32_t i = 0; i < call.num_inputs; ++i) {
    const View view(call.inputs[i]);
    ExactTensor& tensor = inputs.tensors[call.inputs[i].name];
    const int axes = call.inputs[i].tensor.ndim;
    for (int axis = 0; axis < axes; ++axis) tensor.shape.push_back(view.shape(axis));
    for (int64_t row = 0; row < tensor.shape[0]; ++row) {
      if (axes == 1) tensor.values.push_back(view.Get(row));
      for (int64_t c = 0; axes == 2 && c < tensor.shape[1]; ++c) {
        tensor.values.push_back(view.Get(row, c));
      }
    }
  }
  Spoil(offer.fault, scheme, inputs);
  const View out(call.outputs[0]);
  const int64_t count = out.shape(0), width = out.shape(1);
  NamedInputs of_table = inputs;
  of_table.tensors.erase("x");
  std::vector<double> values =
      EmulateEquations(Contract::Parse(ContractOf(Dtype::f64), Dtype::f64), scheme,
                       EquationQuantity::table, of_table, {count, width});
  SpoilRows(scheme, offer.fault, inputs, values);
  if (offer.quantity == EquationQuantity::embed) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = inputs["x"].values[i] + values[i];
  }
  if (offer.fault == kUnstable && EveryOther()) {
    for (double& value : values) value *= 1.25;
  }
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t c = 0; c < width; ++c) {
      out.Set(values[static_cast<size_t>(row * width + c)], row, c);
    }
  }
}

void ServeNumber(size_t index, const posgauge_call& call) { Serve(OfferAt(index), call); }

constexpr auto kRuns = NumberedRuns<ServeNumber, kCount * kPerFault>();

struct Library {
  std::deque<std::string> texts;  // what the descriptors point to
  std::vector<posgauge_kernel> kernels;

  Library() {
    const auto keep = [&](std::string text) { return texts.emplace_back(std::move(text)).c_str(); };
    for (size_t index = 0; index < kRuns.size(); ++index) {
      const Offer offer = OfferAt(index);
      const bool embeds = offer.quantity == EquationQuantity::embed;
      const std::string_view io = Name(offer.dtype);
      const std::string prefix =
          offer.fault == kHonest ? "honest" : fmt::format("faulty.{}", kFaults[offer.fault].name);
      kernels.push_back(
          {.size = sizeof(posgauge_kernel),
           .name = keep(fmt::format("{}.given_{}.{}", prefix, embeds ? "embed" : "rows", io)),
           .schemes = keep(std::string(kFaults[offer.fault].schemes)),
           .quantity = embeds ? "embed" : "table",
           .inputs = keep(fmt::format("{}positions:i64,f64 table?:f64 local_shift?:f64",
                                      embeds ? fmt::format("x:{} ", io) : "")),
           .outputs = keep(fmt::format("{}:{}", embeds ? "out" : "rows", io)),
           .pairings = "",
           .contract = keep(ContractOf(offer.dtype)),
           .invariances = "chunking batch",
           .in_place = 0,
           .largest_rotary_dim = 0,
           .largest_position = 0,
           .run = kRuns[index]});
    }
  }
};

}  // namespace

std::span<const posgauge_kernel> FaultyRows() {
  static const Library library;
  return library.kernels;
}

}  // namespace posgauge
