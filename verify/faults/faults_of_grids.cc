#include <algorithm>
#include <array>
#include <cmath>

#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

using Resampled = resampled::Params;
using Grid = sincos2d::Params;

// Resampling without antialias, with one thing wrong.
struct Resampling {
  bool half_pixel = true, edges_repeat = true, nearest = false, sizes_inverted = false;
};

struct Axis {
  int64_t grid, target;
  std::optional<double> scale;
};

double StepOf(const Resampled& params, const Axis& axis) {
  const auto grid = static_cast<double>(axis.grid), target = static_cast<double>(axis.target);
  if (params.align_corners) return target == 1 ? 0 : (grid - 1) / (target - 1);
  if (axis.scale) return 1 / *axis.scale;
  return grid / (target + params.offset);
}

// Keys' cubic convolution, or a triangle.
double FilterAt(const Resampled& params, double u) {
  u = std::fabs(u);
  if (params.filter == resampled::Filter::bilinear) return std::max(1 - u, 0.0);
  const double a = params.cubic;
  if (u <= 1) return ((a + 2) * u - (a + 3)) * u * u + 1;
  return u < 2 ? ((a * u - 5 * a) * u + 8 * a) * u - 4 * a : 0;
}

// Indices in the source, and their weights.
std::vector<std::pair<int64_t, double>> Taps(const Resampled& params, const Resampling& how,
                                             const Axis& axis, int64_t target) {
  const double step = how.sizes_inverted ? 1 / StepOf(params, axis) : StepOf(params, axis);
  const auto o = static_cast<double>(target);
  const bool centres = how.half_pixel && !params.align_corners;
  if (how.nearest) {
    const auto index = static_cast<int64_t>(centres ? (o + 0.5) * step : std::round(o * step));
    return {{std::clamp(index, int64_t{0}, axis.grid - 1), 1.0}};
  }
  const double x = centres ? step * (o + 0.5) - 0.5 : step * o;
  const auto floor = static_cast<int64_t>(std::floor(x));
  std::vector<std::pair<int64_t, double>> taps;
  for (int64_t index = floor - 1; index <= floor + 2; ++index) {
    const int64_t held = std::clamp(index, int64_t{0}, axis.grid - 1);
    if (held != index && !how.edges_repeat) continue;
    taps.emplace_back(held, FilterAt(params, x - static_cast<double>(index)));
  }
  return taps;
}

template <bool half_pixel, bool edges_repeat, bool nearest, bool sizes_inverted>
double Resample(const Resampled& params, const NamedInputs& inputs, double position,
                int64_t channel) {
  const ExactTensor& table = inputs["table"];
  const auto row = static_cast<int64_t>(position);
  if (row < params.prefix) return table.At(row, channel);
  const Resampling how{half_pixel, edges_repeat, nearest, sizes_inverted};
  const int64_t token = row - params.prefix;
  double sum = 0;
  for (const auto& [h, of_row] : Taps(params, how, {params.grid_h, params.target_h, params.scale_h},
                                      token / params.target_w)) {
    for (const auto& [w, of_column] :
         Taps(params, how, {params.grid_w, params.target_w, params.scale_w},
              token % params.target_w)) {
      sum += of_row * of_column * table.At(params.prefix + h * params.grid_w + w, channel);
    }
  }
  return sum;
}

bool IsNarrow(const Resampled& params) { return !params.antialias; }
bool HasCentres(const Resampled& params) { return !params.antialias && !params.align_corners; }

// The first rows and columns of the grid, or the edge where there are none.
double Cropped(const Resampled& params, const NamedInputs& inputs, double position,
               int64_t channel) {
  const auto row = static_cast<int64_t>(position);
  const int64_t token = row - params.prefix;
  if (token < 0) return inputs["table"].At(row, channel);
  const int64_t h = std::min(token / params.target_w, params.grid_h - 1),
                w = std::min(token % params.target_w, params.grid_w - 1);
  return inputs["table"].At(params.prefix + h * params.grid_w + w, channel);
}

double PrefixResampled(const Question& question, const std::vector<double>& rows, size_t i) {
  const auto& params = std::get<Resampled>(question.scheme);
  const ExactTensor& table = question.inputs["table"];
  const auto width = static_cast<size_t>(params.width);
  const auto row = static_cast<int64_t>(question.inputs["positions"].values[i / width]);
  if (row >= params.prefix || row + 1 >= table.shape[0]) return rows[i];
  return (rows[i] + table.At(row + 1, static_cast<int64_t>(i % width))) / 2;
}

// Patches counted down the columns.
template <class Params>
bool CountColumnMajor(const Params& params, NamedInputs& inputs) {
  int64_t h = 0, w = 0;
  if constexpr (std::is_same_v<Params, Resampled>) {
    h = params.target_h, w = params.target_w;
  } else {
    h = params.grid_h, w = params.grid_w;
  }
  for (double& position : inputs.tensors["positions"].values) {
    const int64_t patch = static_cast<int64_t>(position) - params.prefix;
    if (patch >= 0) position = static_cast<double>(params.prefix + patch % h * w + patch / h);
  }
  return h > 1 && w > 1;
}

bool TransposeGrid(const Resampled& params, NamedInputs& inputs) {
  ExactTensor& table = inputs.tensors["table"];
  const ExactTensor before = table;
  for (size_t i = 0; i < table.values.size(); ++i) {
    const int64_t patch = static_cast<int64_t>(i) / params.width - params.prefix,
                  channel = static_cast<int64_t>(i) % params.width;
    if (patch < 0) continue;
    const int64_t from = patch % params.grid_w * params.grid_h + patch / params.grid_w;
    table.values[i] = before.At(params.prefix + from, channel);
  }
  return params.grid_h > 1 && params.grid_w > 1;
}

template <bool first>
bool OneAxisTwice(const Question& question, std::vector<double>& rows) {
  const auto* params = std::get_if<Grid>(&question.scheme);
  if (params == nullptr) return false;
  const auto width = static_cast<size_t>(params->width), half = width / 2;
  for (size_t row = 0; row < rows.size(); row += width) {
    for (size_t c = 0; c < half; ++c) {
      (first ? rows[row + half + c] : rows[row + c]) = first ? rows[row + c] : rows[row + half + c];
    }
  }
  return true;
}

}  // namespace

std::vector<Fault> FaultsOfGrids() {
  return {
      {.id = "patches_column_major",
       .cause = "patches are counted down the columns",
       .fix = "token = row * columns + column",
       .shows = "the second patch of a grid of two rows and two columns",
       .change = Given<Grid>(CountColumnMajor<Grid>),
       .more = {Given<Resampled>(CountColumnMajor<Resampled>)}},
      {.id = "first_axis_swapped",
       .cause = "the first half of the channels tells of the other axis",
       .fix = "columns first, as in MAE and diffusers; rows first, as in MoCo-v3",
       .shows = "a patch whose row and column differ",
       .change = Of<Grid>([](Grid& params) {
         using sincos2d::FirstAxis;
         params.first_axis =
             params.first_axis == FirstAxis::column ? FirstAxis::row : FirstAxis::column;
         return true;
       })},
      {.id = "first_axis_twice",
       .cause = "both halves of the channels tell of the first axis",
       .fix = "one half for each axis",
       .shows = "a patch whose row and column differ",
       .change = OfRows(OneAxisTwice<true>)},
      {.id = "second_axis_twice",
       .cause = "both halves of the channels tell of the second axis",
       .fix = "one half for each axis",
       .shows = "a patch whose row and column differ",
       .change = OfRows(OneAxisTwice<false>)},
      {.id = "axis_exponent_halved",
       .cause = "the exponents of an axis are spread over half of the width, not a quarter",
       .fix = "D = width/4: each axis has half of the channels, in pairs",
       .shows = "row or column 1, the second wave",
       .change = Of<Grid>([](Grid& params) {
         params.base = std::sqrt(params.base);
         return params.base > 1 && params.width > 4;
       })},
      {.id = "base_size_inverted",
       .cause = "coordinates are multiplied by grid/base_size where they should be divided",
       .fix = "index / (grid/base_size)",
       .shows = "row or column 1, a base_size other than the grid's",
       .change = Of<Grid>([](Grid& params) {
         if (!params.base_size || params.grid_h != params.grid_w) return false;
         const double ratio =
             static_cast<double>(*params.base_size) / static_cast<double>(params.grid_h);
         params.base_size.reset();
         params.interpolation_scale *= ratio;
         return true;
       })},
      {.id = "base_size_corners",
       .cause = "the corners of the grid are put on those of the base grid",
       .fix = "index / (grid/base_size), not index (base_size - 1)/(grid - 1)",
       .shows = "row or column 1, a base_size other than the grid's",
       .change = Of<Grid>([](Grid& params) {
         if (!params.base_size || params.grid_h != params.grid_w || params.grid_h < 2 ||
             *params.base_size < 2) {
           return false;
         }
         params.interpolation_scale *=
             static_cast<double>(params.grid_h - 1) / static_cast<double>(*params.base_size - 1);
         params.base_size.reset();
         return true;
       })},
      {.id = "corners_swapped",
       .cause = "corners are aligned where centres should be, or centres for corners",
       .fix =
           "align_corners as the model was trained: source (i + 1/2) S/T - 1/2, or i (S-1)/(T-1)",
       .shows = "a target other than the grid",
       .change = Of<Resampled>([](Resampled& params) {
         params.align_corners = !params.align_corners;
         params.antialias = false;
         params.offset = 0;
         params.scale_h.reset();
         params.scale_w.reset();
         return true;
       }),
       .links = {"https://github.com/facebookresearch/dinov2/issues/468",
                 "https://github.com/ggml-org/llama.cpp/pull/25781"},
       .kinds = {"ALIGN_CORNERS"}},
      {.id = "other_cubic",
       .cause = "the cubic has the other library's slope: -1/2 for -3/4, or -3/4 for -1/2",
       .fix = "-0.75 in torch, -0.5 in PIL, TensorFlow and torch with antialias",
       .shows = "a target other than the grid, bicubic",
       .change = Of<Resampled>([](Resampled& params) {
         params.cubic = params.cubic == -0.75 ? -0.5 : -0.75;
         return params.filter == resampled::Filter::bicubic;
       })},
      {.id = "bilinear_for_bicubic",
       .cause = "rows are resampled by straight lines where the model used cubics",
       .fix = "bicubic, with the slope of the model's library",
       .shows = "a target other than the grid, filter bicubic",
       .change = Of<Resampled>([](Resampled& params) {
         if (params.filter == resampled::Filter::bilinear) return false;
         params.filter = resampled::Filter::bilinear;
         return true;
       })},
      {.id = "prefix_resampled",
       .cause = "rows of the prefix are blended with those behind them",
       .fix = "split the prefix off before the grid is resampled",
       .shows = "position 0, a prefix",
       .change = OfRows([](const Question& question, std::vector<double>& rows) {
         const auto* params = std::get_if<Resampled>(&question.scheme);
         if (params == nullptr || params->prefix == 0) return false;
         for (size_t i = 0; i < rows.size(); ++i) rows[i] = PrefixResampled(question, rows, i);
         return true;
       })},
      {.id = "grid_transposed",
       .cause = "the table's grid is read down its columns",
       .fix = "row prefix + h grid_w + w of the table is that of row h and column w",
       .shows = "a grid of two rows and two columns",
       .change = Given<Resampled>(TransposeGrid)},
      {.id = "half_pixel_missing",
       .cause = "target i reads the source at i S/T, without half a patch on either side",
       .fix = "(i + 1/2) S/T - 1/2",
       .shows = "a target other than the grid, align_corners false",
       .change = OfEachChannel<Resampled>(Resample<false, true, false, false>, HasCentres)},
      {.id = "edges_zero",
       .cause = "what lies beyond an edge of the grid counts as zeros",
       .fix = "repeat the edge",
       .shows = "the first patch, bicubic or a larger target",
       .change = OfEachChannel<Resampled>(Resample<true, false, false, false>, IsNarrow)},
      {.id = "nearest_row",
       .cause = "every patch has the nearest row of the table",
       .fix = "interpolate, by the filter of the model",
       .shows = "a target other than the grid",
       .change = OfEachChannel<Resampled>(Resample<true, true, true, false>, IsNarrow)},
      {.id = "resampling_inverted",
       .cause = "the step is target/grid, not grid/target",
       .fix = "grid/target: a larger target has smaller steps",
       .shows = "the second patch, a target other than the grid",
       .change = OfEachChannel<Resampled>(Resample<true, true, false, true>, HasCentres)},
      {.id = "grid_cropped",
       .cause = "the table's grid is cropped to the target, not resampled",
       .fix = "resample it",
       .shows = "a target other than the grid",
       .change = OfEachChannel<Resampled>(Cropped)},
  };
}

}  // namespace posgauge
