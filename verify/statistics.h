#pragma once

#include <array>
#include <cstdint>
#include <limits>

namespace posgauge {

/// Distribution of error / bound ("use"). Merging is exact and order-free, so threads and shards
/// agree with one run.
class Statistics {
 public:
  /// `use` >= 0; NaN counts as infinite. `place` is any order-giving index, used to break ties of
  /// the maximum (the smallest wins).
  void Add(double use, uint64_t place);
  void Merge(const Statistics& other);

  uint64_t count() const { return count_; }
  uint64_t over() const { return over_; }  // use > 1
  double max() const { return max_; }
  uint64_t worst_place() const { return worst_place_; }

  /// Upper edge of the histogram bin (1/8 octave) that holds the quantile; 0 when empty.
  double Quantile(double fraction) const;

 private:
  // Bin b holds 2^((b-1)/8 - 40) < use <= 2^(b/8 - 40); the first and last bins are open.
  static constexpr int kBins = 8 * 80;
  uint64_t count_ = 0, over_ = 0;
  double max_ = 0;
  uint64_t worst_place_ = std::numeric_limits<uint64_t>::max();
  std::array<uint64_t, kBins> bins_{};
};

}  // namespace posgauge
