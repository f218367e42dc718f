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

// 2^exponent, -1074 <= exponent <= 1023.
constexpr double PowerOfTwo(int exponent) {
  return exponent >= -1022 ? std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52)
                           : std::bit_cast<double>(uint64_t{1} << (exponent + 1074));
}

// log2 of Ulp. A subnormal binary64 number is below every format's own subnormals, or in f64's.
int QuantumExponent(Format format, double value) {
  const auto field = static_cast<int>(std::bit_cast<uint64_t>(value) >> 52 & 0x7ff);
  return std::max(field - 1023, format.min_exponent) - format.digits + 1;
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
  return (PowerOfTwo(format.digits) - unused) * PowerOfTwo(format.max_exponent - format.digits + 1);
}

double Overflowed(Format format, bool negative) {
  using Limits = std::numeric_limits<double>;
  return std::copysign(format.infinities ? Limits::infinity() : Limits::quiet_NaN(),
                       negative ? -1.0 : 1.0);
}

double Ulp(Format format, double value) { return PowerOfTwo(QuantumExponent(format, value)); }

double RoundTo(Format format, double value) {
  if (std::isnan(value) || value == 0 || format.digits == 53) return value;
  if (std::isinf(value)) return Overflowed(format, value < 0);
  const int quantum = QuantumExponent(format, value);
  // In units of the quantum |value| is exact (a power of two, no underflow: |value| >= 2^-1074 and
  // the quantum is at least 2^-149 here) and at most 2^digits, digits < 53; the sum rounds it to an
  // integer, to nearest even, as 3 * 2^51 is even.
  constexpr double kToInteger = 0x1.8p52;
  const double units = (std::fabs(value) * PowerOfTwo(-quantum) + kToInteger) - kToInteger;
  const double rounded = units * PowerOfTwo(quantum);
  if (rounded > Largest(format)) return Overflowed(format, value < 0);
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
  // In [0, 2^digits): below 2^fraction_bits it is a subnormal, otherwise the hidden bit carries
  // into the exponent field.
  const int quantum = QuantumExponent(format, rounded);
  const auto significand = static_cast<uint64_t>(rounded * PowerOfTwo(-quantum));
  const auto field = static_cast<uint64_t>(quantum - format.min_quantum());
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
    magnitude = static_cast<double>(fraction) * PowerOfTwo(format.min_quantum());
  } else {
    const uint64_t significand = fraction | (uint64_t{1} << fraction_bits);
    magnitude = static_cast<double>(significand) *
                PowerOfTwo(format.min_quantum() + static_cast<int>(field) - 1);
  }
  return std::copysign(magnitude, negative ? -1.0 : 1.0);
}

}  // namespace posgauge
