#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "posgauge/verify/kernel.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// How the elements of a tensor lie in memory.
enum class Spacing {
  compact,  // C order, from a 64-byte boundary on
  spread    // rows with a gap behind each, from a byte_offset on that is no multiple of 64 bytes
};

/// A tensor in memory of its own, as a kernel is given it, between guard zones of a known pattern.
class PlacedTensor {
 public:
  /// `pattern` of two bytes fills the guard zones and the gaps. Two tensors of a call need two:
  /// what a kernel copies past the end of one then differs from what the other's guard holds.
  PlacedTensor(const Tensor& tensor, Spacing spacing, uint16_t pattern);

  /// The C side's view, valid as long as this object is not moved.
  posgauge_tensor Argument(const char* name);

  /// The elements as they are now.
  Tensor Read() const;

  /// Where the guard zones or gaps no longer hold their pattern, in words: "after its end",
  /// "before its beginning", "between its rows"; empty if they do.
  std::string Overrun() const;

 private:
  // Calls visit(first byte, index of its first element) for every row.
  template <class Visit>
  void ForEachRow(Visit visit) const;

  Dtype dtype_;
  std::vector<int64_t> shape_, strides_;
  std::vector<std::byte> memory_;
  size_t start_ = 0, offset_ = 0, extent_ = 0;  // bytes: the data pointer, byte_offset, all rows
  size_t row_ = 0;                              // elements of a row
  uint16_t pattern_;
};

}  // namespace posgauge
