#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "posgauge/reference/interval.h"
#include "posgauge/reference/rotation.h"
#include "posgauge/schemes/base/double_double.h"
#include "posgauge/schemes/base/scheme.h"

namespace posgauge {

/// MPFR caches constants a thread. One that is thread_local gives them back when its thread ends.
struct ReleaseMpfrCache {
  ~ReleaseMpfrCache() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
};

/// The ladder of static precisions: decimal digits of 128, 257, 513 and 1025 bits.
inline constexpr unsigned kDigits[] = {38, 77, 154, 308};
inline constexpr size_t kLevels = std::size(kDigits);

/// A rotation of given numbers, taken as exact.
struct GivenRotation {
  std::vector<DoubleDouble> frequency;
  DoubleDouble magnitude;
};

/// One rotation, enclosed at every precision of the ladder; each level is made when first asked
/// for. Safe to share between threads.
class RotationLadder {
 public:
  using Source = std::variant<Scheme, GivenRotation>;

  /// Throws ParameterError: the scheme refuses, or no precision decides its branches.
  RotationLadder(Source source, const Rotary& layout);
  ~RotationLadder();

  const Rotary& layout() const { return layout_; }

  /// The rotation at level L. Throws Undecided where that precision does not suffice to form it.
  template <size_t L>
  const Rotation<Interval<kDigits[L]>>& At() const;

  /// Calls use(rotation) at the lowest level from L that can be formed and at which `use` does not
  /// throw Undecided. Throws ParameterError if there is none.
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

 private:
  Source source_;
  Rotary layout_;
  struct Levels;
  std::unique_ptr<Levels> levels_;
};

/// The middle of an enclosure as a sum of two doubles, and how far the real number may be from it.
template <unsigned Digits>
DoubleDouble MiddleOf(const Interval<Digits>& enclosure, double* radius) {
  using I = Interval<Digits>;
  const double high = mpfr_get_d(I::Ptr(enclosure.lo()), MPFR_RNDN);
  if (!std::isfinite(high)) {  // beyond binary64
    *radius = std::numeric_limits<double>::infinity();
    return {0, 0};
  }
  const I rest = enclosure - I(high);
  const double low = mpfr_get_d(I::Ptr(rest.lo()), MPFR_RNDN);
  const I error = rest - I(low);
  *radius = std::max(std::fabs(mpfr_get_d(I::Ptr(error.lo()), MPFR_RNDA)),
                     std::fabs(mpfr_get_d(I::Ptr(error.hi()), MPFR_RNDA)));
  return {high, low};
}

}  // namespace posgauge
