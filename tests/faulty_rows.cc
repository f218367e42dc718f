#include "faulty_rows.h"

#include <algorithm>
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
#include "tensor_view.h"

namespace posgauge {

namespace {

enum Is : size_t {
  kHonest,
  kUnstable,
  kRowBehind,
  kPositionsAlike,
  kOffsetMissing,
  kClamps,
  kPaddingRead,
  kNanSpreads,
  kAxesSwapped,
  kColumnMajor,
  kScaleIgnored,
  kCosinesFirst,
  kNotUnit,
  kCornersSwapped,
  kNotNormalised,
  kPrefixResampled,
  kOtherCubic,
  kAntialiasIgnored,
  kCount
};

struct Fault {
  std::string_view name;
  std::string_view schemes;
};

constexpr std::array<Fault, kCount> kFaults = {{
    {"honest", "learned resampled sincos2d"},
    {"unstable", "learned resampled sincos2d"},
    {"row_behind", "learned resampled sincos2d"},
    {"positions_alike", "learned resampled sincos2d"},
    {"offset_missing", "learned"},
    {"clamps", "learned"},
    {"padding_read", "learned"},
    {"nan_spreads", "learned"},
    {"axes_swapped", "sincos2d"},
    {"column_major", "sincos2d"},
    {"scale_ignored", "sincos2d"},
    {"cosines_first", "sincos2d"},
    {"not_unit", "sincos2d"},
    {"corners_swapped", "resampled"},
    {"not_normalised", "resampled"},
    {"prefix_resampled", "resampled"},
    {"other_cubic", "resampled"},
    {"antialias_ignored", "resampled"},
}};

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
      "position=i64 frequency=f64:pow angle=f64 trig=1ulp:f64 table=f64 rotate=f64 accumulate=f64 "
      "store={}:rne flush=no",
      Name(dtype));
}

bool EveryOther() {
  static std::atomic<unsigned> calls{0};
  return calls.fetch_add(1) % 2 == 1;
}

void SpoilScheme(learned::Params& params, size_t fault) {
  if (fault == kOffsetMissing) params.offset = 0;
  if (fault == kPaddingRead) params.padding_index.reset();
}

void SpoilScheme(sincos2d::Params& params, size_t fault) {
  using sincos2d::FirstAxis;
  if (fault == kAxesSwapped) {
    params.first_axis = params.first_axis == FirstAxis::column ? FirstAxis::row : FirstAxis::column;
  }
  if (fault == kScaleIgnored) {
    params.base_size.reset();
    params.interpolation_scale = 1;
  }
}

void SpoilScheme(resampled::Params& params, size_t fault) {
  if (fault == kCornersSwapped) {
    params.align_corners = !params.align_corners;
    params.antialias = false;
    params.offset = 0;
    params.scale_h.reset();
    params.scale_w.reset();
  }
  if (fault == kOtherCubic) params.cubic = params.cubic == -0.75 ? -0.5 : -0.75;
  if (fault == kAntialiasIgnored) params.antialias = false;
}

void SpoilPositions(const Scheme& scheme, size_t fault, std::vector<double>& positions) {
  const auto* learned = std::get_if<learned::Params>(&scheme);
  const double first = learned != nullptr ? static_cast<double>(-learned->offset) : 0;
  for (double& position : positions) {
    if (fault == kRowBehind) position = std::max(position - 1, first);
    if (fault == kPositionsAlike) position = positions.back();
    if (fault == kClamps) {
      position = std::clamp(position, first, static_cast<double>(learned->rows - 1) + first);
    }
    if (const auto* grid = std::get_if<sincos2d::Params>(&scheme);
        grid != nullptr && fault == kColumnMajor && position >= static_cast<double>(grid->prefix)) {
      const int64_t patch = static_cast<int64_t>(position) - grid->prefix;
      const int64_t row = patch % grid->grid_h, column = patch / grid->grid_h;
      position = static_cast<double>(grid->prefix + row * grid->grid_w + column);
    }
  }
}

// Of rows [positions, width], before anything is added.
void SpoilRows(const Scheme& scheme, size_t fault, const NamedInputs& inputs,
               std::vector<double>& rows) {
  const auto width = static_cast<size_t>(WidthOf(scheme));
  if (fault == kNotUnit || fault == kNotNormalised) {
    for (double& value : rows) value *= 1.0625;
  }
  if (fault == kCosinesFirst) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i / (width / 4) % 2 == 0) std::swap(rows[i], rows[i + width / 4]);
    }
  }
  if (fault == kPrefixResampled) {
    const ExactTensor& table = inputs["table"];
    const int64_t prefix = std::get<resampled::Params>(scheme).prefix;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto row = static_cast<int64_t>(inputs["positions"].values[i / width]);
      if (row >= prefix || row + 1 >= table.shape[0]) continue;
      rows[i] = (rows[i] + table.At(row + 1, static_cast<int64_t>(i % width))) / 2;
    }
  }
  if (fault == kNanSpreads) {
    double zero = 0;
    for (double value : inputs["table"].values) zero += 0 * value;
    for (double& value : rows) value += zero;
  }
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
  SpoilPositions(scheme, offer.fault, inputs.tensors.find("positions")->second.values);
  std::visit(
      [&]<class Params>(Params& params) {
        if constexpr (requires { SpoilScheme(params, size_t{}); }) {
          params.CheckPositions(inputs["positions"].values);
          SpoilScheme(params, offer.fault);
        }
      },
      scheme);
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
           .inputs = keep(fmt::format("{}positions:i64,f64 table?:f64",
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
