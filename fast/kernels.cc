#include "posgauge/fast/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <string>
#include <variant>

#include "posgauge/fast/add.h"
#include "posgauge/fast/all.h"
#include "posgauge/fast/angles.h"
#include "posgauge/fast/attention.h"
#include "posgauge/fast/call.h"
#include "posgauge/fast/simd.h"

namespace posgauge {

namespace fast {
namespace {

// Beyond it the bounds of table-inl.h do not hold; a thousand times above any scheme's magnitude.
constexpr double kLargestMagnitude = 0x1p30;

void ComputeFrequencies(const Call& call) {
  const Scheme scheme = SchemeFromScalars(call.SchemeName(), call.Scalars(), call.Lists());
  const FastRotation rotation = std::visit(
      []<class Params>(const Params& params) -> FastRotation {
        if constexpr (requires { Frequencies(params); }) {
          return Frequencies(params);
        } else {
          throw ParameterError(fmt::format("{} has no frequencies", Params::kName));
        }
      },
      scheme);
  const auto pairs = static_cast<int64_t>(rotation.frequency.size());
  const Array high = call.Output("frequency", {Dtype::f64}, {pairs});
  const Array low = call.Output("frequency_low", {Dtype::f64}, {pairs});
  const Array magnitude = call.Output("magnitude", {Dtype::f64}, {1});
  for (int64_t i = 0; i < pairs; ++i) {
    const DoubleDouble& frequency = rotation.frequency[static_cast<size_t>(i)];
    std::memcpy(high.At(i), &frequency.high, sizeof(double));
    std::memcpy(low.At(i), &frequency.low, sizeof(double));
  }
  std::memcpy(magnitude.At(0), &rotation.magnitude.high, sizeof(double));
}

double MagnitudeOf(const Call& call) {
  const double magnitude = call.Input("magnitude", {Dtype::f64}, {1}).Value(0);
  Require(
      std::fabs(magnitude) <= kLargestMagnitude && std::fabs(magnitude) >= 1 / kLargestMagnitude,
      "magnitude must be in {}..{}, got {}", 1 / kLargestMagnitude, kLargestMagnitude, magnitude);
  return magnitude;
}

// Rows for a kernel that rotates from positions.
class ScaledAngles {
 public:
  ScaledAngles(const Call& call, int64_t tokens, int64_t pairs)
      : magnitude_(MagnitudeOf(call)), angles_(AnglesOf(call, tokens, pairs)) {}

  int64_t tokens() const { return angles_.Tokens(); }
  int64_t pairs() const { return static_cast<int64_t>(angles_.turns.Pairs()); }

  void Row(int64_t token, Dtype dtype, void* cos, void* sin) {
    const auto axes = static_cast<size_t>(angles_.axes);
    const auto row = std::span(angles_.positions).subspan(static_cast<size_t>(token) * axes, axes);
    if (angles_.axis.empty()) {
      CosSinRow(angles_.turns, row[0], magnitude_, dtype, cos, sin);
      return;
    }
    own_.Set(row, angles_.axis);
    CosSinRow(angles_.turns, own_, magnitude_, dtype, cos, sin);
  }

 private:
  double magnitude_;
  Angles angles_;
  PairPositions own_;
};

void Scatter(const std::byte* from, const Array& to, int64_t token) {
  const size_t size = SizeOf(to.dtype);
  for (int64_t i = 0; i < to.shape[1]; ++i, from += size) std::memcpy(to.At(token, i), from, size);
}

void ComputeTable(const Call& call, Dtype dtype) {
  ScaledAngles angles(call, kAnyLength, kAnyLength);
  const int64_t tokens = angles.tokens(), pairs = angles.pairs();
  const Array cos = call.Output("cos", {dtype}, {tokens, pairs});
  const Array sin = call.Output("sin", {dtype}, {tokens, pairs});
  const bool contiguous = cos.stride[1] == 1 && sin.stride[1] == 1;
  RowBuffer buffer(contiguous ? 0 : 2 * static_cast<size_t>(pairs));
  for (int64_t token = 0; token < tokens; ++token) {
    if (contiguous) {
      angles.Row(token, dtype, cos.At(token), sin.At(token));
    } else {
      std::byte* const sines = buffer.data() + static_cast<size_t>(pairs) * sizeof(double);
      angles.Row(token, dtype, buffer.data(), sines);
      Scatter(buffer.data(), cos, token);
      Scatter(sines, sin, token);
    }
  }
}

// Pairs whose channels lie side by side.
struct Block {
  int64_t first, pairs;
};

// All pairs, or those of each axis where it pairs its own channels.
std::vector<Block> BlocksOf(const Call& call, Pairing pairing, int64_t pairs) {
  if (pairing != Pairing::half_per_axis) return {{0, pairs}};
  const Array section = call.Input("section", {Dtype::f64}, {kAnyLength});
  std::vector<Block> blocks;
  int64_t sum = 0;
  for (int64_t axis = 0; axis < section.shape[0]; ++axis) {
    const double own = section.Value(axis);
    Require(own == std::floor(own) && own >= 0 && own <= static_cast<double>(pairs - sum),
            "section must be whole numbers from 0 on that sum to {} (rotary_dim/2), got {}", pairs,
            own);
    if (own > 0) blocks.push_back({sum, static_cast<int64_t>(own)});
    sum += static_cast<int64_t>(own);
  }
  Require(sum == pairs, "section must sum to {} (rotary_dim/2), got {}", pairs, sum);
  return blocks;
}

// The rows of a rotation, in the form that RotateHeads takes.
class Rows {
 public:
  Rows(const Call& call, Dtype io, std::optional<Dtype> table, int64_t tokens, int64_t pairs,
       Pairing pairing, bool backward)
      : io_(io), pairs_(pairs), pairing_(pairing), backward_(backward) {
    bool contiguous = true;
    if (table) {
      cos_table_ = call.Input("cos", {*table}, {tokens, pairs});
      sin_table_ = call.Input("sin", {*table}, {tokens, pairs});
      contiguous = cos_table_->stride[1] == 1 && sin_table_->stride[1] == 1;
    } else {
      angles_.emplace(call, tokens, pairs);
    }
    as_is_ = contiguous && table.value_or(ComputeDtype(io)) == ComputeDtype(io) && !backward &&
             TakesPlainRows(io, pairing);
    buffer_ =
        RowBuffer(((table ? 0 : kMade) + (as_is_ ? 0 : kSpread)) * static_cast<size_t>(pairs));
  }

  struct Row {
    const void *cos, *sin;
  };

  // A whole row, valid until the next call.
  TableRow At(int64_t token) {
    if (cos_table_) {
      return {cos_table_->dtype, cos_table_->At(token), sin_table_->At(token),
              cos_table_->stride[1], sin_table_->stride[1]};
    }
    std::byte *const cos = buffer_.data(), *const sin = cos + Bytes();
    angles_->Row(token, ComputeDtype(io_), cos, sin);
    return {ComputeDtype(io_), cos, sin, 1, 1};
  }

  // One block of it, valid until the next call.
  Row Of(TableRow row, const Block& block) {
    const auto size = static_cast<int64_t>(SizeOf(row.dtype));
    row.cos = static_cast<const std::byte*>(row.cos) + block.first * row.cos_stride * size;
    row.sin = static_cast<const std::byte*>(row.sin) + block.first * row.sin_stride * size;
    if (as_is_) return {row.cos, row.sin};
    std::byte *const cos = buffer_.data() + (cos_table_ ? 0 : kMade) * Bytes(), *const sin =
                                                                                    cos +
                                                                                    kSpread / 2 *
                                                                                        Bytes();
    SpreadRow(row, block.pairs, pairing_, backward_, io_, cos, sin);
    return {cos, sin};
  }

 private:
  // Entries a pair, cos and sin together, of a row that CosSinRow makes and of one spread.
  static constexpr size_t kMade = 2, kSpread = 4;

  // Of an entry a pair.
  size_t Bytes() const { return static_cast<size_t>(pairs_) * sizeof(double); }

  Dtype io_;
  int64_t pairs_;
  Pairing pairing_;
  bool backward_;
  bool as_is_ = false;
  RowBuffer buffer_{0};
  std::optional<Array> cos_table_, sin_table_;
  std::optional<ScaledAngles> angles_;
};

// Channels [begin, end) of one head, bit for bit.
void CopyChannels(const Array& x, const Array& out, int64_t token, int64_t head, int64_t begin,
                  int64_t end) {
  const size_t size = SizeOf(x.dtype);
  if (begin == end) return;
  if (x.stride[2] == 1 && out.stride[2] == 1) {
    std::memcpy(out.At(token, head, begin), x.At(token, head, begin),
                static_cast<size_t>(end - begin) * size);
    return;
  }
  for (int64_t channel = begin; channel < end; ++channel) {
    std::memcpy(out.At(token, head, channel), x.At(token, head, channel), size);
  }
}

void Rotate(const Call& call, Dtype io, std::optional<Dtype> table, bool backward) {
  const int64_t head_dim = call.Integer("head_dim"), rotary_dim = call.Integer("rotary_dim");
  const int64_t offset = call.Integer("rotary_offset"), pairing_index = call.Integer("pairing");
  Require(rotary_dim % 2 == 0 && offset + rotary_dim <= head_dim,
          "rotary_dim must be even and rotary_offset + rotary_dim at most head_dim {}, got {} + {}",
          head_dim, offset, rotary_dim);
  Require(pairing_index <= 2,
          "pairing must be 0 (half), 1 (interleaved) or 2 (half_per_axis), got {}", pairing_index);
  const auto pairing = static_cast<Pairing>(pairing_index);
  const int64_t pairs = rotary_dim / 2;
  const Array x = call.Input("x", {io}, {kAnyLength, kAnyLength, head_dim});
  const Array out = call.Output("out", {io}, {x.shape[0], x.shape[1], head_dim});
  const bool in_place = RequireApartOrSame(x, out);

  const std::vector<Block> blocks = BlocksOf(call, pairing, pairs);
  const Pairing within = pairing == Pairing::interleaved ? pairing : Pairing::half;
  Rows rows(call, io, table, x.shape[0], pairs, within, backward);
  for (int64_t token = 0; token < x.shape[0]; ++token) {
    if (pairs > 0 && x.shape[1] > 0) {
      const TableRow row = rows.At(token);
      for (const Block& block : blocks) {
        const int64_t channel = offset + 2 * block.first;
        const Rows::Row own = rows.Of(row, block);
        RotateHeads(io, within, block.pairs, x.shape[1],
                    {x.At(token, 0, channel), x.stride[1], x.stride[2]},
                    {out.At(token, 0, channel), out.stride[1], out.stride[2]}, own.cos, own.sin);
      }
    }
    if (in_place || rotary_dim == head_dim) continue;
    for (int64_t head = 0; head < x.shape[1]; ++head) {
      CopyChannels(x, out, token, head, 0, offset);
      CopyChannels(x, out, token, head, offset + rotary_dim, head_dim);
    }
  }
}

// Runs a kernel's body as the C interface wants it: no exception leaves.
template <class Body>
int32_t Answer(const posgauge_call* call, char* why, size_t why_size, const Body& body) {
  const auto explain = [&](const char* reason) {
    if (why_size == 0) return;
    std::strncpy(why, reason, why_size - 1);
    why[why_size - 1] = '\0';
  };
  try {
    Require(call->size >= sizeof(posgauge_call), "the call is {} bytes long, this library needs {}",
            call->size, sizeof(posgauge_call));
    body(Call(*call));
    return POSGAUGE_OK;
  } catch (const ParameterError& error) {
    explain(error.what());
    return POSGAUGE_UNSUPPORTED;
  } catch (const std::exception& error) {
    explain(error.what());
    return POSGAUGE_FAILED;
  }
}

int32_t RunFrequencies(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, ComputeFrequencies);
}

template <Dtype dtype>
int32_t RunTable(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, [](const Call& c) { ComputeTable(c, dtype); });
}

template <Dtype dtype>
int32_t RunRows(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, [](const Call& c) { ComputeRows(c, dtype); });
}

template <Dtype io>
int32_t RunEmbed(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, [](const Call& c) { Embed(c, io); });
}

template <Dtype io, Dtype table, bool backward>
int32_t RunRotate(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, [](const Call& c) { Rotate(c, io, table, backward); });
}

template <Dtype io, bool backward>
int32_t RunRotatePositions(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, [](const Call& c) { Rotate(c, io, std::nullopt, backward); });
}

template <Dtype dtype>
int32_t RunSlopes(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, [](const Call& c) { ComputeSlopes(c, dtype); });
}

int32_t RunBuckets(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, ComputeBuckets);
}

template <Dtype io>
int32_t RunBias(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, [](const Call& c) { ComputeBias(c, io); });
}

template <Dtype io>
int32_t RunScores(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, [](const Call& c) { ComputeScores(c, io); });
}

template <Dtype io>
int32_t RunAttention(const posgauge_call* call, char* why, size_t why_size) {
  return Answer(call, why, why_size, [](const Call& c) { ComputeAttention(c, io); });
}

constexpr std::string_view kAnglesFromPositions =
    "position=exact frequency=dd angle=turn96 trig=2ulp:f64";

// Descriptors and the texts that they point to.
class KernelList {
 public:
  explicit KernelList(bool fused) : fused_(fused) {
    Add("fast.frequencies", "frequencies", "", "frequency:f64 frequency_low:f64 magnitude:f64",
        "frequency=dd trig=2ulp:f64 flush=no", 0, RunFrequencies);
    AddTable<Dtype::f64>();
    AddTable<Dtype::f32>();
    AddTable<Dtype::bf16>();
    AddTable<Dtype::f16>();
    AddRotations<false>();
    AddRotations<true>();
    AddAdditions<Dtype::f64>();
    AddAdditions<Dtype::f32>();
    AddAdditions<Dtype::bf16>();
    AddAdditions<Dtype::f16>();
    AddAllOfEquations(static_cast<const Scheme*>(nullptr));
  }

  const std::vector<posgauge_kernel>& kernels() const { return kernels_; }

 private:
  static constexpr std::string_view kAngleInputs =
      "positions:i64,i32,f64,f32 frequency:f64 frequency_low:f64 magnitude:f64 axis?:i32,i64";

  template <Dtype dtype>
  void AddTable() {
    const std::string_view name = Name(dtype);
    Add(fmt::format("fast.table.{}", name), "table", kAngleInputs,
        fmt::format("cos:{0} sin:{0}", name),
        fmt::format("{0} table={1} store={1}:rne flush=no", kAnglesFromPositions, name),
        kLargestPosition, RunTable<dtype>);
  }

  template <bool backward>
  void AddRotations() {
    AddRotate<Dtype::f64, Dtype::f64, backward>("");
    AddRotate<Dtype::f32, Dtype::f32, backward>("");
    AddRotate<Dtype::bf16, Dtype::f32, backward>("");
    AddRotate<Dtype::bf16, Dtype::bf16, backward>(".bf16");
    AddRotate<Dtype::f16, Dtype::f32, backward>("");
    AddRotate<Dtype::f16, Dtype::f16, backward>(".f16");
    AddRotatePositions<Dtype::f64, backward>();
    AddRotatePositions<Dtype::f32, backward>();
    AddRotatePositions<Dtype::bf16, backward>();
    AddRotatePositions<Dtype::f16, backward>();
  }

  // "rotate=f32:fma store=bf16:rne flush=no"
  std::string Application(Dtype io) const {
    return fmt::format("rotate={}{} store={}:rne flush=no", Name(ComputeDtype(io)),
                       fused_ ? ":fma" : "", Name(io));
  }

  template <Dtype io, Dtype table, bool backward>
  void AddRotate(std::string_view suffix) {
    const std::string_view quantity = backward ? "rotate_backward" : "rotate";
    Add(fmt::format("fast.{}.{}{}", quantity, Name(io), suffix), quantity,
        fmt::format("x:{0} cos:{1} sin:{1}", Name(io), Name(table)),
        fmt::format("out:{}", Name(io)), fmt::format("table={} {}", Name(table), Application(io)),
        0, RunRotate<io, table, backward>);
  }

  template <Dtype io, bool backward>
  void AddRotatePositions() {
    const std::string_view quantity = backward ? "rotate_backward" : "rotate";
    Add(fmt::format("fast.{}_positions.{}", quantity, Name(io)), quantity,
        fmt::format("x:{} {}", Name(io), kAngleInputs), fmt::format("out:{}", Name(io)),
        fmt::format("{} table={} {}", kAnglesFromPositions, Name(ComputeDtype(io)),
                    Application(io)),
        kLargestPosition, RunRotatePositions<io, backward>);
  }

  static constexpr std::string_view kWaveInputs =
      "positions:i64,i32,f64,f32 frequency:f64 frequency_low:f64";

  template <Dtype io>
  void AddAdditions() {
    const std::string_view name = Name(io);
    Add(fmt::format("fast.rows.{}", name), "table", kWaveInputs, fmt::format("rows:{}", name),
        fmt::format("{0} table={1} store={1}:rne flush=no", kAnglesFromPositions, name),
        kLargestPosition, RunRows<io>, "sinusoidal");
    Add(fmt::format("fast.embed.{}", name), "embed", fmt::format("x:{} {}", name, kWaveInputs),
        fmt::format("out:{}", name),
        fmt::format("{0} table={1} rotate={1} store={2}:rne flush=no", kAnglesFromPositions,
                    Name(ComputeDtype(io)), name),
        kLargestPosition, RunEmbed<io>, "sinusoidal");
  }

  // Of every scheme that gives a bias (fast/bias.h), scores (fast/scoring.h) or rows (fast/rows.h).
  template <class... Params>
  void AddAllOfEquations(const std::variant<Params...>*) {
    (AddOfAttention<Params>(), ...);
    (AddRowsOf<Params>(), ...);
  }

  template <class Params>
  void AddRowsOf() {
    if constexpr (requires(const Params& params) { RowContract(params, Dtype{}); }) {
      AddRowsOf<Params, Dtype::f64>();
      AddRowsOf<Params, Dtype::f32>();
      AddRowsOf<Params, Dtype::bf16>();
      AddRowsOf<Params, Dtype::f16>();
    }
  }

  template <class Params>
  void AddOfAttention() {
    if constexpr (requires(const Params& params) { Slopes(params); }) {
      AddSlopes<Params, Dtype::f64>();
      AddSlopes<Params, Dtype::f32>();
    }
    if constexpr (requires(const Params& params) { Buckets(params); }) {
      Add(fmt::format("fast.buckets.{}.i32", Params::kName), "buckets", kPositionInputs,
          "buckets:i32", "", kLargestPosition, RunBuckets, Keep(Params::kName));
    }
    constexpr bool kBiased = requires(const Params& params, const WeightValues<float>& weights) {
      FastBias<float>(params, weights, int64_t{0});
    };
    constexpr bool kScored = requires(const Params& params, const WeightValues<float>& weights) {
      FastScoring<float>(params, weights, int64_t{0});
    };
    if constexpr (kBiased || kScored) {
      AddScored<Params, Dtype::f64, kBiased>();
      AddScored<Params, Dtype::f32, kBiased>();
      AddScored<Params, Dtype::bf16, kBiased>();
      AddScored<Params, Dtype::f16, kBiased>();
    }
  }

  // Of every scheme that gives rows (fast/rows.h).
  template <class Params, Dtype io>
  void AddRowsOf() {
    const std::string_view name = Name(io);
    const Dtype inside = ComputeDtype(io);
    std::string inputs = "positions:i64,i32,f64,f32";
    for (const Weight& weight : WeightsOf(Params{})) {
      inputs += fmt::format(" {}:{}", weight.name, name);
    }
    Add(fmt::format("fast.rows.{}.{}", Params::kName, name), "table", inputs,
        fmt::format("rows:{}", name),
        fmt::format("{} rotate={} store={}:rne flush=no", RowContract(Params{}, io), Name(inside),
                    name),
        kLargestPosition, RunRows<io>, Keep(Params::kName));
    Add(fmt::format("fast.embed.{}.{}", Params::kName, name), "embed",
        fmt::format("x:{} {}", name, inputs), fmt::format("out:{}", name),
        fmt::format("{} rotate={} store={}:rne flush=no", RowContract(Params{}, inside),
                    Name(inside), name),
        kLargestPosition, RunEmbed<io>, Keep(Params::kName));
  }

  template <class Params, Dtype dtype>
  void AddSlopes() {
    Add(fmt::format("fast.slopes.{}.{}", Params::kName, Name(dtype)), "slopes", "",
        fmt::format("slopes:{}", Name(dtype)),
        fmt::format("frequency=dd:rn store={}:rne flush=no", Name(dtype)), 0, RunSlopes<dtype>,
        Keep(Params::kName));
  }

  static constexpr std::string_view kPositionInputs =
      "query_positions:i64,i32,f64,f32 key_positions:i64,i32,f64,f32";

  template <class Params, Dtype io, bool biased>
  void AddScored() {
    const std::string_view name = Name(io), inside = Name(ComputeDtype(io));
    std::string inputs(kPositionInputs);
    const std::vector<Weight> always = WeightsOf(WithEverySwitch<Params>(false));
    for (const Weight& weight : WeightsOf(WithEverySwitch<Params>(true))) {
      const bool optional = std::ranges::find(always, weight.name, &Weight::name) == always.end();
      inputs += fmt::format(" {}{}:{}{}", weight.name, optional ? "?" : "", name,
                            io == Dtype::f64 ? "" : ",f32");
    }
    const std::string rows = fmt::format(" q:{0} k:{0}", name);
    // What turns has phases in turns.
    constexpr bool kTurns = requires(const Params& params) { Waves(params); }
    || requires(const Params& params) { params.turning; };
    const std::string angle =
        kTurns ? "frequency=dd:rn angle=turn96" : fmt::format("frequency={}:rn", inside);
    const std::string of_scores =
        fmt::format("{1} trig=2ulp:{0} rotate={0} accumulate={0}", inside, angle);
    std::string of_bias = of_scores;
    if constexpr (requires { BiasArithmetic(Params{}); }) {
      of_bias = fmt::format("{} {}", angle, BiasArithmetic(Params{}));
    }
    const auto add = [&](std::string_view quantity, std::string_view more, auto* run) {
      // A bias of 16 bits is held in binary32 before it is rounded to them.
      const bool bias = (quantity == "bias" && SizeOf(io) > 2) || io == Dtype::f64;
      const std::string contract =
          fmt::format("position=exact {} store={}:rne flush=no", bias ? of_bias : of_scores, name);
      Add(fmt::format("fast.{}.{}.{}", quantity, Params::kName, name), quantity,
          fmt::format("{}{}", inputs, more), fmt::format("{}:{}", quantity, name), contract,
          kLargestPosition, run, Keep(Params::kName));
    };
    if (biased) add("bias", "", RunBias<io>);
    add("scores", rows, RunScores<io>);
    add("attention", rows + fmt::format(" v:{}", name), RunAttention<io>);
  }

  void Add(std::string_view name, std::string_view quantity, std::string_view inputs,
           std::string_view outputs, std::string_view contract, double largest_position,
           int32_t (*run)(const posgauge_call*, char*, size_t), const char* schemes = "*") {
    kernels_.push_back({.size = sizeof(posgauge_kernel),
                        .name = Keep(name),
                        .schemes = schemes,
                        .quantity = Keep(quantity),
                        .inputs = Keep(inputs),
                        .outputs = Keep(outputs),
                        .pairings = "half interleaved half_per_axis",
                        .contract = Keep(contract),
                        .invariances = inputs.find("axis?") == std::string_view::npos
                                           ? "chunking batch alignment"
                                           : "chunking batch alignment axes",
                        .in_place = outputs.starts_with("out") ? 1 : 0,
                        .largest_rotary_dim = 0,
                        .largest_position = largest_position,
                        .run = run});
  }

  const char* Keep(std::string_view text) { return texts_.emplace_back(text).c_str(); }

  bool fused_;
  std::deque<std::string> texts_;
  std::vector<posgauge_kernel> kernels_;
};

}  // namespace
}  // namespace fast

const posgauge_kernel* FastKernels(size_t* count) {
  static const fast::KernelList fused(true), unfused(false);
  const auto& kernels = (fast::HasFusedMultiplyAdd() ? fused : unfused).kernels();
  *count = kernels.size();
  return kernels.data();
}

}  // namespace posgauge
