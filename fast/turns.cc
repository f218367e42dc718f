#include "posgauge/fast/turns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "posgauge/schemes/base/error.h"

namespace posgauge::fast {

namespace {

__extension__ using Uint128 = unsigned __int128;

// floor(2^192 / (2 pi)), the highest word first: 1/(2 pi) has more, but not for frequencies so
// small.
//   python3 -c 'from mpmath import *; mp.prec = 300; print("%x" % int(2**192/(2*pi)))'
constexpr std::array<uint64_t, 3> kTurnsPerRadian = {0x28be60db9391054a, 0x7f09d5f47d4d3770,
                                                     0x36d8a5664f10e410};

// 64 bits of 1/(2 pi) that begin `skip` places after the binary point; places before it are zeros.
uint64_t BitsAfter(int skip) {
  if (skip <= -64) return 0;
  if (skip < 0) return kTurnsPerRadian[0] >> -skip;
  const auto word = static_cast<size_t>(skip / 64);
  const int shift = skip % 64;
  const uint64_t high = kTurnsPerRadian[word] << shift;
  return shift == 0 ? high : high | (kTurnsPerRadian[word + 1] >> (64 - shift));
}

// An integer modulo 2^192, the lowest word first: turns in units of 2^-160.
using Fixed = std::array<uint64_t, 3>;

Fixed Add(Fixed a, const Fixed& b) {
  Uint128 carry = 0;
  for (size_t i = 0; i < 3; ++i) {
    carry += Uint128{a[i]} + b[i];
    a[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return a;
}

Fixed Negate(Fixed a) {
  for (uint64_t& word : a) word = ~word;
  return Add(a, {1, 0, 0});
}

// value/(2 pi) in turns modulo 2^32, within 2^-107: value = m 2^e with an integer m < 2^53, and
// 1/(2 pi) cut after e + 160 places loses less than m 2^-160. |value| <= 2^34, so e <= -19 and the
// places are among the first 142.
Fixed TurnsOf(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const int biased = static_cast<int>(bits >> 52) & 0x7ff;
  const uint64_t hidden = biased == 0 ? 0 : uint64_t{1} << 52;
  const uint64_t integer = (bits & ((uint64_t{1} << 52) - 1)) | hidden;
  const int exponent = std::max(biased, 1) - 1075;
  const int places = exponent + 160;
  const Fixed cut = {BitsAfter(places - 64), BitsAfter(places - 128), BitsAfter(places - 192)};
  Fixed product{};
  Uint128 carry = 0;
  for (size_t i = 0; i < 3; ++i) {
    carry += Uint128{integer} * cut[i];
    product[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return std::signbit(value) ? Negate(product) : product;
}

}  // namespace

Turns TurnsOf(std::span<const double> high, std::span<const double> low) {
  Turns turns;
  for (auto* words :
       {&turns.fraction[0], &turns.fraction[1], &turns.fraction[2], &turns.whole, &turns.sign}) {
    words->reserve(high.size());
  }
  for (size_t i = 0; i < high.size(); ++i) {
    const double frequency = high[i] + low[i];
    Require(std::fabs(high[i]) <= kLargestFrequency && std::fabs(low[i]) <= kLargestFrequency,
            "frequency[{}] must be finite and at most {} radians per token, got {}", i,
            kLargestFrequency, frequency);
    const bool negative = frequency < 0;
    Fixed sum = Add(TurnsOf(high[i]), TurnsOf(low[i]));
    if (negative) sum = Negate(sum);
    const Fixed rounded = Add(sum, {uint64_t{1} << 63, 0, 0});
    turns.fraction[0].push_back(rounded[2] & 0xffffffff);
    turns.fraction[1].push_back(rounded[1] >> 32);
    turns.fraction[2].push_back(rounded[1] & 0xffffffff);
    turns.whole.push_back(rounded[2] >> 32);
    turns.sign.push_back(uint64_t{negative} << 63);
    turns.any_whole |= turns.whole.back() != 0;
  }
  return turns;
}

TurnPosition TurnPositionOf(double position) {
  const double size = std::fabs(position);
  Require(size <= kLargestPosition, "a position must be finite and at most {} in size, got {}",
          kLargestPosition, position);
  const double whole = std::trunc(size);
  return {static_cast<uint32_t>(whole),
          static_cast<uint64_t>(std::nearbyint((size - whole) * 0x1p64)), position < 0};
}

TurnPosition TurnPositionOf(Wide position) {
  const bool negative = position.high < 0;
  const Wide size = negative ? -position : position;
  Require(size.high + size.low <= kLargestPosition,
          "a position must be finite and at most {} in size, got {}", kLargestPosition,
          position.high + position.low);
  double whole = std::trunc(size.high);
  double fraction = size.high - whole, low = size.low;
  // high is whole, the number just below it.
  if (fraction == 0 && low < 0) {
    whole -= 1;
    fraction = 1;
  }
  // 64 bits, of which a double holds 53: what is above 2^-32 first, exactly, then the rest.
  const double upper = std::trunc(fraction * 0x1p32);
  const double lower = (fraction * 0x1p32 - upper + low * 0x1p32) * 0x1p32;
  const auto units = static_cast<int64_t>(std::nearbyint(lower));
  // Modulo 2^64, as 1 - 2^-65 rounds to a whole token.
  const Uint128 sum = (Uint128{static_cast<uint64_t>(whole)} << 64) +
                      (Uint128{static_cast<uint64_t>(upper)} << 32) + static_cast<Uint128>(units);
  return {static_cast<uint32_t>(sum >> 64), static_cast<uint64_t>(sum), negative};
}

void PairPositions::Set(std::span<const TurnPosition> row, std::span<const int64_t> axis) {
  whole.resize(axis.size());
  fraction.resize(axis.size());
  any_fraction = false;
  packed_.clear();
  for (const TurnPosition& position : row) {
    any_fraction |= position.fraction != 0;
    const bool moves = position.whole != 0 || position.fraction != 0;
    packed_.push_back(position.whole | uint64_t{moves} << 62 |
                      uint64_t{moves && position.negative} << 63);
  }
  for (size_t pair = 0; pair < axis.size(); ++pair) {
    whole[pair] = packed_[static_cast<size_t>(axis[pair])];
  }
  for (size_t pair = 0; any_fraction && pair < axis.size(); ++pair) {
    fraction[pair] = row[static_cast<size_t>(axis[pair])].fraction;
  }
}

}  // namespace posgauge::fast
