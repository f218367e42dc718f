#pragma once

#include <cstdint>
#include <string_view>

namespace posgauge {

/// Domains that several schemes share. A factor outside [kSmallestScale, kLargestScale] is a typing
/// error, not a model: the largest published one is 1000.
inline constexpr double kSmallestScale = 1e-6;
inline constexpr double kLargestScale = 1e6;

/// Lengths in tokens stay exact in binary64 and far above any context: 1..2^40.
inline constexpr int64_t kLargestLength = int64_t{1} << 40;

/// Throws ParameterError unless lowest <= value <= kLargestScale.
void RequireScale(std::string_view field, double value, double lowest);

/// Throws ParameterError unless lowest <= tokens <= kLargestLength.
void RequireLength(std::string_view field, int64_t tokens, int64_t lowest = 1);

}  // namespace posgauge
