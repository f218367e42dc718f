#pragma once

#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include "posgauge/reference/parallel.h"
#include "posgauge/verify/finding.h"

namespace posgauge {

/// A bound above this share of the pair norm passes nearly anything.
inline constexpr double kBlindShare = 0.1;

/// Collects uses in any order and reports by |position| ascending.
class UseCollector {
 public:
  explicit UseCollector(Positions positions) : positions_(positions), uses_(positions.size(), 0) {}

  // `describe` is called only for a value that becomes the worst or the first failure.
  template <class DescribeWitness>
  void Add(size_t token, double use, uint64_t place, DescribeWitness describe) {
    if (std::isnan(use)) use = HUGE_VAL;
    finding_.use.Add(use, place);
    uses_[token] = std::max(uses_[token], use);
    const double distance = std::fabs(positions_[token]);
    if (!finding_.worst || use > finding_.worst->use) {
      finding_.worst = Fill(describe(), token, use);
      worst_place_ = place;
    }
    if (use > 1 &&
        (!finding_.first_failure || distance < std::fabs(finding_.first_failure->position))) {
      finding_.first_failure = Fill(describe(), token, use);
      first_place_ = place;
    }
  }
  void AddBlind() { ++finding_.blind; }
  void AddIdle() { ++finding_.idle; }

  // What another collector of the same positions saw; the result does not depend on the order.
  void Merge(const UseCollector& other);

  Finding Take();

 private:
  Witness Fill(Witness witness, size_t token, double use) const {
    witness.position = positions_[token];
    witness.use = use;
    return witness;
  }

  Positions positions_;
  std::vector<double> uses_;
  Finding finding_;
  uint64_t worst_place_ = 0, first_place_ = 0;
};

// Below this many positions a second thread does not pay.
inline constexpr int64_t kPositionsPerThread = 64;

/// run(first token, last token + 1, collector) over blocks of positions, on all cores.
template <class Run>
Finding Collect(Positions positions, Run run) {
  UseCollector all(positions);
  std::mutex merging;
  ForBlocks(static_cast<int64_t>(positions.size()), kPositionsPerThread,
            [&](int64_t begin, int64_t end) {
              UseCollector block(positions);
              run(begin, end, block);
              const std::lock_guard lock(merging);
              all.Merge(block);
            });
  return all.Take();
}

/// An infinite limit allows anything, a NaN too.
inline double Use(double error, double limit) {
  if (std::isinf(limit)) return 0;
  if (!(error > 0)) return std::isnan(error) ? HUGE_VAL : 0;
  return error / limit;
}

/// "0.5 (0x1p-1)".
std::string HexAndDecimal(double value);

}  // namespace posgauge
