#pragma once

#include <cstdint>
#include <string_view>

namespace posgauge {

/// Counter-based random numbers: the n-th number depends on the seed, the key and n only, so a case
/// can be repeated alone. SplitMix64 (Steele, Lea, Flood 2014) over a counter, started from an
/// FNV-1a hash of the key.
class Random {
 public:
  Random(uint64_t seed, std::string_view key) : state_(seed ^ 0xcbf29ce484222325u) {
    for (const char c : key) {
      state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
  }

  uint64_t Bits() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double Uniform() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }

  /// Uniform in [0, count).
  uint64_t Below(uint64_t count) { return Bits() % count; }

 private:
  uint64_t state_;
};

}  // namespace posgauge
