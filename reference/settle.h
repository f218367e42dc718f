#pragma once

#include <array>
#include <atomic>
#include <cmath>
#include <utility>

#include "posgauge/reference/rotation_ladder.h"
#include "posgauge/reference/rounding.h"

namespace posgauge {

/// Bits of the ladder's lowest level: what a value is said to have needed that a double-double
/// decides, as that is no more.
inline constexpr int kLowestBits = 128;

/// Results by index, with the evidence. Set may be called from several threads.
class Collector {
 public:
  Collector(Dtype dtype, int64_t count);

  static bool with_distance(Dtype dtype) { return dtype == Dtype::f64 || dtype == Dtype::f32; }
  Format format() const { return format_; }
  bool with_distance() const { return with_distance(values_.dtype); }

  void Set(int64_t index, const Decided& decided, int bits);
  RoundedValues Take();

 private:
  Format format_;
  RoundedValues values_;
  std::atomic<int> max_bits_ = 0;
};

/// The middle of an enclosure, for values that no enclosure decided.
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

/// Ziv's loop. `enclose` maps a rotation at some precision to the enclosures of N values, which go
/// to collectors[k] at index[k]; each is taken from the first level that decides it. Those that are
/// `done` already are left alone.
template <size_t N, size_t L = 0, class Enclose>
void Settle(const RotationLadder& ladder, const std::array<Collector*, N>& collectors,
            const std::array<int64_t, N>& index, const Enclose& enclose,
            std::array<bool, N> done = {}) {
  using I = Interval<kDigits[L]>;
  try {
    const std::array<I, N> values = enclose(ladder.At<L>());
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
          "the scheme's own branches cannot be decided at 1025 bits: a parameter lies on the edge "
          "between two of them; change it by a little");
    }
  }
  if constexpr (L + 1 < kLevels) {
    for (bool one : done) {
      if (!one) return Settle<N, L + 1>(ladder, collectors, index, enclose, done);
    }
  }
}

}  // namespace posgauge
