#include "posgauge/reference/decide_sum.h"

#include <cmath>

namespace posgauge {

namespace {

// RoundTo, with the processor's own instruction where it has one.
double Rounded(Format format, double value) {
  if (format == FormatOf(Dtype::f32)) return static_cast<double>(static_cast<float>(value));
  return RoundTo(format, value);
}

}  // namespace

std::optional<Decided> Decide(DoubleDouble middle, double radius, Format format,
                              bool with_distance) {
  const auto [high, low] = middle;
  const double size = std::fabs(high);
  // Within these nothing below overflows or leaves the normal range.
  if (!(size > 0x1p-900 && size < 0x1p900 && radius < size / 2)) return std::nullopt;
  // Covers the rounding of low -+ r, at most 2^-53 (|low| + r), and its own.
  const double r = radius * (1 + 0x1p-50) + std::fabs(low) * 0x1p-52;
  double below = high + (low - r), above = high + (low + r);
  if (format.digits < 53) {
    // Each is one rounding, half an ulp, from the end that it stands for.
    below -= std::fabs(below) * 0x1p-51;
    above += std::fabs(above) * 0x1p-51;
  }
  Decided decided{.value = Rounded(format, below), .proof = Proof::proven};
  if (decided.value != Rounded(format, above)) return std::nullopt;
  if (!std::isfinite(decided.value)) return decided;
  // high and the stored number are neighbours of v in their formats, so their difference is exact.
  const double rest = (high - decided.value) + low;
  if (std::fabs(rest) <= r) return std::nullopt;
  if (with_distance) {
    const double unit = Ulp(format, decided.value) * 0x1p-16;
    if (unit < 0x1p-1000) return std::nullopt;
    // The sum's rounding is 2^-53 of at most 2^15 units.
    const double half_width = r / unit + 0x1p-37;
    const double nearest = std::rint(rest / unit - half_width);
    if (nearest != std::rint(rest / unit + half_width)) return std::nullopt;
    decided.distance = static_cast<int32_t>(nearest);
  }
  return decided;
}

}  // namespace posgauge
