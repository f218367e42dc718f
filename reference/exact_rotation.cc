#include "posgauge/reference/exact_rotation.h"

#include <atomic>
#include <cmath>
#include <mutex>
#include <tuple>

#include "posgauge/reference/addition.h"
#include "posgauge/reference/all.h"
#include "posgauge/reference/parallel.h"
#include "posgauge/reference/rounding.h"

namespace posgauge {

namespace {

// The ladder of static precisions: decimal digits of 128, 257, 513 and 1025 bits.
constexpr unsigned kDigits[] = {38, 77, 154, 308};
constexpr size_t kLevels = std::size(kDigits);

// Work below which a second thread does not pay: about a millisecond of sines.
constexpr int64_t kValuesPerThread = 512;

struct Given {
  std::vector<DoubleDouble> frequency;
  DoubleDouble magnitude;
};

template <class I>
I Sum(DoubleDouble value) {
  return I(value.high) + I(value.low);
}

template <class I>
Rotation<I> RotationOf(const std::variant<Scheme, Given>& source, Direction direction) {
  if (const auto* given = std::get_if<Given>(&source)) {
    Rotation<I> rotation{.frequency = {}, .magnitude = Sum<I>(given->magnitude)};
    for (DoubleDouble frequency : given->frequency) {
      rotation.frequency.push_back(Sum<I>(frequency));
    }
    return rotation;
  }
  Rotation<I> rotation = std::visit([](const auto& params) { return AsRotation(Exact<I>(params)); },
                                    std::get<Scheme>(source));
  if (direction == Direction::clockwise) {
    for (I& frequency : rotation.frequency) frequency = -frequency;
  }
  return rotation;
}

// The rotation at one precision, made when first asked for; absent where the precision does not
// suffice to decide the scheme's own branches.
template <unsigned Digits>
struct Level {
  std::once_flag once;
  std::optional<Rotation<Interval<Digits>>> rotation;
};

// The middle of an enclosure, for values that no enclosure decided.
template <unsigned Digits>
Decided Undecidable(const Interval<Digits>& enclosure, Format format, bool with_distance) {
  using I = Interval<Digits>;
  typename I::Number middle;
  mpfr_add(I::Ptr(middle), I::Ptr(enclosure.lo()), I::Ptr(enclosure.hi()), MPFR_RNDN);
  mpfr_div_2ui(I::Ptr(middle), I::Ptr(middle), 1, MPFR_RNDN);
  Decided decided{.value = RoundReal(I::Ptr(middle), format)};
  if (with_distance && std::isfinite(decided.value)) {
    decided.distance = static_cast<int32_t>(DistanceInUlps(I::Ptr(middle), format, decided.value));
  }
  return decided;
}

// Results by index, with the evidence.
class Collector {
 public:
  Collector(Dtype dtype, int64_t count) : format_(FormatOf(dtype)) {
    Require(IsFloat(dtype), "values are rounded to a floating dtype, got {}", Name(dtype));
    const auto size = static_cast<size_t>(count);
    values_.dtype = dtype;
    values_.values.resize(size);
    values_.proofs.resize(size);
    if (with_distance(dtype)) values_.distances.resize(size);
  }

  static bool with_distance(Dtype dtype) { return dtype == Dtype::f64 || dtype == Dtype::f32; }
  Format format() const { return format_; }
  bool with_distance() const { return with_distance(values_.dtype); }

  void Set(int64_t index, const Decided& decided, int bits) {
    const auto at = static_cast<size_t>(index);
    values_.values[at] = decided.value;
    values_.proofs[at] = decided.proof;
    if (!values_.distances.empty()) values_.distances[at] = decided.distance;
    // The bits actually needed, kept as a running maximum over threads.
    int seen = max_bits_.load(std::memory_order_relaxed);
    while (bits > seen && !max_bits_.compare_exchange_weak(seen, bits)) {
    }
  }

  RoundedValues Take() {
    for (Proof proof : values_.proofs) values_.counts.Add(proof, 0);
    values_.counts.max_bits = max_bits_.load();
    return std::move(values_);
  }

 private:
  Format format_;
  RoundedValues values_;
  std::atomic<int> max_bits_ = 0;
};

void RequirePositions(Positions positions) {
  for (double position : positions) {
    Require(std::isfinite(position), "positions must be finite, got {}", position);
  }
}

}  // namespace

namespace {

// MPFR caches constants a thread; a thread that ends gives them back.
struct ReleaseMpfrCache {
  ~ReleaseMpfrCache() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
};

}  // namespace

struct ExactRotation::Ladder {
  std::variant<Scheme, Given> source;
  Rotary layout;
  mutable std::tuple<Level<kDigits[0]>, Level<kDigits[1]>, Level<kDigits[2]>, Level<kDigits[3]>>
      levels;

  // The rotation at level L. Throws Undecided where that precision does not suffice to form it.
  template <size_t L>
  const Rotation<Interval<kDigits[L]>>& At() const {
    thread_local const ReleaseMpfrCache release;
    auto& level = std::get<L>(levels);
    std::call_once(level.once, [&] {
      try {
        level.rotation = RotationOf<Interval<kDigits[L]>>(source, layout.direction);
      } catch (const Undecided&) {
        // Stays absent.
      }
    });
    if (!level.rotation) throw Undecided();
    return *level.rotation;
  }

  // Ziv's loop. `enclose` maps a rotation at some precision to the enclosures of N values, which go
  // to collectors[k] at `index`; each is taken from the first level that decides it.
  template <size_t N, size_t L = 0, class Enclose>
  void Settle(const std::array<Collector*, N>& collectors, const std::array<int64_t, N>& index,
              const Enclose& enclose, std::array<bool, N> done = {}) const {
    using I = Interval<kDigits[L]>;
    try {
      const std::array<I, N> values = enclose(At<L>());
      for (size_t k = 0; k < N; ++k) {
        if (done[k]) continue;
        const Format format = collectors[k]->format();
        const bool with_distance = collectors[k]->with_distance();
        if (const auto decided = Decide(values[k], format, with_distance)) {
          collectors[k]->Set(index[k], *decided, static_cast<int>(I::Bits()));
          done[k] = true;
        } else if constexpr (L + 1 == kLevels) {
          collectors[k]->Set(index[k], Undecidable(values[k], format, with_distance),
                             static_cast<int>(I::Bits()));
        }
      }
    } catch (const Undecided&) {
      if constexpr (L + 1 == kLevels) {
        throw ParameterError(
            "the scheme's own branches cannot be decided at 1025 bits: a parameter lies on the "
            "edge "
            "between two of them; change it by a little");
      }
    }
    if constexpr (L + 1 < kLevels) {
      for (bool one : done) {
        if (!one) return Settle<N, L + 1>(collectors, index, enclose, done);
      }
    }
  }

  // A rotation at the lowest level that can be formed, for what needs enclosures only.
  template <size_t L = 0, class Use>
  void WithLowest(const Use& use) const {
    try {
      use(At<L>());
      return;
    } catch (const Undecided&) {
      if constexpr (L + 1 == kLevels) throw ParameterError("the scheme cannot be decided");
    }
    if constexpr (L + 1 < kLevels) WithLowest<L + 1>(use);
  }
};

namespace {

// An addition's waves turn one pair each.
Rotary LayoutOf(const Scheme& scheme) {
  if (IsRotary(scheme)) return RotaryOf(scheme);
  const size_t waves =
      std::visit([](const auto& params) { return Exact<double>(params).frequency.size(); }, scheme);
  const auto width = static_cast<int64_t>(2 * waves);
  return {.head_dim = width, .rotary_dim = width};
}

}  // namespace

ExactRotation::ExactRotation(const Scheme& scheme) {
  Validate(scheme);
  auto ladder = std::make_shared<Ladder>();
  ladder->source = scheme;
  ladder->layout = LayoutOf(scheme);
  ladder_ = ladder;
  ladder->WithLowest([](const auto&) {});  // refusals come now, not at the first use
}

ExactRotation::ExactRotation(const Rotary& layout, std::span<const DoubleDouble> frequencies,
                             DoubleDouble magnitude) {
  layout.Validate();
  Require(static_cast<int64_t>(frequencies.size()) == layout.Pairs(),
          "frequencies must be one a pair, {}, got {}", layout.Pairs(), frequencies.size());
  auto ladder = std::make_shared<Ladder>();
  ladder->source = Given{{frequencies.begin(), frequencies.end()}, magnitude};
  ladder->layout = layout;
  ladder_ = ladder;
}

const Rotary& ExactRotation::layout() const { return ladder_->layout; }

bool ExactRotation::IsPure() const {
  const RoundedValues magnitude = Magnitude(Dtype::f64);
  return magnitude.values[0] == 1 && magnitude.proofs[0] == Proof::exact;
}

namespace {

template <class Ladder, class Get>
RoundedValues Single(const Ladder& ladder, Dtype dtype, Get get) {
  Collector collector(dtype, 1);
  ladder.template Settle<1>({&collector}, {0},
                            [&](const auto& rotation) { return std::array{get(rotation)}; });
  return collector.Take();
}

// x * y where y is exact; a factor that is exactly 1 does not widen.
template <class I>
std::array<I, 2> Turn(const Rotation<I>& rotation, size_t pair, const I& position) {
  auto [cos, sin] = CosSin(position * rotation.frequency[pair]);
  return {rotation.magnitude * cos, rotation.magnitude * sin};
}

}  // namespace

RoundedValues ExactRotation::Frequencies(Dtype dtype) const {
  Collector collector(dtype, layout().Pairs());
  for (int64_t i = 0; i < layout().Pairs(); ++i) {
    ladder_->Settle<1>({&collector}, {i}, [&](const auto& rotation) {
      return std::array{rotation.frequency[static_cast<size_t>(i)]};
    });
  }
  return collector.Take();
}

RoundedValues ExactRotation::Magnitude(Dtype dtype) const {
  return Single(*ladder_, dtype, [](const auto& rotation) { return rotation.magnitude; });
}

RoundedValues ExactRotation::SoftmaxMultiplier(Dtype dtype) const {
  return Single(*ladder_, dtype, [](const auto& rotation) { return rotation.softmax_multiplier; });
}

RoundedTable ExactRotation::Table(Positions positions, Dtype dtype) const {
  RequirePositions(positions);
  const int64_t pairs = layout().Pairs();
  const auto count = static_cast<int64_t>(positions.size());
  Collector cos(dtype, count * pairs), sin(dtype, count * pairs);
  ForBlocks(count * pairs, kValuesPerThread, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const auto pair = static_cast<size_t>(at % pairs);
      const double position = positions[static_cast<size_t>(at / pairs)];
      ladder_->Settle<2>({&cos, &sin}, {at, at}, [&]<class I>(const Rotation<I>& rotation) {
        return Turn(rotation, pair, I(position));
      });
    }
  });
  return {cos.Take(), sin.Take()};
}

namespace {

// Rows of x with the channels that rotate, and the one place where values that no equation covers
// (not finite, exact zeros) get theirs.
struct RotateRows {
  const Rotary& layout;
  Positions positions;
  std::span<const double> x;
  int64_t heads;
  double angle_sign;  // -1 for the transpose

  template <class Ladder>
  RoundedValues Run(const Ladder& ladder, bool pure, Dtype dtype) const {
    RequirePositions(positions);
    const auto tokens = static_cast<int64_t>(positions.size());
    Require(heads >= 0 && static_cast<int64_t>(x.size()) == tokens * heads * layout.head_dim,
            "x must be [positions {}, heads {}, head_dim {}], got {} values", tokens, heads,
            layout.head_dim, x.size());
    Collector collector(dtype, tokens * heads * layout.head_dim);
    const int64_t rows = tokens * heads;
    ForBlocks(rows, std::max<int64_t>(kValuesPerThread / std::max<int64_t>(layout.Pairs(), 1), 1),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) Row(ladder, pure, row, collector);
              });
    return collector.Take();
  }

  template <class Ladder>
  void Row(const Ladder& ladder, bool pure, int64_t row, Collector& collector) const {
    const double position = angle_sign * positions[static_cast<size_t>(row / heads)];
    const int64_t start = row * layout.head_dim;
    const auto copy = [&](int64_t channel) {
      const double value = x[static_cast<size_t>(start + channel)];
      const double rounded = RoundTo(collector.format(), value);
      Decided decided{rounded, 0, rounded == value ? Proof::exact : Proof::proven};
      if (std::isnan(value)) decided.proof = Proof::exact;
      if (collector.with_distance() && std::isfinite(rounded) && rounded != value) {
        // Exact: both lie within an ulp of f32 of each other.
        decided.distance = static_cast<int32_t>(
            std::lrint((value - rounded) / Ulp(collector.format(), rounded) * 65536));
      }
      collector.Set(start + channel, decided, 53);
    };
    for (int64_t channel = 0; channel < layout.head_dim; ++channel) {
      const int64_t inside = channel - layout.rotary_offset;
      if (inside < 0 || inside >= layout.rotary_dim) copy(channel);
    }
    for (int64_t pair = 0; pair < layout.Pairs(); ++pair) {
      const auto [first, second] = layout.Channels(pair);
      const double u = x[static_cast<size_t>(start + first)];
      const double v = x[static_cast<size_t>(start + second)];
      if (!std::isfinite(u) || !std::isfinite(v)) {
        const Decided nan{std::numeric_limits<double>::quiet_NaN(), 0, Proof::exact};
        collector.Set(start + first, nan, 53);
        collector.Set(start + second, nan, 53);
      } else if (position == 0 && pure) {
        copy(first);
        copy(second);
      } else {
        ladder.template Settle<2>({&collector, &collector}, {start + first, start + second},
                                  [&]<class I>(const Rotation<I>& rotation) -> std::array<I, 2> {
                                    const auto [cos, sin] =
                                        Turn(rotation, static_cast<size_t>(pair), I(position));
                                    return {I(u) * cos - I(v) * sin, I(u) * sin + I(v) * cos};
                                  });
        if (position == 0 && u == 0) copy(first);  // keeps its sign
        if (position == 0 && v == 0) copy(second);
      }
    }
  }
};

}  // namespace

RoundedValues ExactRotation::Rotate(Positions positions, std::span<const double> x, int64_t heads,
                                    Dtype dtype) const {
  return RotateRows{layout(), positions, x, heads, 1}.Run(*ladder_, IsPure(), dtype);
}

RoundedValues ExactRotation::RotateBackward(Positions positions, std::span<const double> x,
                                            int64_t heads, Dtype dtype) const {
  return RotateRows{layout(), positions, x, heads, -1}.Run(*ladder_, IsPure(), dtype);
}

RoundedValues ExactRotation::Scores(Positions query_positions, Positions key_positions,
                                    std::span<const double> q, std::span<const double> k,
                                    int64_t heads, double scale, Dtype dtype) const {
  RequirePositions(query_positions);
  RequirePositions(key_positions);
  const auto queries = static_cast<int64_t>(query_positions.size());
  const auto keys = static_cast<int64_t>(key_positions.size());
  const int64_t head_dim = layout().head_dim;
  Require(heads >= 0 && static_cast<int64_t>(q.size()) == queries * heads * head_dim &&
              static_cast<int64_t>(k.size()) == keys * heads * head_dim,
          "q must be [queries {0}, heads {2}, head_dim {3}] and k [keys {1}, ...], got {4} and {5} "
          "values",
          queries, keys, heads, head_dim, q.size(), k.size());
  for (const auto values : {q, k}) {
    for (double value : values) Require(std::isfinite(value), "q and k must be finite");
  }
  Require(std::isfinite(scale), "scale must be finite, got {}", scale);
  Collector collector(dtype, heads * queries * keys);
  const auto one = [&](int64_t head, int64_t query, int64_t key) {
    const std::span<const double> q_row =
        q.subspan(static_cast<size_t>((query * heads + head) * head_dim));
    const std::span<const double> k_row =
        k.subspan(static_cast<size_t>((key * heads + head) * head_dim));
    // <R(p) q, R(t) k> depends on t - p only:  per pair, as complex numbers,
    //   Re(conj(q) k e^(i (t-p) w)) = (q0 k0 + q1 k1) cos - (q0 k1 - q1 k0) sin,
    // which at t = p is the plain dot product, so that ties there are seen to be ties.
    ladder_->Settle<1>(
        {&collector}, {(head * queries + query) * keys + key},
        [&]<class I>(const Rotation<I>& rotation) -> std::array<I, 1> {
          const auto product = [&](int64_t a, int64_t b) {
            return I(q_row[static_cast<size_t>(a)]) * I(k_row[static_cast<size_t>(b)]);
          };
          const I offset = I(key_positions[static_cast<size_t>(key)]) -
                           I(query_positions[static_cast<size_t>(query)]);
          I rotated(0), rest(0);
          for (int64_t pair = 0; pair < layout().Pairs(); ++pair) {
            const auto [a, b] = layout().Channels(pair);
            const auto [cos, sin] = CosSin(offset * rotation.frequency[static_cast<size_t>(pair)]);
            rotated = rotated + (product(a, a) + product(b, b)) * cos -
                      (product(a, b) - product(b, a)) * sin;
          }
          for (int64_t channel = 0; channel < head_dim; ++channel) {
            const int64_t inside = channel - layout().rotary_offset;
            if (inside < 0 || inside >= layout().rotary_dim) {
              rest = rest + product(channel, channel);
            }
          }
          return {(rotation.magnitude * rotation.magnitude * rotated + rest) * I(scale)};
        });
  };
  ForBlocks(heads * queries * keys, 8, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      one(at / (queries * keys), at / keys % queries, at % keys);
    }
  });
  return collector.Take();
}

namespace {

// The middle of an enclosure as a sum of two doubles, and how far the real number may be from it.
template <unsigned Digits>
DoubleDouble MiddleOf(const Interval<Digits>& enclosure, double* radius) {
  using I = Interval<Digits>;
  const double high = mpfr_get_d(I::Ptr(enclosure.lo()), MPFR_RNDN);
  const I rest = enclosure - I(high);
  const double low = mpfr_get_d(I::Ptr(rest.lo()), MPFR_RNDN);
  const I error = rest - I(low);
  *radius = std::max(std::fabs(mpfr_get_d(I::Ptr(error.lo()), MPFR_RNDA)),
                     std::fabs(mpfr_get_d(I::Ptr(error.hi()), MPFR_RNDA)));
  return {high, low};
}

// As narrow as a sum of two doubles can use; reached at the first level unless angles are huge.
constexpr double kNarrow = 0x1p-100;

}  // namespace

EnclosedTable ExactRotation::EncloseTable(Positions positions) const {
  RequirePositions(positions);
  const int64_t pairs = layout().Pairs();
  const auto count = static_cast<int64_t>(positions.size()) * pairs;
  EnclosedTable table;
  table.cos.resize(static_cast<size_t>(count));
  table.sin.resize(static_cast<size_t>(count));
  std::mutex radius_mutex;
  ForBlocks(count, kValuesPerThread, [&](int64_t begin, int64_t end) {
    double widest = 0;
    for (int64_t at = begin; at < end; ++at) {
      const auto index = static_cast<size_t>(at);
      const double position = positions[static_cast<size_t>(at / pairs)];
      double radius = 0;
      ladder_->WithLowest([&]<class I>(const Rotation<I>& rotation) {
        const auto [cos, sin] =
            CosSin(I(position) * rotation.frequency[static_cast<size_t>(at % pairs)]);
        double cos_radius = 0, sin_radius = 0;
        table.cos[index] = MiddleOf(cos, &cos_radius);
        table.sin[index] = MiddleOf(sin, &sin_radius);
        radius = std::max(cos_radius, sin_radius);
        if (radius > kNarrow && I::Bits() < 1000) throw Undecided();
      });
      widest = std::max(widest, radius);
    }
    const std::lock_guard lock(radius_mutex);
    table.radius = std::max(table.radius, widest);
  });
  return table;
}

namespace {

template <class Ladder, class Get>
EnclosedValues EncloseEach(const Ladder& ladder, int64_t count, Get get) {
  EnclosedValues enclosed;
  for (int64_t i = 0; i < count; ++i) {
    ladder.WithLowest([&]<class I>(const Rotation<I>& rotation) {
      double radius = 0;
      const DoubleDouble value = MiddleOf(get(rotation, static_cast<size_t>(i)), &radius);
      const double relative = radius == 0 ? 0 : radius / std::fabs(value.high) * (1 + 0x1p-50);
      if (relative > kNarrow && I::Bits() < 1000) throw Undecided();
      enclosed.values.push_back(value);
      enclosed.radius = std::max(enclosed.radius, relative);
    });
  }
  return enclosed;
}

}  // namespace

EnclosedValues ExactRotation::EncloseFrequencies() const {
  return EncloseEach(*ladder_, layout().Pairs(),
                     [](const auto& rotation, size_t i) { return rotation.frequency[i]; });
}

EnclosedValues ExactRotation::EncloseMagnitude() const {
  return EncloseEach(*ladder_, 1, [](const auto& rotation, size_t) { return rotation.magnitude; });
}

}  // namespace posgauge
