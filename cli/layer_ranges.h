#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace posgauge::cli {

/// Ascending indices for people: {0, 1, 2, 5} as "0-2, 5".
std::string Ranges(const std::vector<int64_t>& indices);

}  // namespace posgauge::cli
