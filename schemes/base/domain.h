#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace posgauge {

/// Domains that several schemes share. A factor outside [kSmallestScale, kLargestScale] is a typing
/// error, not a model: the largest published one is 1000.
inline constexpr double kSmallestScale = 1e-6;
inline constexpr double kLargestScale = 1e6;

/// Lengths in tokens stay exact in binary64 and far above any context: 1..2^40.
inline constexpr int64_t kLargestLength = int64_t{1} << 40;

/// A typing error must not ask for gigabytes: channels of a row, patches of a side,
/// elements of a learned table are at most these.
inline constexpr int64_t kLargestWidth = 65536;
inline constexpr int64_t kLargestGrid = 4096;
inline constexpr int64_t kLargestElements = int64_t{1} << 31;

/// Throw ParameterError: channels of a row, patches of a side, rows before those of a grid.
void RequireWidth(int64_t width);
void RequireGrid(std::string_view field, int64_t patches);
void RequirePrefix(int64_t prefix);

/// Throws ParameterError unless lowest <= value <= kLargestScale.
void RequireScale(std::string_view field, double value, double lowest);

/// Throws ParameterError unless lowest <= tokens <= kLargestLength.
void RequireLength(std::string_view field, int64_t tokens, int64_t lowest = 1);

/// Throws ParameterError unless every position is a whole number below 2^53.
void RequireWholePositions(const std::vector<double>& positions);

/// Throws ParameterError unless every position is one of 0..count-1.
void RequirePositionsBelow(int64_t count, const std::vector<double>& positions);

}  // namespace posgauge
