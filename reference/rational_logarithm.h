#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace posgauge {

/// ln n / ln base as {numerator, denominator}, lowest terms, where that is a fraction: n >= 1,
/// base >= 2. If n > base and the ratio is rational, both are powers of one number and base divides
/// n.
inline std::optional<std::array<int64_t, 2>> RationalLogarithm(int64_t n, int64_t base) {
  if (n == 1) return std::array<int64_t, 2>{0, 1};
  if (n < base) {
    const auto inverse = RationalLogarithm(base, n);
    if (!inverse) return std::nullopt;
    return std::array{(*inverse)[1], (*inverse)[0]};
  }
  if (n % base != 0) return std::nullopt;
  const auto rest = RationalLogarithm(n / base, base);
  if (!rest) return std::nullopt;
  return std::array{(*rest)[0] + (*rest)[1], (*rest)[1]};
}

}  // namespace posgauge
