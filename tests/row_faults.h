#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "posgauge/reference/named_inputs.h"
#include "posgauge/schemes/base/scheme.h"

namespace posgauge::row_faults {

/// What the kernels of faulty_rows.h do wrong, and which schemes each concerns.
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
  kLogScaleIgnored,
  kScaledBeforeShifts,
  kMeanAdded,
  kPositionScaleIgnored,
  kGlobalShiftIgnored,
  kGlobalShiftDrifts,
  kLocalShiftsIgnored,
  kLocalShiftBehind,
  kLocalShiftsAddUp,
  kHalves,
  kCount
};

struct Fault {
  std::string_view name;
  std::string_view schemes;
};

inline constexpr std::array<Fault, kCount> kFaults = {{
    {"honest", "cape learned resampled sincos2d"},
    {"unstable", "cape learned resampled sincos2d"},
    {"row_behind", "cape learned resampled sincos2d"},
    {"positions_alike", "cape learned resampled sincos2d"},
    {"offset_missing", "learned"},
    {"clamps", "cape learned"},
    {"padding_read", "learned"},
    {"nan_spreads", "learned"},
    {"axes_swapped", "sincos2d"},
    {"column_major", "sincos2d"},
    {"scale_ignored", "cape sincos2d"},
    {"cosines_first", "sincos2d"},
    {"not_unit", "cape sincos2d"},
    {"corners_swapped", "resampled"},
    {"not_normalised", "resampled"},
    {"prefix_resampled", "resampled"},
    {"other_cubic", "resampled"},
    {"antialias_ignored", "resampled"},
    {"log_scale_ignored", "cape"},
    {"scaled_before_shifts", "cape"},
    {"mean_added", "cape"},
    {"position_scale_ignored", "cape"},
    {"global_shift_ignored", "cape"},
    {"global_shift_drifts", "cape"},
    {"local_shifts_ignored", "cape"},
    {"local_shift_behind", "cape"},
    {"local_shifts_add_up", "cape"},
    {"halves", "cape"},
}};

/// Of what such a kernel is called with. Throws ParameterError on positions without a row, where
/// the fault is not that it answers.
void Spoil(size_t fault, Scheme& scheme, NamedInputs& inputs);

/// Of rows [positions, width], before anything is added.
void SpoilRows(const Scheme& scheme, size_t fault, const NamedInputs& inputs,
               std::vector<double>& rows);

}  // namespace posgauge::row_faults
