#include "posgauge/verify/statistics.h"

#include <algorithm>
#include <cmath>

namespace posgauge {

void Statistics::Add(double use, uint64_t place) {
  if (!(use <= std::numeric_limits<double>::infinity())) {
    use = std::numeric_limits<double>::infinity();
  }
  ++count_;
  if (use > 1) ++over_;
  if (use > max_ || (use == max_ && place < worst_place_)) {
    max_ = use;
    worst_place_ = place;
  }
  int bin = 0;
  if (std::isinf(use)) {
    bin = kBins - 1;
  } else if (use > 0) {
    bin = std::clamp(static_cast<int>(std::ceil(8 * (std::log2(use) + 40))), 0, kBins - 1);
  }
  ++bins_[static_cast<size_t>(bin)];
}

void Statistics::Merge(const Statistics& other) {
  count_ += other.count_;
  over_ += other.over_;
  if (other.max_ > max_ || (other.max_ == max_ && other.worst_place_ < worst_place_)) {
    max_ = other.max_;
    worst_place_ = other.worst_place_;
  }
  for (size_t bin = 0; bin < bins_.size(); ++bin) bins_[bin] += other.bins_[bin];
}

double Statistics::Quantile(double fraction) const {
  if (count_ == 0) return 0;
  const auto wanted =
      std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(std::clamp(fraction, 0.0, 1.0) *
                                                            static_cast<double>(count_))));
  uint64_t seen = 0;
  for (size_t bin = 0; bin < bins_.size(); ++bin) {
    seen += bins_[bin];
    if (seen >= wanted) {
      // The last bin has no upper edge.
      if (bin + 1 == bins_.size()) break;
      return std::min(max_, std::exp2((static_cast<double>(bin) / 8) - 40));
    }
  }
  return max_;
}

}  // namespace posgauge
