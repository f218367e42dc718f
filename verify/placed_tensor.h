#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "posgauge/verify/kernel.h"
#include "posgauge/verify/tensor.h"

namespace posgauge {

/// How the elements of a tensor lie in memory.
enum class Spacing {
  compact,  // C order
  spread,   // rows with a gap behind each, from a byte_offset on that is no multiple of 64 bytes
  packed    // the middle third of the rows of the first axis, as k is of packed q, k and v
};

/// The end of given memory at which a tensor lies: its first byte is the memory's first, or the
/// last byte of its last element the memory's last.
enum class Edge { begin, end };

/// A tensor as a kernel is given it, between guard zones of a known pattern, but for an edge.
class PlacedTensor {
 public:
  PlacedTensor(PlacedTensor&&) = default;
  PlacedTensor& operator=(PlacedTensor&&) = default;

  /// In memory of its own, from a 64-byte boundary on. `pattern` of two bytes fills the guard zones
  /// and the gaps. Two tensors of a call need two: what a kernel copies past the end of one then
  /// differs from what the other's guard holds.
  PlacedTensor(const Tensor& tensor, Spacing spacing, uint16_t pattern);

  /// At an edge of memory that holds RoomFor bytes and outlives it.
  PlacedTensor(const Tensor& tensor, Spacing spacing, uint16_t pattern, std::span<std::byte> memory,
               Edge edge);
  static size_t RoomFor(const Tensor& tensor, Spacing spacing);

  /// The C side's view, valid as long as this object is not moved.
  posgauge_tensor Argument(const char* name);

  /// From the first element to the end of the last, gaps among them.
  std::span<const std::byte> elements() const { return zone_.subspan(start_ + offset_, reach_); }

  /// The elements as they are now.
  Tensor Read() const;

  /// Whether they are still those of a tensor of this dtype and shape, bit for bit.
  bool Holds(const Tensor& tensor) const;

  /// Where the guard zones or gaps no longer hold their pattern, in words: "after its end",
  /// "before its beginning", "between its rows"; empty if they do.
  std::string Overrun() const;

 private:
  PlacedTensor(const Tensor& tensor, Spacing spacing, uint16_t pattern, size_t own_bytes);
  void Fill(const Tensor& tensor);

  // Calls visit(first byte, index of its first element) for every row.
  template <class Visit>
  void ForEachRow(Visit visit) const;

  Dtype dtype_;
  std::vector<int64_t> shape_, strides_;
  std::vector<std::byte> own_;  // unless the memory was given
  std::span<std::byte> zone_;   // what is watched: the tensor, its gaps and guard zones
  size_t start_ = 0;            // bytes: the data pointer, in the zone
  size_t offset_ = 0,
         reach_ = 0;  // bytes: byte_offset; from the first element to the last one's end
  size_t row_ = 0, step_ = 0,
         rows_ = 0;  // elements without a gap, and from row to row; their number
  uint16_t pattern_;
};

}  // namespace posgauge
