#include "faulty_additions.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "posgauge/schemes/base/scalars.h"
#include "tensor_view.h"

namespace posgauge {

namespace {

using Params = sinusoidal::Params;

enum Is : size_t {
  kHonest,
  // of the row
  kWrongBase,
  kOtherDenominator,
  kScaleIgnored,
  kStartIgnored,
  kPositionPlusOne,
  kPositionBf16,
  kPositionAbsolute,
  kPositionRestarts,
  kSinSign,
  kSinAndCosSwapped,
  kAmplitude,
  kZerosWritten,
  kUnstable,
  // of the sum
  kAddedTwice,
  kClamps,
  kNanToZero,
  kNanSpreads,
  kInPlaceReread,
  kStridesIgnored,
  kCount
};

constexpr std::array<std::string_view, kCount> kNames = {"honest",
                                                         "wrong_base",
                                                         "other_denominator",
                                                         "scale_ignored",
                                                         "start_ignored",
                                                         "position_plus_one",
                                                         "position_bf16",
                                                         "position_absolute",
                                                         "position_restarts",
                                                         "sin_sign",
                                                         "sin_and_cos_swapped",
                                                         "amplitude",
                                                         "zeros_written",
                                                         "unstable",
                                                         "added_twice",
                                                         "clamps",
                                                         "nan_to_zero",
                                                         "nan_spreads",
                                                         "in_place_reread",
                                                         "strides_ignored"};

enum class Form { rows, embed, embed_given };
constexpr std::array<std::string_view, 3> kFormNames = {"rows", "embed", "embed_given"};
constexpr std::array kDtypes = {Dtype::f64, Dtype::f32, Dtype::bf16, Dtype::f16};
constexpr size_t kFormsAndDtypes = kFormNames.size() * kDtypes.size();

struct Offer {
  size_t fault;
  Form form;
  Dtype dtype;
};

constexpr Offer OfferAt(size_t index) {
  const size_t rest = index % kFormsAndDtypes;
  return {index / kFormsAndDtypes, static_cast<Form>(rest / kDtypes.size()),
          kDtypes[rest % kDtypes.size()]};
}

bool HasEffect(size_t fault, Form form) {
  const bool of_row = fault >= kWrongBase && fault <= kUnstable;
  if (form == Form::rows) return fault == kHonest || of_row;
  return form == Form::embed || !of_row;
}

bool EveryOther() {
  static std::atomic<unsigned> calls{0};
  return calls.fetch_add(1) % 2 == 1;
}

double RoundToBf16(double value) { return RoundTo(FormatOf(Dtype::bf16), value); }

// Angles in binary64 from frequencies that long double rounds to it.
class Rows {
 public:
  Rows(const Params& params, size_t fault) : params_(params), fault_(fault) {
    if (fault == kWrongBase) params_.base = params_.base * 50;
    if (fault == kScaleIgnored) params_.scale = 1;
    if (fault == kStartIgnored) params_.start = 0;
    const int64_t twice = params_.TwiceDenominator() + (fault == kOtherDenominator ? 2 : 0);
    for (int64_t k = 0; k < params_.Waves(); ++k) {
      const long double exponent =
          -2 * static_cast<long double>(k) / static_cast<long double>(twice);
      frequencies_.push_back(
          static_cast<double>(static_cast<long double>(params_.scale) *
                              std::pow(static_cast<long double>(params_.base), exponent)));
    }
    nudge_ = fault == kUnstable && EveryOther();
  }

  double At(double position, int64_t token, int64_t channel) const {
    if (fault_ == kPositionPlusOne) position += 1;
    if (fault_ == kPositionBf16) position = RoundToBf16(position);
    if (fault_ == kPositionRestarts) position = static_cast<double>(token);
    double index = position + static_cast<double>(params_.start);
    if (fault_ == kPositionAbsolute) index = std::fabs(index);
    Channel held = params_.ChannelAt(channel);
    const bool padding =
        params_.padding_index && index == static_cast<double>(*params_.padding_index);
    if (held.function == Wave::zero || padding) return fault_ == kZerosWritten ? 0.5 : 0;
    if (fault_ == kSinAndCosSwapped) {
      held.function = held.function == Wave::sin ? Wave::cos : Wave::sin;
    }
    const double angle = index * frequencies_[static_cast<size_t>(held.wave)];
    double value = held.function == Wave::sin ? std::sin(angle) : std::cos(angle);
    if (fault_ == kSinSign && held.function == Wave::sin) value = -value;
    if (fault_ == kAmplitude) value *= 0.75;
    return nudge_ ? value * 0.99 : value;
  }

 private:
  Params params_;
  size_t fault_;
  std::vector<double> frequencies_;
  bool nudge_;
};

double ReadAs(double value, size_t fault) {
  if (fault == kClamps) return std::clamp(value, -1.0, 1.0);
  if (fault == kNanToZero && !std::isfinite(value)) return 0;
  return value;
}

void Serve(const Offer& offer, const posgauge_call& call) {
  std::vector<Scalar> scalars;
  for (uint32_t i = 0; i < call.num_scalars; ++i) {
    scalars.emplace_back(call.scalars[i].name, call.scalars[i].value);
  }
  const Scheme scheme = SchemeFromScalars(call.scheme, scalars);
  const Rows rows(std::get<Params>(scheme), offer.fault);
  if (offer.form == Form::rows) {
    const View positions = Input(call, "positions"), out = Output(call, "rows");
    for (int64_t token = 0; token < out.shape(0); ++token) {
      for (int64_t channel = 0; channel < out.shape(1); ++channel) {
        out.Set(rows.At(positions.Get(token), token, channel), token, channel);
      }
    }
    return;
  }
  const bool given = offer.form == Form::embed_given;
  const View from = Input(call, given ? "rows" : "positions");
  View x = Input(call, "x"), out = Output(call, "out");
  if (offer.fault == kStridesIgnored) {
    x = x.AsIfCompact();
    out = out.AsIfCompact();
  }
  for (int64_t token = 0; token < x.shape(0); ++token) {
    double sum = 0;
    for (int64_t channel = 0; channel < x.shape(1); ++channel) sum += x.Get(token, channel);
    for (int64_t channel = 0; channel < x.shape(1); ++channel) {
      // Channel 0 is read again after it was written.
      const int64_t read =
          offer.fault == kInPlaceReread && x.data() == out.data() && channel == 1 ? 0 : channel;
      const double value = ReadAs(x.Get(token, read), offer.fault);
      const double entry =
          given ? from.Get(token, channel) : rows.At(from.Get(token), token, channel);
      const double added = offer.fault == kAddedTwice ? 2 * entry : entry;
      double result = 0;
      if (offer.dtype == Dtype::f64) {
        result = value + added;
      } else {
        // Both rounded to f32, and their sum.
        result = static_cast<double>(static_cast<float>(value) + static_cast<float>(added));
      }
      if (offer.fault == kNanSpreads && !std::isfinite(sum)) result = std::nan("");
      out.Set(result, token, channel);
    }
  }
}

template <size_t index>
int32_t Run(const posgauge_call* call, char* why, size_t why_size) {
  try {
    Serve(OfferAt(index), *call);
    return POSGAUGE_OK;
  } catch (const std::exception& error) {
    std::snprintf(why, why_size, "%s", error.what());
    return POSGAUGE_FAILED;
  }
}

using RunFunction = int32_t (*)(const posgauge_call*, char*, size_t);

template <size_t... index>
constexpr auto AllRuns(std::index_sequence<index...>) {
  return std::array<RunFunction, sizeof...(index)>{Run<index>...};
}

constexpr auto kRuns = AllRuns(std::make_index_sequence<kCount * kFormsAndDtypes>());

struct Library {
  std::deque<std::string> texts;  // what the descriptors point to
  std::vector<posgauge_kernel> kernels;

  Library() {
    const auto keep = [&](std::string text) { return texts.emplace_back(std::move(text)).c_str(); };
    for (size_t index = 0; index < kRuns.size(); ++index) {
      const Offer offer = OfferAt(index);
      if (!HasEffect(offer.fault, offer.form)) continue;
      const std::string_view io = Name(offer.dtype);
      const std::string_view wide = offer.dtype == Dtype::f64 ? "f64" : "f32";
      const bool embeds = offer.form != Form::rows;
      const std::string inputs = offer.form == Form::rows ? "positions:i64,f64"
                                 : offer.form == Form::embed
                                     ? fmt::format("x:{} positions:i64,f64", io)
                                     : fmt::format("x:{} rows:{}", io, wide);
      const std::string prefix =
          offer.fault == kHonest ? "honest" : fmt::format("faulty.{}", kNames[offer.fault]);
      kernels.push_back(
          {.size = sizeof(posgauge_kernel),
           .name = keep(
               fmt::format("{}.{}.{}", prefix, kFormNames[static_cast<size_t>(offer.form)], io)),
           .schemes = "sinusoidal",
           .quantity = embeds ? "embed" : "table",
           .inputs = keep(inputs),
           .outputs = keep(fmt::format("{}:{}", embeds ? "out" : "rows", io)),
           .pairings = "",
           .contract = keep(fmt::format(
               "position=i64 frequency=f64:pow angle=f64 trig=1ulp:f64 table={} rotate={} "
               "store={}:rne flush=no",
               embeds ? wide : io, wide, io)),
           .invariances = "chunking batch alignment",
           .in_place = embeds ? 1 : 0,
           .largest_rotary_dim = 0,
           .largest_position = 0,
           .run = kRuns[index]});
    }
  }
};

}  // namespace

std::span<const posgauge_kernel> FaultyAdditions() {
  static const Library library;
  return library.kernels;
}

}  // namespace posgauge
