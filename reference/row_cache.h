#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "posgauge/reference/rotation_ladder.h"
#include "posgauge/reference/rotation_rows.h"

namespace posgauge {

/// Rows of (cos, sin) at any whole position up to 2^31 - 1, each the product of at most four rows
/// made with MPFR: a position is the sum of its digits, of 6, 7, 7 and 11 bits. What a range of
/// positions needs is made once, when first asked for. Magnitude not included.
class RowCache {
 public:
  explicit RowCache(const RotationLadder& ladder);

  /// Whether the cache serves a position, and not trivially: 0 < |position| < 2^31, whole.
  static bool Serves(double position);

  /// Whether making the rows of these positions costs less than making one for each.
  static bool Pays(std::span<const double> positions);

  /// Makes the rows that are missing for the positions served; false if some cannot be enclosed
  /// narrowly enough. Safe between threads.
  bool Prepare(std::span<const double> positions);

  /// The same for every position in [first, end), 0 <= first < end <= 2^31.
  bool PrepareRange(int64_t first, int64_t end);

 private:
  friend class RowWalker;
  static constexpr std::array<int, 4> kBits = {6, 7, 7, 11};
  static constexpr std::array<int, 4> kShift = {0, 6, 13, 20};
  using Digits = std::array<int64_t, 4>;
  static Digits DigitsOf(int64_t position);

  using Needed = std::array<std::vector<bool>, 4>;
  static Needed Nothing();
  static Needed NeededBy(std::span<const double> positions);
  bool Make(const Needed& needed);

  const RotationLadder* ladder_;
  std::mutex mutex_;
  // [digit][value], empty until made. Once made a row never changes, so that readers need no lock.
  std::array<std::vector<std::unique_ptr<const RotationRow>>, 4> rows_;
};

/// Reads rows of a prepared cache; one a thread. Consecutive positions share their upper digits.
class RowWalker {
 public:
  explicit RowWalker(const RowCache& cache);

  /// The row at a prepared position, 0 < position < 2^31, valid until the next call.
  const RotationRow& At(int64_t position);

  /// The two rows whose product that would be; {row, null} where it is a row already.
  std::array<const RotationRow*, 2> FactorsAt(int64_t position);

  /// Of the row that At gave last: |high + low - real value| <= radius.
  double radius() const { return kProductRadius[products_]; }

 private:
  const RowCache* cache_;
  int64_t upper_ = -1;                   // the position of `anchor_` without its lowest digit
  const RotationRow* anchor_ = nullptr;  // null at 0
  size_t anchor_products_ = 0, products_ = 0;
  RotationRow anchors_[2], row_;
};

}  // namespace posgauge
