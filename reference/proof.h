#pragma once

#include <cstdint>
#include <vector>

#include "posgauge/schemes/base/dtype.h"

namespace posgauge {

/// How a value is known. `exact`: the stored number is the real number. `proven`: the stored number
/// is the rounding of the real number. `undecided`: the precision cap was reached; the stored
/// number is the rounding of the last enclosure's middle and must never count as passed.
enum class Proof : uint8_t { exact, proven, undecided };

/// Evidence for a set of values.
struct ProofCounts {
  int64_t exact = 0, proven = 0, undecided = 0;
  int max_bits = 0;  // the highest precision that any of them needed

  int64_t Total() const { return exact + proven + undecided; }
  void Add(Proof proof, int bits);
  void Merge(const ProofCounts& other);
  bool operator==(const ProofCounts&) const = default;
};

/// Correctly rounded values of one dtype, with the evidence for each.
struct RoundedValues {
  Dtype dtype = Dtype::f64;
  std::vector<double> values;  // each a number of dtype; infinite, or NaN, on overflow
  std::vector<Proof> proofs;   // one a value
  /// (real value - stored value) in units of 2^-16 ulp of the stored value, rounded to nearest;
  /// 0 for a stored value that is not finite. For f64 and f32; empty for the other dtypes.
  std::vector<int32_t> distances;
  ProofCounts counts;
};

}  // namespace posgauge
