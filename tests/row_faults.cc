#include "row_faults.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace posgauge::row_faults {

namespace {

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

void SpoilScheme(cape::Params& params, size_t fault) {
  if (fault == kScaledBeforeShifts) {
    params.position_scale *= std::exp(params.log_scale);
    params.mean *= std::exp(params.log_scale);
  }
  if (fault == kLogScaleIgnored || fault == kScaledBeforeShifts) params.log_scale = 0;
  if (fault == kMeanAdded) params.mean = -params.mean;
  if (fault == kPositionScaleIgnored) params.position_scale = 1;
  if (fault == kGlobalShiftIgnored) params.global_shift = 0;
  if (fault == kScaleIgnored) params.frequency_scale = 1;
}

void SpoilLocalShifts(const cape::Params& params, size_t fault, std::vector<double>& shifts) {
  const std::vector<double> right = shifts;
  for (size_t n = 0; n < shifts.size(); ++n) {
    if (fault == kLocalShiftsIgnored) shifts[n] = 0;
    if (fault == kLocalShiftBehind && n > 0) shifts[n] = right[n - 1];
    if (fault == kLocalShiftsAddUp && n > 0) shifts[n] += shifts[n - 1];
    if (fault == kGlobalShiftDrifts) shifts[n] += params.global_shift * static_cast<double>(n) / 64;
  }
}

void SpoilPositions(const Scheme& scheme, size_t fault, std::vector<double>& positions) {
  const auto* learned = std::get_if<learned::Params>(&scheme);
  const double first = learned != nullptr ? static_cast<double>(-learned->offset) : 0;
  for (double& position : positions) {
    if (fault == kRowBehind) position = std::max(position - 1, first);
    if (fault == kPositionsAlike) position = positions.back();
    if (const auto count = PositionCount(scheme); count && fault == kClamps) {
      position = std::clamp(position, first, static_cast<double>(*count - 1));
    }
    if (const auto* grid = std::get_if<sincos2d::Params>(&scheme);
        grid != nullptr && fault == kColumnMajor && position >= static_cast<double>(grid->prefix)) {
      const int64_t patch = static_cast<int64_t>(position) - grid->prefix;
      const int64_t row = patch % grid->grid_h, column = patch / grid->grid_h;
      position = static_cast<double>(grid->prefix + row * grid->grid_w + column);
    }
  }
}

}  // namespace

void Spoil(size_t fault, Scheme& scheme, NamedInputs& inputs) {
  SpoilPositions(scheme, fault, inputs.tensors.find("positions")->second.values);
  if (const auto* params = std::get_if<cape::Params>(&scheme)) {
    SpoilLocalShifts(*params, fault, inputs.tensors.find("local_shift")->second.values);
  }
  std::visit(
      [&]<class Params>(Params& params) {
        if constexpr (requires { SpoilScheme(params, size_t{}); }) {
          params.CheckPositions(inputs["positions"].values);
          SpoilScheme(params, fault);
        }
      },
      scheme);
}

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
  if (fault == kHalves) {
    std::vector<double> halves;
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t channel = i % width, half = width / 2;
      halves.push_back(rows[i - channel + channel % half * 2 + channel / half]);
    }
    rows = halves;
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

}  // namespace posgauge::row_faults
