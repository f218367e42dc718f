#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>

#include "posgauge/reference/rounding.h"
#include "posgauge/schemes/base/error.h"

namespace posgauge {

/// Rounded values by index, with the evidence for each. Safe between threads, one index each.
class RoundingCollector {
 public:
  RoundingCollector(Dtype dtype, int64_t count) : format_(FormatOf(dtype)) {
    Require(IsFloat(dtype), "values are rounded to a floating dtype, got {}", Name(dtype));
    const auto size = static_cast<size_t>(count);
    values_.dtype = dtype;
    values_.values.resize(size);
    values_.proofs.resize(size);
    if (dtype == Dtype::f64 || dtype == Dtype::f32) values_.distances.resize(size);
  }

  Format format() const { return format_; }
  bool with_distance() const { return !values_.distances.empty(); }

  void Set(int64_t index, const Decided& decided, int bits) {
    const auto at = static_cast<size_t>(index);
    values_.values[at] = decided.value;
    values_.proofs[at] = decided.proof;
    if (with_distance()) values_.distances[at] = decided.distance;
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

/// What a scheme means at rising precision, 128, 257, 513 and 1025 bits, each formed when first
/// asked for: make(std::type_identity<I>()) for an interval type I. Safe between threads.
template <class Make>
class Ladder {
 public:
  explicit Ladder(Make make) : make_(std::move(make)) {}

  /// Ziv's loop for one value: enclose(meaning) at the first precision that decides its rounding;
  /// at the last one the middle of the enclosure, undecided. `enclose` is pure.
  template <size_t L = 0, class Enclose>
  void Settle(RoundingCollector& collector, int64_t index, const Enclose& enclose) const {
    using I = Interval<std::get<L>(kDigits)>;
    const I value = enclose(At<L>());
    const auto bits = static_cast<int>(I::Bits());
    if (const auto decided = Decide(value, collector.format(), collector.with_distance())) {
      collector.Set(index, *decided, bits);
    } else if constexpr (L + 1 < kDigits.size()) {
      Settle<L + 1>(collector, index, enclose);
    } else {
      collector.Set(index, Middle(value, collector), bits);
    }
  }

 private:
  // Decimal digits.
  static constexpr std::array<unsigned, 4> kDigits = {38, 77, 154, 308};

  template <size_t L>
  using Meaning = std::invoke_result_t<const Make&, std::type_identity<Interval<kDigits[L]>>>;

  template <size_t L>
  struct Level {
    std::once_flag once;
    std::optional<Meaning<L>> meaning;
  };

  // MPFR caches constants a thread; a thread that ends gives them back.
  struct ReleaseMpfrCache {
    ~ReleaseMpfrCache() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
  };

  template <size_t L>
  const Meaning<L>& At() const {
    thread_local const ReleaseMpfrCache release;
    auto& level = std::get<L>(levels_);
    std::call_once(level.once,
                   [&] { level.meaning = make_(std::type_identity<Interval<kDigits[L]>>()); });
    return *level.meaning;
  }

  template <unsigned Digits>
  static Decided Middle(const Interval<Digits>& enclosure, const RoundingCollector& collector) {
    using I = Interval<Digits>;
    typename I::Number middle;
    mpfr_add(I::Ptr(middle), I::Ptr(enclosure.lo()), I::Ptr(enclosure.hi()), MPFR_RNDN);
    mpfr_div_2ui(I::Ptr(middle), I::Ptr(middle), 1, MPFR_RNDN);
    Decided decided{.value = RoundReal(I::Ptr(middle), collector.format())};
    if (collector.with_distance() && std::isfinite(decided.value)) {
      decided.distance =
          static_cast<int32_t>(DistanceInUlps(I::Ptr(middle), collector.format(), decided.value));
    }
    return decided;
  }

  Make make_;
  mutable std::tuple<Level<0>, Level<1>, Level<2>, Level<3>> levels_;
};

}  // namespace posgauge
