#include <algorithm>
#include <cmath>

#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

// Of local shifts as they are, one after another.
template <class Change>
ChangeInputs OfLocalShifts(const Change&) {
  return Given<cape::Params>([](const cape::Params&, NamedInputs& inputs) {
    std::vector<double>& shifts = inputs.tensors["local_shift"].values;
    const std::vector<double> right = shifts;
    for (size_t n = 0; n < shifts.size(); ++n) {
      shifts[n] = Change{}(right, n > 0 ? shifts[n - 1] : 0, n);
    }
    return shifts != right;
  });
}

bool KeepRowBehind(const Scheme& scheme, NamedInputs& inputs) {
  if (!IsOneOf<learned::Params, resampled::Params, sincos2d::Params, cape::Params>(scheme)) {
    return false;
  }
  const auto* learned = std::get_if<learned::Params>(&scheme);
  const double first = learned != nullptr ? static_cast<double>(-learned->offset) : 0;
  for (double& position : inputs.tensors["positions"].values) {
    position = std::max(position - 1, first);
  }
  return true;
}

// Positions beyond a table whose rows there are zeros.
template <bool wraps>
bool ReadBeyond(const learned::Params& params, NamedInputs& inputs) {
  bool any = false;
  for (double& position : inputs.tensors["positions"].values) {
    const auto rows = static_cast<double>(params.rows), offset = static_cast<double>(params.offset);
    if (position + offset < rows) continue;
    any = true;
    position = wraps ? std::fmod(position + offset, rows) - offset : rows - offset - 1;
  }
  return any;
}

bool CountPadding(const learned::Params&, NamedInputs& inputs) {
  double padding = 0;
  for (double& position : inputs.tensors["positions"].values) {
    if (position == -1) {
      ++padding;
    } else {
      position += padding;
    }
  }
  return padding > 0;
}

Fault OfCape(const char* id, const char* cause, const char* shows, Change change) {
  return {.id = id,
          .cause = cause,
          .fix = "t_n = (position_scale n - mean + global_shift + local_shift[n]) e^log_scale",
          .shows = shows,
          .change = std::move(change)};
}

std::vector<Fault> FaultsOfShifts() {
  using Params = cape::Params;
  using Shifts = std::vector<double>;
  return {
      OfCape("scaled_before_shifts", "positions are scaled before they are shifted",
             "log_scale and a shift other than 0", Of<Params>([](Params& params) {
               if (params.log_scale == 0) return false;
               params.position_scale *= std::exp(params.log_scale);
               params.mean *= std::exp(params.log_scale);
               params.log_scale = 0;
               return true;
             })),
      OfCape("mean_added", "the mean is added, not taken off", "a mean other than 0",
             Of<Params>([](Params& params) {
               params.mean = -params.mean;
               return params.mean != 0;
             })),
      OfCape("mean_of_indices", "the mean is that of indices, while positions are scaled",
             "a mean other than 0, position_scale other than 1", Of<Params>([](Params& params) {
               if (params.mean == 0 || params.position_scale == 1) return false;
               params.mean /= params.position_scale;
               return true;
             })),
      OfCape("global_shift_negated", "the global shift is taken off, not added",
             "a global shift other than 0", Of<Params>([](Params& params) {
               params.global_shift = -params.global_shift;
               return params.global_shift != 0;
             })),
      OfCape("log_scale_negated", "positions are divided by e^log_scale", "log_scale other than 0",
             Of<Params>([](Params& params) {
               params.log_scale = -params.log_scale;
               return params.log_scale != 0;
             })),
      OfCape("log_scale_as_scale", "positions are multiplied by log_scale itself",
             "log_scale above 0", Of<Params>([](Params& params) {
               if (params.log_scale <= 0) return false;
               params.log_scale = std::log(params.log_scale);
               return true;
             })),
      OfCape("local_shifts_ignored", "local shifts are not added", "a local shift other than 0",
             OfLocalShifts([](const Shifts&, double, size_t) { return 0.0; })),
      OfCape("local_shifts_negated", "local shifts are taken off, not added",
             "a local shift other than 0",
             OfLocalShifts([](const Shifts& right, double, size_t n) { return -right[n]; })),
      OfCape("local_shift_behind", "every token has the local shift of the one before it",
             "two local shifts that differ",
             OfLocalShifts([](const Shifts& right, double, size_t n) {
               return n > 0 ? right[n - 1] : right[n];
             })),
      OfCape("local_shifts_add_up", "local shifts add up from token to token",
             "token 1, a local shift before it",
             OfLocalShifts(
                 [](const Shifts& right, double before, size_t n) { return right[n] + before; })),
  };
}

}  // namespace

std::vector<Fault> FaultsOfRows() {
  std::vector<Fault> faults = {
      {.id = "row_behind",
       .cause = "every token has the row before its own; the first one keeps it",
       .fix = "count tokens from 0",
       .shows = "position 1",
       .change = ChangeInputs{KeepRowBehind}},
      {.id = "offset_twice",
       .cause = "the offset of the table is added twice",
       .fix = "add it in the model or in the data, not in both",
       .shows = "an offset other than 0",
       .change = Given<learned::Params>([](const learned::Params& params, NamedInputs& inputs) {
         for (double& position : inputs.tensors["positions"].values) {
           position += static_cast<double>(params.offset);
         }
         return params.offset != 0;
       })},
      {.id = "padding_counted",
       .cause = "positions count padding on the left",
       .fix = "position = tokens that are no padding up to here, less one",
       .shows = "one padding token before the first token",
       .change = Given<learned::Params>(CountPadding),
       .links = {"https://github.com/ndif-team/nnsight/issues/672",
                 "https://github.com/ndif-team/nnsight/pull/673"},
       .kinds = {"LEFTPAD_ARANGE"}},
      {.id = "beyond_clamped",
       .cause = "positions beyond the table take its last row",
       .fix = "no row, zeros, beyond the table",
       .shows = "a position from rows - offset on, beyond zero",
       .change = Given<learned::Params>(ReadBeyond<false>)},
      {.id = "beyond_wraps",
       .cause = "positions beyond the table begin again at its first row",
       .fix = "no row, zeros, beyond the table",
       .shows = "a position from rows - offset on, beyond zero",
       .change = Given<learned::Params>(ReadBeyond<true>)},
  };
  Append(faults, FaultsOfGrids());
  Append(faults, FaultsOfShifts());
  return faults;
}

}  // namespace posgauge
