#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "posgauge/kernel.h"
#include "posgauge/schemes/base/dtype.h"
#include "posgauge/schemes/base/scalars.h"

namespace posgauge::fast {

/// A tensor of a call, checked. Up to three axes; strides in elements, of any sign.
struct Array {
  Dtype dtype;
  std::byte* data;
  std::array<int64_t, 3> shape{1, 1, 1}, stride{0, 0, 0};

  std::byte* At(int64_t i, int64_t j = 0, int64_t k = 0) const {
    return data +
           (i * stride[0] + j * stride[1] + k * stride[2]) * static_cast<int64_t>(SizeOf(dtype));
  }

  /// The element at i, or at (i, j), exactly (i64 rounds above 2^53).
  double Value(int64_t i, int64_t j = 0) const;
};

/// Whether `out` is the very memory of `x`. Throws ParameterError where they overlap otherwise.
bool RequireApartOrSame(const Array& x, const Array& out);

/// Whatever length an axis has.
inline constexpr int64_t kAnyLength = -1;

/// Finds what a call carries. Throws ParameterError, naming the tensor or scalar, on what is
/// missing or not as expected: dtype, shape, device, elements that are not aligned to their size.
class Call {
 public:
  explicit Call(const posgauge_call& call) : call_(call) {}

  /// Whether the call carries an input of that name.
  bool Has(std::string_view name) const;

  Array Input(std::string_view name, std::initializer_list<Dtype> dtypes,
              std::initializer_list<int64_t> shape) const;
  Array Output(std::string_view name, std::initializer_list<Dtype> dtypes,
               std::initializer_list<int64_t> shape) const;

  /// All elements of an input of f64, f32, bf16 or f16 and any number of axes, compact, in C order,
  /// rounded to T.
  template <class T>
  std::vector<T> Numbers(std::string_view name, const std::vector<int64_t>& shape) const;

  /// A scalar that is an integer in 0..2^31.
  int64_t Integer(std::string_view name) const;

  std::string_view SchemeName() const { return call_.scheme; }
  std::vector<Scalar> Scalars() const;

  /// The scheme's list fields that the call carries.
  std::vector<NamedList> Lists() const;

 private:
  const posgauge_call& call_;
};

}  // namespace posgauge::fast
