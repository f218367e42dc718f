#include "faulty_kernels.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <numbers>
#include <utility>

#include "faulty_additions.h"
#include "faulty_attention.h"
#include "faulty_replays.h"
#include "faulty_rows.h"
#include "numbered_runs.h"
#include "posgauge/reference/addition.h"
#include "posgauge/reference/all.h"
#include "posgauge/reference/float64.h"
#include "posgauge/schemes/base/scalars.h"
#include "tensor_view.h"

namespace posgauge {

namespace {

enum Is : size_t {
  kHonest,
  // of the frequencies and the magnitude
  kBaseBit,
  kFrequencyBit,
  kWrongBase,
  kBaseIgnored,
  kFrequencyBf16,
  kFrequencyF16,
  kFrequency3ppm,
  kFrequency30ppm,
  kFactorMissing,
  kFactorSquared,
  kNtkNaive,
  kNtkAware,
  kNtkIgnoresLength,
  kNtkUnclamped,
  kNtkInverted,
  kNtkKeepsFirst,
  kNtkStepsEarly,
  kYarnRampInverted,
  kYarnRampByTurns,
  kYarnRampByPairs,
  kYarnUnclamped,
  kLlama3Swapped,
  kBlendMissing,
  kLongRopeSwitchesEarly,
  kLongRopeAlwaysLong,
  kLongRopeDropped,
  kAllPairsTurn,
  kWidthInExponent,
  kAxisSeries,
  kMagnitudeDropped,
  kMagnitudeSquared,
  // of the position and the angle
  kPositionPlusOne,
  kPositionBf16,
  kPositionF16,
  kPositionInt16,
  kPositionMod4096,
  kPositionAbsolute,
  kPositionRestarts,
  kFirstPosition,
  kFirstAxis,
  kAxesReversed,
  kNeighboursAxis,
  kAngleF32,
  // of the table
  kSinSign,
  kTableBf16,
  kTableF16,
  kTableInterpolated,
  kLastPairStill,
  kLastPairsStill,
  // of the rotation
  kPairingSwapped,
  kUntouchedWritten,
  kReadsNeighbour,
  kTermDropped,
  kArithmeticBf16,
  kArithmeticF16,
  kHeadsShifted,
  kHeadsPermuted,
  kStridesIgnored,
  kInPlaceHalf,
  kUnstable,
  kClamps,
  kNanToZero,
  kNanSpreads,
  // of the transpose
  kBackwardIsForward,
  kBackwardDivides,
  kCount
};

constexpr std::array<KernelFault, kCount> kFaults = {{
    {"honest", "none"},
    {"base_bit", "one bit of the base is flipped"},
    {"frequency_bit", "one bit of one frequency is flipped"},
    {"wrong_base", "a base of another model"},
    {"base_ignored", "the base is 10000 whatever the model's is"},
    {"frequency_bf16", "frequencies are rounded to bf16"},
    {"frequency_f16", "frequencies are rounded to f16"},
    {"frequency_3ppm", "frequencies are 3e-6 too large, relatively"},
    {"frequency_30ppm", "frequencies are 3e-5 too large, relatively"},
    {"factor_missing", "the scale factor is ignored"},
    {"factor_squared", "the scale factor is applied twice"},
    {"ntk_naive", "the base grows by s instead of s^(d/(d-2))"},
    {"ntk_aware", "the base grows by s^(d/(d-2)) instead of s"},
    {"ntk_ignores_length", "the dynamic form scales by s at every length"},
    {"ntk_unclamped", "lengths below the trained one are scaled too"},
    {"ntk_inverted", "frequencies rise where they should fall"},
    {"ntk_keeps_first", "powers of s count pairs from 0: the fastest is kept"},
    {"ntk_steps_early", "at a whole number of doublings the next one is taken"},
    {"yarn_ramp_inverted", "fast pairs are interpolated and slow ones kept"},
    {"yarn_ramp_by_turns", "the ramp is linear in turns, as the paper has it"},
    {"yarn_ramp_by_pairs", "the ramp is linear in pairs where the scheme has turns"},
    {"yarn_unclamped", "lengths below the original one are scaled too"},
    {"llama3_swapped", "the branches for long and short wavelengths are swapped"},
    {"blend_missing", "no pair between kept and divided is blended"},
    {"longrope_switches_early", "the long factors apply at the original length already"},
    {"longrope_always_long", "the short factors are never used"},
    {"longrope_dropped", "no factor is applied"},
    {"all_pairs_turn", "the proportion is ignored"},
    {"width_in_exponent", "the exponent is divided by the width that turns"},
    {"axis_series", "axes share one series where each has its own, and the other way round"},
    {"magnitude_dropped", "the magnitude is left out"},
    {"magnitude_squared", "the magnitude is applied twice"},
    {"position_plus_one", "positions count from 1"},
    {"position_bf16", "positions are rounded to bf16"},
    {"position_f16", "positions are rounded to f16"},
    {"position_int16", "positions wrap at 2^15"},
    {"position_mod_4096", "positions count anew every 4096"},
    {"position_absolute", "negative positions lose their sign"},
    {"position_restarts", "every call counts its tokens from 0"},
    {"first_position", "all tokens take the first one's position"},
    {"first_axis", "all pairs count the first axis"},
    {"axes_reversed", "axes are taken in the other order"},
    {"neighbours_axis", "a pair counts the axis of the next one"},
    {"angle_f32", "the angle is formed in f32"},
    {"sin_sign", "sin is negated"},
    {"table_bf16", "cos and sin are rounded to bf16"},
    {"table_f16", "cos and sin are rounded to f16"},
    {"table_interpolated", "cos and sin are interpolated linearly from 1024 points a turn"},
    {"last_pair_still", "the last pair is not rotated"},
    {"last_pairs_still", "the last 8 pairs are not rotated"},
    {"pairing_swapped", "the other pairing is used"},
    {"untouched_written", "a channel that does not rotate is written"},
    {"reads_neighbour", "the second channel is read from the next pair"},
    {"term_dropped", "the first channel lacks the term with sin"},
    {"arithmetic_bf16", "operands, products and sums are rounded to bf16"},
    {"arithmetic_f16", "operands, products and sums are rounded to f16"},
    {"heads_shifted", "later heads take the positions of later tokens"},
    {"heads_permuted", "a head is written where the next one belongs"},
    {"strides_ignored", "gaps between rows are taken for channels"},
    {"in_place_half", "the first channel is overwritten before the second is computed"},
    {"unstable", "every other run differs in a last bit"},
    {"clamps", "inputs beyond 4 are cut off"},
    {"nan_to_zero", "NaN and infinities are read as 0"},
    {"nan_spreads", "a NaN or an infinity reaches its whole head"},
    {"backward_is_forward", "the transpose turns the same way"},
    {"backward_divides", "the transpose divides by the magnitude: the inverse"},
}};

using Real = long double;

Real Plain(const Rotary& rotary, int64_t i) {
  return std::pow(static_cast<Real>(rotary.base),
                  -2 * static_cast<Real>(i) / static_cast<Real>(rotary.rotary_dim));
}

struct Schedule {
  std::vector<Real> frequency;
  Real magnitude = 1;
};

Schedule PlainSchedule(const Rotary& rotary) {
  Schedule schedule;
  for (int64_t i = 0; i < rotary.Pairs(); ++i) schedule.frequency.push_back(Plain(rotary, i));
  return schedule;
}

template <class Params>
void ApplyFactorFault(Params& params, size_t fault) {
  if (fault == kFactorMissing) params.factor = 1;
  if (fault == kFactorSquared) params.factor *= params.factor;
}

// A scheme that has no faults of its own here: its equations in plain binary64.
template <class Params>
requires requires(const Params& params) { Exact<double>(params); }
Schedule ScheduleOf(const Params& params, size_t) {
  const Rotation<double> rotation = AsRotation(Exact<double>(params));
  return {{rotation.frequency.begin(), rotation.frequency.end()}, rotation.magnitude};
}

Schedule ScheduleOf(const rope::Params& params, size_t) { return PlainSchedule(params.rotary); }

Schedule ScheduleOf(const mrope::Params& params, size_t fault) {
  Schedule schedule = PlainSchedule(params.rotary);
  for (size_t i = 1; fault == kAxisSeries && i < schedule.frequency.size(); ++i) {
    const auto pair = static_cast<int64_t>(i);
    if (params.AxisOf(pair) != params.AxisOf(pair - 1)) schedule.frequency[i] = 1;
  }
  return schedule;
}

Schedule ScheduleOf(const axial::Params& params, size_t fault) {
  if (fault == kAxisSeries) return PlainSchedule(params.rotary);
  Schedule schedule;
  for (int64_t i = 0; i < params.rotary.Pairs(); ++i) {
    const auto [index, pairs] = params.ExponentOf(i);
    schedule.frequency.push_back(std::pow(static_cast<Real>(params.rotary.base),
                                          -static_cast<Real>(index) / static_cast<Real>(pairs)));
  }
  return schedule;
}

Schedule ScheduleOf(linear::Params params, size_t fault) {
  ApplyFactorFault(params, fault);
  Schedule schedule = PlainSchedule(params.rotary);
  for (Real& frequency : schedule.frequency) frequency /= static_cast<Real>(params.factor);
  return schedule;
}

Schedule ScheduleOf(ntk::Params params, size_t fault) {
  ApplyFactorFault(params, fault);
  Real alpha = params.factor;
  if (params.form == ntk::Form::qwen && fault != kNtkIgnoresLength) {
    // 2^(ceil(log2(length/trained)) + 1) - 1; floor + 1 in place of ceil steps too early.
    const Real steps =
        std::log2(static_cast<Real>(*params.length) / static_cast<Real>(*params.trained_length));
    const Real rounded = fault == kNtkStepsEarly ? std::floor(steps) + 1 : std::ceil(steps);
    alpha = 2 * std::exp2(rounded) - 1;
    if (fault != kNtkUnclamped) alpha = std::max(alpha, Real(1));
  }
  if (params.form == ntk::Form::dynamic && fault != kNtkIgnoresLength) {
    const auto trained = static_cast<Real>(*params.trained_length);
    const Real beyond = static_cast<Real>(*params.length) - trained;
    alpha =
        1 + params.factor * (fault == kNtkUnclamped ? beyond : std::max(beyond, Real(0))) / trained;
  }
  if (fault == kNtkInverted) alpha = 1 / alpha;
  bool naive = params.form == ntk::Form::naive;
  if (fault == kNtkNaive) naive = true;
  if (fault == kNtkAware) naive = false;
  Schedule schedule = PlainSchedule(params.rotary);
  const auto d = static_cast<Real>(params.rotary.rotary_dim);
  for (size_t i = 0; i < schedule.frequency.size(); ++i) {
    const Real index = static_cast<Real>(i) + (fault == kNtkKeepsFirst ? 0 : 1);
    Real exponent = -2 * static_cast<Real>(i) / (naive ? d : d - 2);
    if (params.form == ntk::Form::fixed) exponent = -2 * index / d;
    if (params.form == ntk::Form::mixed) {
      exponent = -std::pow(2 * index / d, static_cast<Real>(*params.mixed_exponent));
    }
    schedule.frequency[i] *= std::pow(alpha, exponent);
  }
  return schedule;
}

Real TurnsOver(int64_t length, Real frequency) {
  return static_cast<Real>(length) * frequency / (2 * std::numbers::pi_v<Real>);
}

Real Blend(Real frequency, Real factor, Real kept, size_t fault) {
  if (fault == kBlendMissing) kept = kept > Real(0.5) ? 1 : 0;
  return frequency / factor * (1 - kept) + frequency * kept;
}

Schedule ScheduleOf(llama3::Params params, size_t fault) {
  ApplyFactorFault(params, fault);
  Schedule schedule = PlainSchedule(params.rotary);
  const Real low = params.low_frequency_factor, high = params.high_frequency_factor;
  for (Real& frequency : schedule.frequency) {
    const Real turns = TurnsOver(params.original_length, frequency);
    Real kept = turns > high ? 1 : turns < low ? 0 : (turns - low) / (high - low);
    if (fault == kLlama3Swapped) kept = 1 - kept;
    frequency = Blend(frequency, params.factor, kept, fault);
  }
  return schedule;
}

Real YarnMagnitude(const yarn::Params& params, Real factor) {
  const auto g = [&](Real mscale, Real slope) {
    return factor <= 1 ? Real(1) : slope * mscale * std::log(factor) + 1;
  };
  if (params.attention_factor) return *params.attention_factor;
  const Real mscale = params.mscale.value_or(0), all_dim = params.mscale_all_dim.value_or(0);
  const Real tenth = Real(1) / 10;
  Real magnitude = 1;
  switch (params.magnitude) {
    case yarn::Magnitude::huggingface:
      magnitude = mscale != 0 && all_dim != 0 ? g(mscale, tenth) / g(all_dim, tenth) : g(1, tenth);
      break;
    case yarn::Magnitude::deepseek:
      magnitude = g(params.mscale.value_or(1), tenth) / g(all_dim, tenth);
      break;
    case yarn::Magnitude::telechat3:
      magnitude = g(1, Real(7) / 100);
      break;
    case yarn::Magnitude::none:
      break;
  }
  return magnitude * params.attention_multiplier;
}

Schedule ScheduleOf(yarn::Params params, size_t fault) {
  ApplyFactorFault(params, fault);
  Real factor = params.factor;
  if (params.length) {
    factor = static_cast<Real>(*params.length) / static_cast<Real>(params.original_length);
    if (fault != kYarnUnclamped) factor = std::max(factor, Real(1));
  }
  const auto d = static_cast<Real>(params.rotary.rotary_dim);
  const auto pair_of = [&](Real turns) {
    return d *
           std::log(static_cast<Real>(params.original_length) /
                    (2 * std::numbers::pi_v<Real> * turns)) /
           (2 * std::log(static_cast<Real>(params.rotary.base)));
  };
  Real low = pair_of(params.beta_fast), high = pair_of(params.beta_slow);
  if (params.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, Real(0));
  high = std::min(high, d - 1);
  const bool step = low == high || (low > high && params.inverted_ramp == yarn::InvertedRamp::ggml);
  if (step) high = low + Real(1) / 1000;
  Schedule schedule = PlainSchedule(params.rotary);
  for (size_t i = 0; i < schedule.frequency.size(); ++i) {
    Real& frequency = schedule.frequency[i];
    Real ramp = std::clamp((static_cast<Real>(i) - low) / (high - low), Real(0), Real(1));
    if (fault == kYarnRampInverted) ramp = 1 - ramp;
    if (params.ramp == yarn::RampOver::turns ? fault != kYarnRampByPairs
                                             : fault == kYarnRampByTurns) {
      const Real turns = TurnsOver(params.original_length, frequency);
      const Real slow = params.beta_slow, fast = params.beta_fast;
      ramp = turns > fast ? 0 : turns < slow ? 1 : (fast - turns) / (fast - slow);
      if (fault == kYarnRampInverted) ramp = 1 - ramp;
    }
    frequency = Blend(frequency, factor, (1 - ramp) * params.extrapolation_factor, fault);
  }
  schedule.magnitude = YarnMagnitude(params, factor);
  return schedule;
}

Schedule ScheduleOf(longrope::Params params, size_t fault) {
  ApplyFactorFault(params, fault);
  const int64_t last = params.original_length - (fault == kLongRopeSwitchesEarly ? 1 : 0);
  const bool is_long = fault == kLongRopeAlwaysLong || params.length.value_or(0) > last;
  const auto& factors = is_long ? params.long_factor : params.short_factor;
  Schedule schedule = PlainSchedule(params.rotary);
  for (size_t i = 0; factors && fault != kLongRopeDropped && i < factors->size(); ++i) {
    schedule.frequency[i] /= static_cast<Real>((*factors)[i]);
  }
  const auto& own = is_long ? params.long_mscale : params.short_mscale;
  if (params.factor > 1) {
    schedule.magnitude = std::sqrt(1 + std::log(static_cast<Real>(params.factor)) /
                                           std::log(static_cast<Real>(params.original_length)));
  }
  if (own) schedule.magnitude = *own;
  if (params.attention_factor) schedule.magnitude = *params.attention_factor;
  return schedule;
}

Schedule ScheduleOf(proportional::Params params, size_t fault) {
  ApplyFactorFault(params, fault);
  const double width = params.proportion * static_cast<double>(params.rotary.rotary_dim);
  const auto turning = static_cast<size_t>(width / 2);
  Schedule schedule = PlainSchedule(params.rotary);
  for (size_t i = 0; i < schedule.frequency.size(); ++i) {
    Real& frequency = schedule.frequency[i];
    if (fault == kWidthInExponent && turning > 0) {
      frequency = std::pow(static_cast<Real>(params.rotary.base),
                           -static_cast<Real>(i) / static_cast<Real>(turning));
    }
    frequency /= static_cast<Real>(params.factor);
    if (i >= turning && fault != kAllPairsTurn) frequency = 0;
  }
  return schedule;
}

// Flips bit 30 of 52 of the significand: a relative change of 2^-22 to 2^-23.
double FlipBit(double value) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ (uint64_t{1} << 30));
}

double RoundToBf16(double value) { return RoundTo(FormatOf(Dtype::bf16), value); }
double RoundToF16(double value) { return RoundTo(FormatOf(Dtype::f16), value); }

double FrequencyAs(double frequency, size_t fault) {
  switch (fault) {
    case kFrequencyBf16:
      return RoundToBf16(frequency);
    case kFrequencyF16:
      return RoundToF16(frequency);
    case kFrequency3ppm:
      return frequency * (1 + 3e-6);
    case kFrequency30ppm:
      return frequency * (1 + 3e-5);
    default:
      return frequency;
  }
}

// Frequencies as binary64, with the sign of the direction.
struct Frequencies {
  std::vector<double> values;
  double magnitude;
};

Frequencies FrequenciesOf(Scheme scheme, size_t fault) {
  Rotary* rotary = IsRotary(scheme) ? &RotaryOf(scheme) : nullptr;
  if (rotary != nullptr && fault == kBaseBit) rotary->base = FlipBit(rotary->base);
  if (rotary != nullptr && fault == kWrongBase) rotary->base *= 50;
  if (rotary != nullptr && fault == kBaseIgnored) rotary->base = 10000;
  const bool clockwise = rotary != nullptr && rotary->direction == Direction::clockwise;
  const Schedule schedule = std::visit(
      [&](const auto& params) -> Schedule {
        if constexpr (requires { ScheduleOf(params, fault); }) return ScheduleOf(params, fault);
        throw ParameterError("has no frequencies");
      },
      scheme);
  Frequencies frequencies{{}, static_cast<double>(schedule.magnitude)};
  for (Real frequency : schedule.frequency) {
    const double value = FrequencyAs(static_cast<double>(frequency), fault);
    frequencies.values.push_back(clockwise ? -value : value);
  }
  if (fault == kFrequencyBit && !frequencies.values.empty()) {
    double& middle = frequencies.values[frequencies.values.size() / 2];
    middle = FlipBit(middle);
  }
  if (fault == kMagnitudeDropped) frequencies.magnitude = 1;
  if (fault == kMagnitudeSquared) frequencies.magnitude *= frequencies.magnitude;
  return frequencies;
}

double PositionAs(double position, int64_t token, double first, size_t fault) {
  switch (fault) {
    case kPositionPlusOne:
      return position + 1;
    case kPositionBf16:
      return RoundToBf16(position);
    case kPositionF16:
      return RoundToF16(position);
    case kPositionInt16:
      return static_cast<double>(static_cast<int16_t>(static_cast<int64_t>(position)));
    case kPositionMod4096:
      return std::fmod(position, 4096);
    case kPositionAbsolute:
      return std::fabs(position);
    case kPositionRestarts:
      return static_cast<double>(token);
    case kFirstPosition:
      return first;
    default:
      return position;
  }
}

struct Entry {
  double cos, sin;  // magnitude included
};

Entry Interpolated(double angle) {
  const double turn = 2 * std::numbers::pi;
  const double scaled = angle / turn * 1024, point = std::floor(scaled), share = scaled - point;
  const auto mix = [&](double from, double to) { return from + share * (to - from); };
  const double left = point / 1024 * turn, right = (point + 1) / 1024 * turn;
  return {mix(std::cos(left), std::cos(right)), mix(std::sin(left), std::sin(right))};
}

Entry EntryAt(const Frequencies& frequencies, double position, size_t pair, size_t fault) {
  const double frequency = frequencies.values[pair];
  double angle = position * frequency;
  if (fault == kAngleF32) {
    angle = static_cast<double>(static_cast<float>(position) * static_cast<float>(frequency));
  }
  if (fault == kLastPairStill && pair + 1 == frequencies.values.size()) angle = 0;
  if (fault == kLastPairsStill && pair + 8 >= frequencies.values.size()) angle = 0;
  Entry entry{std::cos(angle), std::sin(angle)};
  if (fault == kTableInterpolated) entry = Interpolated(angle);
  if (fault == kSinSign) entry.sin = -entry.sin;
  entry.cos *= frequencies.magnitude;
  entry.sin *= frequencies.magnitude;
  if (fault == kTableBf16) entry = {RoundToBf16(entry.cos), RoundToBf16(entry.sin)};
  if (fault == kTableF16) entry = {RoundToF16(entry.cos), RoundToF16(entry.sin)};
  return entry;
}

Scheme SchemeOf(const posgauge_call& call) {
  std::vector<Scalar> scalars;
  for (uint32_t i = 0; i < call.num_scalars; ++i) {
    scalars.emplace_back(call.scalars[i].name, call.scalars[i].value);
  }
  std::vector<NamedList> lists;
  for (const std::string& field : ListFields(call.scheme)) {
    for (uint32_t i = 0; i < call.num_inputs; ++i) {
      if (field != call.inputs[i].name) continue;
      const View list(call.inputs[i]);
      std::vector<double>& values = lists.emplace_back(field, std::vector<double>{}).second;
      for (int64_t at = 0; at < list.shape(0); ++at) values.push_back(list.Get(at));
    }
  }
  return SchemeFromScalars(call.scheme, scalars, lists);
}

void ExportFrequencies(const posgauge_call& call, size_t fault) {
  const Frequencies frequencies = FrequenciesOf(SchemeOf(call), fault);
  const View out = Output(call, "frequency");
  for (size_t i = 0; i < frequencies.values.size(); ++i) {
    out.Set(frequencies.values[i], static_cast<int64_t>(i));
  }
  Output(call, "magnitude").Set(frequencies.magnitude, int64_t{0});
}

// What each pair counts: positions [tokens], or [tokens, axes] with the axis of each pair.
class PositionsOfPairs {
 public:
  PositionsOfPairs(const posgauge_call& call, size_t fault)
      : positions_(Input(call, "positions")), fault_(fault) {
    for (uint32_t i = 0; i < call.num_inputs; ++i) {
      if (std::string_view("axis") == call.inputs[i].name) axis_ = View(call.inputs[i]);
    }
  }

  double At(int64_t token, int64_t pair) const {
    if (!axis_) {
      return PositionAs(positions_.Get(token), token, positions_.Get(int64_t{0}), fault_);
    }
    const int64_t asked = fault_ == kNeighboursAxis ? (pair + 1) % axis_->shape(0) : pair;
    auto axis = static_cast<int64_t>(axis_->Get(asked));
    if (fault_ == kFirstAxis) axis = 0;
    if (fault_ == kAxesReversed) axis = positions_.shape(1) - 1 - axis;
    return PositionAs(positions_.Get(token, axis), token, positions_.Get(int64_t{0}, axis), fault_);
  }

 private:
  View positions_;
  std::optional<View> axis_;
  size_t fault_;
};

// True on every other call.
bool EveryOther() {
  static std::atomic<unsigned> calls{0};
  return calls.fetch_add(1) % 2 == 1;
}

void ExportTable(const posgauge_call& call, size_t fault) {
  const Frequencies frequencies = FrequenciesOf(SchemeOf(call), fault);
  const PositionsOfPairs positions(call, fault);
  const View cos = Output(call, "cos"), sin = Output(call, "sin");
  const bool nudge = fault == kUnstable && EveryOther();
  for (int64_t token = 0; token < cos.shape(0); ++token) {
    for (int64_t pair = 0; pair < cos.shape(1); ++pair) {
      const Entry entry =
          EntryAt(frequencies, positions.At(token, pair), static_cast<size_t>(pair), fault);
      cos.Set(nudge ? entry.cos * 1.01 : entry.cos, token, pair);
      sin.Set(entry.sin, token, pair);
    }
  }
}

// Where the rotation takes cos and sin from: the call, or its own computation.
class Entries {
 public:
  Entries(const posgauge_call& call, const Scheme& scheme, bool given, size_t fault)
      : fault_(fault) {
    if (given) {
      cos_ = Input(call, "cos");
      sin_ = Input(call, "sin");
    } else {
      positions_.emplace(call, fault);
      frequencies_ = FrequenciesOf(scheme, fault);
    }
  }
  Entry At(int64_t token, int64_t pair) const {
    if (cos_) return {cos_->Get(token, pair), sin_->Get(token, pair)};
    return EntryAt(frequencies_, positions_->At(token, pair), static_cast<size_t>(pair), fault_);
  }
  double magnitude() const { return frequencies_.magnitude; }

 private:
  size_t fault_;
  std::optional<View> cos_, sin_;
  std::optional<PositionsOfPairs> positions_;
  Frequencies frequencies_{};
};

double ReadAs(double value, size_t fault) {
  if (fault == kClamps) return std::clamp(value, -4.0, 4.0);
  if (fault == kNanToZero && !std::isfinite(value)) return 0;
  return value;
}

// One pair in the arithmetic T: two products and a sum a channel, each rounded to T.
template <class T>
std::array<double, 2> Turn(double u, double v, Entry entry) {
  const T x = static_cast<T>(u), y = static_cast<T>(v);
  const T c = static_cast<T>(entry.cos), s = static_cast<T>(entry.sin);
  return {static_cast<double>(x * c - y * s), static_cast<double>(x * s + y * c)};
}

// The same in a narrow format. A product of two such numbers is exact in binary64.
std::array<double, 2> Turn(Format format, double u, double v, Entry entry) {
  const auto round = [format](double value) { return RoundTo(format, value); };
  const double x = round(u), y = round(v), c = round(entry.cos), s = round(entry.sin);
  return {round(round(x * c) - round(y * s)), round(round(x * s) + round(y * c))};
}

template <class T>
std::array<double, 2> TurnWith(size_t fault, double u, double v, Entry entry) {
  if (fault == kArithmeticBf16) return Turn(FormatOf(Dtype::bf16), u, v, entry);
  if (fault == kArithmeticF16) return Turn(FormatOf(Dtype::f16), u, v, entry);
  std::array<double, 2> turned = Turn<T>(u, v, entry);
  if (fault == kTermDropped) turned[0] = Turn<T>(u, 0, entry)[0];
  return turned;
}

template <class T>
void RotateHead(const View& x, const View& out, const Rotary& layout, const Entries& entries,
                int64_t token, int64_t head, bool backward, size_t fault) {
  const int64_t turned = fault == kHeadsShifted ? (token + head) % x.shape(0) : token;
  const int64_t written = fault == kHeadsPermuted ? (head + 1) % x.shape(1) : head;
  double sum = 0;
  for (int64_t channel = 0; fault == kNanSpreads && channel < layout.head_dim; ++channel) {
    sum += x.Get(token, head, channel);
  }
  const bool in_place_half = fault == kInPlaceHalf && x.data() == out.data();
  for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
    const auto [first, second] = layout.Channels(pair);
    const int64_t next =
        fault == kReadsNeighbour ? layout.Channels((pair + 1) % layout.Pairs())[1] : second;
    const double u = ReadAs(x.Get(token, head, first), fault);
    const double v = ReadAs(x.Get(token, head, next), fault);
    Entry entry = entries.At(turned, pair);
    if (backward && fault != kBackwardIsForward) entry.sin = -entry.sin;
    if (backward && fault == kBackwardDivides) {
      const double square = entries.magnitude() * entries.magnitude();
      entry = {entry.cos / square, entry.sin / square};
    }
    auto [a, b] = TurnWith<T>(fault, u, v, entry);
    if (in_place_half) b = Turn<T>(a, v, entry)[1];
    if (fault == kNanSpreads && !std::isfinite(sum)) a = b = std::nan("");
    out.Set(a, token, written, first);
    out.Set(b, token, written, second);
  }
}

template <class T>
void RotateAll(const posgauge_call& call, bool given, bool backward, size_t fault) {
  const Scheme scheme = SchemeOf(call);
  Rotary layout = RotaryOf(scheme);
  if (fault == kPairingSwapped) {
    layout.pairing = layout.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
  }
  View x = Input(call, "x"), out = Output(call, "out");
  if (fault == kStridesIgnored) {
    x = x.AsIfCompact();
    out = out.AsIfCompact();
  }
  const Entries entries(call, scheme, given, fault);
  // Reads its own input before writing, pair by pair: pairs share no channel.
  const bool nudge = fault == kUnstable && EveryOther();
  for (int64_t token = 0; token < x.shape(0); ++token) {
    for (int64_t head = 0; head < x.shape(1); ++head) {
      RotateHead<T>(x, out, layout, entries, token, head, backward, fault);
      for (int64_t channel = 0; channel < layout.head_dim; ++channel) {
        const int64_t inside = channel - layout.rotary_offset;
        if (inside >= 0 && inside < layout.rotary_dim) continue;
        out.Copy(x, token, head, channel);
        if (fault == kUntouchedWritten)
          out.Set(2 * x.Get(token, head, channel), token, head, channel);
      }
      if (nudge && layout.Pairs() > 0) {
        const int64_t first = layout.Channels(0)[0];
        out.Set(out.Get(token, head, first) * 1.01, token, head, first);
      }
    }
  }
}

enum class Form { rotate, rotate_with_table, rotate_backward, table, frequencies };
constexpr std::array<std::string_view, 5> kFormNames = {"rotate", "rotate_with_table",
                                                        "rotate_backward", "table", "frequencies"};

struct Offer {
  size_t fault;
  Form form;
  Dtype dtype;
};

bool HasEffect(size_t fault, Form form) {
  if (fault == kHonest) return true;
  const bool frequency = fault >= kBaseBit && fault <= kMagnitudeSquared;
  const bool position = fault >= kPositionPlusOne && fault <= kAngleF32;
  const bool table = fault >= kSinSign && fault <= kLastPairsStill;
  const bool rotation = fault >= kPairingSwapped && fault <= kNanSpreads;
  const bool backward = fault >= kBackwardIsForward;
  switch (form) {
    case Form::rotate:
      return frequency || position || table || rotation;
    case Form::rotate_with_table:
      return rotation;
    case Form::rotate_backward:
      return frequency || position || table || rotation || backward;
    case Form::table:
      return frequency || position || table || fault == kUnstable;
    case Form::frequencies:
      return frequency;
  }
  return false;
}

constexpr size_t kFormsAndDtypes = 5 * kFloatDtypes.size();

constexpr Offer OfferAt(size_t index) {
  const size_t rest = index % kFormsAndDtypes;
  return {index / kFormsAndDtypes, static_cast<Form>(rest / kFloatDtypes.size()),
          kFloatDtypes[rest % kFloatDtypes.size()]};
}

void Serve(const Offer& offer, const posgauge_call& call) {
  switch (offer.form) {
    case Form::frequencies:
      return ExportFrequencies(call, offer.fault);
    case Form::table:
      return ExportTable(call, offer.fault);
    default:
      break;
  }
  const bool given = offer.form == Form::rotate_with_table;
  const bool backward = offer.form == Form::rotate_backward;
  if (offer.dtype == Dtype::f64) {
    RotateAll<double>(call, given, backward, offer.fault);
  } else {
    RotateAll<float>(call, given, backward, offer.fault);
  }
}

// The C interface hands no context over, so each kernel is a function of its own.
void ServeNumber(size_t index, const posgauge_call& call) { Serve(OfferAt(index), call); }

constexpr auto kRuns = NumberedRuns<ServeNumber, kCount * kFormsAndDtypes>();

std::string_view Quantity(Form form) {
  switch (form) {
    case Form::rotate:
    case Form::rotate_with_table:
      return "rotate";
    default:
      return kFormNames[static_cast<size_t>(form)];
  }
}

// What they all compute: frequencies rounded once from long double, angles and sines in binary64,
// cos and sin in the rotation's arithmetic.
std::string ContractOf(Form form, Dtype dtype) {
  const std::string_view io = Name(dtype), wide = dtype == Dtype::f64 ? "f64" : "f32";
  return fmt::format(
      "position=i64 frequency=f64:pow angle=f64 trig=1ulp:f64 table={} rotate={} accumulate={} "
      "store={}:rne flush=no",
      form == Form::table ? io : wide, wide, wide, io);
}

struct Library {
  std::deque<std::string> texts;  // what the descriptors point to
  std::vector<posgauge_kernel> kernels;

  Library() {
    const auto keep = [&](std::string text) { return texts.emplace_back(std::move(text)).c_str(); };
    for (size_t index = 0; index < kRuns.size(); ++index) {
      const Offer offer = OfferAt(index);
      if (!HasEffect(offer.fault, offer.form)) continue;
      if (offer.form == Form::frequencies && offer.dtype != Dtype::f64) continue;
      // Eight bits hide many a fault.
      if (offer.fault != kHonest && SizeOf(offer.dtype) == 1) continue;
      const std::string_view io = Name(offer.dtype),
                             form = kFormNames[static_cast<size_t>(offer.form)];
      const std::string_view wide = offer.dtype == Dtype::f64 ? "f64" : "f32";
      const bool rotates = offer.form <= Form::rotate_backward;
      std::string inputs, outputs;
      if (rotates) {
        inputs = offer.form == Form::rotate_with_table
                     ? fmt::format("x:{} cos:{} sin:{}", io, wide, wide)
                     : fmt::format("x:{} positions:i64,f64 axis?:i64", io);
        outputs = fmt::format("out:{}", io);
      } else if (offer.form == Form::table) {
        inputs = "positions:i64,f64 axis?:i64";
        outputs = fmt::format("cos:{} sin:{}", io, io);
      } else {
        outputs = "frequency:f64 magnitude:f64";
      }
      const std::string prefix =
          offer.fault == kHonest ? "honest" : fmt::format("faulty.{}", kFaults[offer.fault].name);
      kernels.push_back({.size = sizeof(posgauge_kernel),
                         .name = keep(fmt::format("{}.{}.{}", prefix, form, io)),
                         .schemes = "*",
                         .quantity = keep(std::string(Quantity(offer.form))),
                         .inputs = keep(inputs),
                         .outputs = keep(outputs),
                         .pairings = "half interleaved half_per_axis",
                         .contract = keep(ContractOf(offer.form, offer.dtype)),
                         .invariances = "chunking batch alignment pairing axes",
                         .in_place = rotates ? 1 : 0,
                         .largest_rotary_dim = 0,
                         .largest_position = 0,
                         .run = kRuns[index]});
    }
    for (const posgauge_kernel& kernel : FaultyAdditions()) kernels.push_back(kernel);
    for (const posgauge_kernel& kernel : FaultyAttention()) kernels.push_back(kernel);
    for (const posgauge_kernel& kernel : FaultyReplays()) kernels.push_back(kernel);
    for (const posgauge_kernel& kernel : FaultyRows()) kernels.push_back(kernel);
  }
};

}  // namespace

std::span<const KernelFault> KernelFaults() { return std::span(kFaults).subspan(1); }

std::span<const posgauge_kernel> FaultyKernels() {
  static const Library library;
  return library.kernels;
}

KernelInfo FaultyKernel(std::string_view name) {
  for (const posgauge_kernel& kernel : FaultyKernels()) {
    if (name == kernel.name) return KernelInfo(kernel);
  }
  throw ParameterError(fmt::format("no kernel {}", name));
}

}  // namespace posgauge
