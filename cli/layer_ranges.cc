#include "posgauge/cli/layer_ranges.h"

#include <fmt/format.h>

namespace posgauge::cli {

std::string Ranges(const std::vector<int64_t>& indices) {
  std::vector<std::string> ranges;
  for (size_t first = 0, next = 0; first < indices.size(); first = next) {
    for (next = first + 1; next < indices.size() && indices[next] == indices[next - 1] + 1;) ++next;
    ranges.push_back(next == first + 1 ? fmt::format("{}", indices[first])
                                       : fmt::format("{}-{}", indices[first], indices[next - 1]));
  }
  return fmt::format("{}", fmt::join(ranges, ", "));
}

}  // namespace posgauge::cli
