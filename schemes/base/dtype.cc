#include "posgauge/schemes/base/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "posgauge/schemes/base/error.h"
#include "posgauge/schemes/base/fields.h"

namespace posgauge {

namespace {

constexpr std::array<std::string_view, 9> kNames = {"f64", "f32", "bf16",   "f16",   "i64",
                                                    "i32", "u8",  "f8e4m3", "f8e5m2"};

// Field widths of the interchange encoding.
struct Encoding {
  int fraction_bits, exponent_bits;
};

Encoding EncodingOf(Dtype dtype) {
  const int fraction_bits = FormatOf(dtype).digits - 1;
  return {fraction_bits, static_cast<int>(8 * SizeOf(dtype)) - 1 - fraction_bits};
}

}  // namespace

std::string_view Name(Dtype dtype) { return kNames[static_cast<size_t>(dtype)]; }

Dtype ParseDtype(std::string_view name) {
  const auto* at = std::find(kNames.begin(), kNames.end(), name);
  Require(at != kNames.end(), "dtype must be one of {}, got {}", fmt::join(kNames, ", "),
          Shown(name));
  return static_cast<Dtype>(at - kNames.begin());
}

Dtype ParseFloatDtype(std::string_view what, std::string_view name) {
  const auto* at =
      std::ranges::find_if(kFloatDtypes, [&](Dtype dtype) { return Name(dtype) == name; });
  if (at != kFloatDtypes.end()) return *at;
  std::array<std::string_view, kFloatDtypes.size()> names;
  std::ranges::transform(kFloatDtypes, names.begin(), Name);
  throw ParameterError(
      fmt::format("{} must be one of {}, got {}", what, fmt::join(names, ", "), Shown(name)));
}

double Largest(Format format) {
  // In units of the last place the largest significand is 2^digits - 1, or one less where that is
  // the NaN.
  const int unused = format.infinities ? 1 : 2;
  return std::ldexp(std::ldexp(1.0, format.digits) - unused,
                    format.max_exponent - format.digits + 1);
}

double Overflowed(Format format, bool negative) {
  using Limits = std::numeric_limits<double>;
  return std::copysign(format.infinities ? Limits::infinity() : Limits::quiet_NaN(),
                       negative ? -1.0 : 1.0);
}

double Ulp(Format format, double value) {
  const int exponent = value == 0 ? format.min_exponent : std::ilogb(value);
  return std::ldexp(1.0, std::max(exponent, format.min_exponent) - format.digits + 1);
}

double RoundTo(Format format, double value) {
  if (std::isnan(value) || value == 0 || format.digits == 53) return value;
  if (std::isinf(value)) return Overflowed(format, value < 0);
  const double quantum = Ulp(format, value);
  // value / quantum is exact (a power of two, no underflow: |value| >= 2^-1074 and quantum >=
  // 2^-149 here), below 2^53, and nearbyint rounds once to nearest even.
  const double rounded = std::nearbyint(value / quantum) * quantum;
  if (std::fabs(rounded) > Largest(format)) return Overflowed(format, value < 0);
  return std::copysign(rounded, value);
}

uint64_t Encode(Dtype dtype, double value) {
  if (dtype == Dtype::f64) return std::bit_cast<uint64_t>(value);
  const Format format = FormatOf(dtype);
  const auto [fraction_bits, exponent_bits] = EncodingOf(dtype);
  const uint64_t sign = uint64_t{std::signbit(value)} << (fraction_bits + exponent_bits);
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  const uint64_t nan = format.infinities ? infinity | (uint64_t{1} << (fraction_bits - 1))
                                         : infinity | ((uint64_t{1} << fraction_bits) - 1);
  const double rounded = std::fabs(RoundTo(format, value));
  if (std::isnan(rounded)) return sign | nan;
  if (std::isinf(rounded)) return sign | infinity;
  if (rounded == 0) return sign;
  const int exponent = std::max(std::ilogb(rounded), format.min_exponent);
  // In [0, 2^digits): below 2^fraction_bits it is a subnormal, otherwise the hidden bit carries
  // into the exponent field.
  const auto significand = static_cast<uint64_t>(std::ldexp(rounded, format.digits - 1 - exponent));
  const auto field = static_cast<uint64_t>(exponent - format.min_exponent);
  return sign | ((field << fraction_bits) + significand);
}

double Decode(Dtype dtype, uint64_t bits) {
  if (dtype == Dtype::f64) return std::bit_cast<double>(bits);
  const Format format = FormatOf(dtype);
  const auto [fraction_bits, exponent_bits] = EncodingOf(dtype);
  const uint64_t most_fraction = (uint64_t{1} << fraction_bits) - 1;
  const uint64_t fraction = bits & most_fraction;
  const uint64_t field = (bits >> fraction_bits) & ((uint64_t{1} << exponent_bits) - 1);
  const bool negative = ((bits >> (fraction_bits + exponent_bits)) & 1) != 0;
  const bool top = field == (uint64_t{1} << exponent_bits) - 1;
  double magnitude = 0;
  if (top && !format.infinities && fraction == most_fraction) {
    magnitude = std::numeric_limits<double>::quiet_NaN();
  } else if (top && format.infinities) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (field == 0) {
    magnitude = std::ldexp(static_cast<double>(fraction), format.min_quantum());
  } else {
    const uint64_t significand = fraction | (uint64_t{1} << fraction_bits);
    magnitude = std::ldexp(static_cast<double>(significand),
                           format.min_quantum() + static_cast<int>(field) - 1);
  }
  return std::copysign(magnitude, negative ? -1.0 : 1.0);
}

}  // namespace posgauge
