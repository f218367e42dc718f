#include "posgauge/fast/deberta.h"

#include <algorithm>
#include <limits>

#include "posgauge/fast/log_buckets.h"

namespace posgauge::deberta {

// Row mid + c + 1 begins beyond mid (last/mid)^(c/(mid - 1)), last = max_position - 1: the first of
// those rows, c = 0, at mid + 1.
std::vector<double> RowStarts(const Params& params) {
  const int64_t mid = params.position_buckets / 2, last = params.max_position - 1;
  const bool logarithmic = params.position_buckets > 0;
  std::vector<double> starts;
  for (int64_t n = 0; n <= (logarithmic ? mid + 1 : last); ++n) {
    starts.push_back(static_cast<double>(n));
  }
  for (int64_t c = 1; logarithmic && c < mid - 1; ++c) {
    starts.push_back(fast::LogBucketBegin(mid, last, c, mid - 1, true));
  }
  if (!logarithmic || params.far == Far::bucket) starts.push_back(static_cast<double>(last) + 1);
  return starts;
}

fast::MapOffsets Buckets(const Params& params) {
  const std::vector<double> starts = RowStarts(params);
  const auto span = static_cast<double>(params.Span());
  fast::Steps steps;
  const auto add = [&](double begin, double beside) {
    steps.begin.push_back(begin);
    steps.bucket.push_back(std::min(span + beside, 2 * span - 1));
  };
  // A distance where a row starts is the last of it on the way to the query.
  add(-std::numeric_limits<double>::infinity(), static_cast<double>(starts.size() - 1));
  for (size_t row = starts.size(); row-- > 1;) add(1 - starts[row], static_cast<double>(row - 1));
  for (size_t row = 1; row < starts.size(); ++row) add(starts[row], -static_cast<double>(row));
  return fast::MapBySteps(std::move(steps));
}

}  // namespace posgauge::deberta
