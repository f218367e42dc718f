#include "posgauge/verify/use_collector.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace posgauge {

void UseCollector::Merge(const UseCollector& other) {
  const Finding& more = other.finding_;
  finding_.use.Merge(more.use);
  finding_.blind += more.blind;
  finding_.idle += more.idle;
  std::ranges::transform(uses_, other.uses_, uses_.begin(),
                         [](double a, double b) { return std::max(a, b); });
  const auto worse = [&] {
    return std::pair(-more.worst->use, other.worst_place_) <
           std::pair(-finding_.worst->use, worst_place_);
  };
  if (more.worst && (!finding_.worst || worse())) {
    finding_.worst = more.worst;
    worst_place_ = other.worst_place_;
  }
  const auto nearer = [&] {
    return std::pair(std::fabs(more.first_failure->position), other.first_place_) <
           std::pair(std::fabs(finding_.first_failure->position), first_place_);
  };
  if (more.first_failure && (!finding_.first_failure || nearer())) {
    finding_.first_failure = more.first_failure;
    first_place_ = other.first_place_;
  }
}

Finding UseCollector::Take() {
  std::vector<size_t> order(positions_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t t) { return std::fabs(positions_[t]); });
  bool holds = true;
  for (size_t token : order) {
    const double distance = std::fabs(positions_[token]);
    if (!finding_.profile.empty() && finding_.profile.back().first == distance) {
      finding_.profile.back().second = std::max(finding_.profile.back().second, uses_[token]);
    } else {
      finding_.profile.emplace_back(distance, uses_[token]);
    }
  }
  for (const auto& [distance, use] : finding_.profile) {
    holds = holds && use <= 1;
    if (holds) finding_.holds_to = distance;
  }
  if (finding_.first_failure && finding_.profile.front().second > 1) finding_.holds_to = -1;
  return std::move(finding_);
}

std::string HexAndDecimal(double value) { return fmt::format("{:.9g} ({:a})", value, value); }

}  // namespace posgauge
