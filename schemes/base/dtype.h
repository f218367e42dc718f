#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace posgauge {

/// Element types of tensors, numbered as in posgauge/kernel.h. `f8e4m3` and `f8e5m2` are the
/// formats of the OCP 8-bit Floating Point Specification (revision 1.0): E4M3 without infinities,
/// and E5M2 as IEEE 754 would have it.
enum class Dtype : uint8_t { f64, f32, bf16, f16, i64, i32, u8, f8e4m3, f8e5m2 };

/// A binary floating-point format with round-to-nearest-even and subnormals (IEEE 754).
struct Format {
  int digits;        // significand bits, the hidden one included
  int min_exponent;  // exponent of the smallest normal number, 2^min_exponent
  int max_exponent;  // exponent of the largest binade, 2^max_exponent
  // Whether it has infinities, which what overflows becomes. Otherwise the largest significand of
  // the largest binade, of either sign, is the one NaN, and what overflows becomes that.
  bool infinities = true;

  /// log2 of the smallest subnormal.
  constexpr int min_quantum() const { return min_exponent - digits + 1; }
  bool operator==(const Format&) const = default;
};

/// Every floating dtype, widest first.
inline constexpr std::array<Dtype, 6> kFloatDtypes = {Dtype::f64, Dtype::f32,    Dtype::bf16,
                                                      Dtype::f16, Dtype::f8e4m3, Dtype::f8e5m2};

/// By Dtype; the integer ones have none.
inline constexpr std::array<Format, 9> kFormats = {{{53, -1022, 1023},
                                                    {24, -126, 127},
                                                    {8, -126, 127},
                                                    {11, -14, 15},
                                                    {0, 0, 0},
                                                    {0, 0, 0},
                                                    {0, 0, 0},
                                                    {4, -6, 8, false},
                                                    {3, -14, 15}}};

/// The format of a floating dtype; the integer dtypes have none and give {0, 0, 0}.
constexpr Format FormatOf(Dtype dtype) { return kFormats[static_cast<size_t>(dtype)]; }

constexpr bool IsFloat(Dtype dtype) { return FormatOf(dtype).digits > 0; }

/// Bytes an element takes.
constexpr size_t SizeOf(Dtype dtype) {
  constexpr std::array<uint8_t, 9> kBytes = {8, 4, 2, 2, 8, 4, 1, 1, 1};
  return kBytes[static_cast<size_t>(dtype)];
}

/// "f64", "f32", "bf16", "f16", "i64", "i32", "u8", "f8e4m3", "f8e5m2".
std::string_view Name(Dtype dtype);

/// Inverse of Name. Throws ParameterError that lists the names.
Dtype ParseDtype(std::string_view name);

/// Inverse of Name for the floating dtypes. Throws ParameterError that begins with `what` and lists
/// them.
Dtype ParseFloatDtype(std::string_view what, std::string_view name);

/// Largest finite number of the format.
double Largest(Format format);

/// What a number beyond the range becomes: an infinity of its sign, or a NaN of its sign.
double Overflowed(Format format, bool negative);

/// Rounds to the format, to nearest, ties to even, straight from binary64. What rounds beyond the
/// largest number, exponents unlimited, is Overflowed(), an infinity too; NaN stays NaN, the sign
/// of zero is kept. For f8e4m3 464 is the tie that goes to 448, and all above it is NaN.
double RoundTo(Format format, double value);

/// Bits of `value` in a floating dtype, rounded as RoundTo does; the low SizeOf(dtype) bytes count.
uint64_t Encode(Dtype dtype, double value);

/// Value of the low bits; exact for every floating dtype.
double Decode(Dtype dtype, uint64_t bits);

/// Distance between consecutive numbers at |value|: 2^(max(floor(log2|value|), min_exponent) -
/// digits + 1); the smallest subnormal at 0. `value` finite.
double Ulp(Format format, double value);

}  // namespace posgauge
