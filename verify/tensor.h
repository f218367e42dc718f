#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "posgauge/schemes/base/dtype.h"

namespace posgauge {

/// Numbers of one dtype in C order.
class Tensor {
 public:
  Tensor() = default;

  /// Zeros.
  Tensor(Dtype dtype, std::vector<int64_t> shape);

  /// `values` rounded to nearest even in dtype; throws Error if the count is not the shape's
  /// product or a value is not an integer of an integer dtype.
  static Tensor FromValues(Dtype dtype, std::vector<int64_t> shape, std::span<const double> values);

  Dtype dtype() const { return dtype_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  size_t size() const { return bytes_.size() / SizeOf(dtype_); }

  /// Element by flat index; exact (i64 beyond 2^53 is refused by FromValues).
  double Value(size_t index) const;
  uint64_t Bits(size_t index) const;
  void Set(size_t index, double value);
  void SetBits(size_t index, uint64_t bits);
  std::vector<double> Values() const;

  std::span<std::byte> bytes() { return bytes_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  bool operator==(const Tensor&) const = default;

 private:
  Dtype dtype_ = Dtype::f32;
  std::vector<int64_t> shape_;
  std::vector<std::byte> bytes_;
};

}  // namespace posgauge
