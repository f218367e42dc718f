#include "posgauge/fast/call.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "posgauge/schemes/base/error.h"

namespace posgauge::fast {

namespace {

std::string NamesOf(std::initializer_list<Dtype> dtypes) {
  std::vector<std::string_view> names;
  for (Dtype dtype : dtypes) names.push_back(Name(dtype));
  return fmt::format("{}", fmt::join(names, ", "));
}

Array Find(std::span<const posgauge_tensor> tensors, std::string_view name,
           std::initializer_list<Dtype> dtypes, std::initializer_list<int64_t> shape) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const posgauge_tensor& t) {
    return t.name != nullptr && t.name == name;
  });
  Require(found != tensors.end(), "the call lacks the tensor {}", name);
  const DLTensor& tensor = found->tensor;
  const auto* dtype = std::find_if(dtypes.begin(), dtypes.end(), [&](Dtype candidate) {
    return static_cast<int32_t>(candidate) == found->dtype;
  });
  if (dtype == dtypes.end()) {
    throw ParameterError(
        fmt::format("{} must be {}, got dtype code {}", name, NamesOf(dtypes), found->dtype));
  }
  Require(tensor.device.device_type == kDLCPU, "{} must be in CPU memory, got device type {}", name,
          static_cast<int>(tensor.device.device_type));
  Require(tensor.ndim == static_cast<int>(shape.size()), "{} must have {} axes, got {}", name,
          shape.size(), tensor.ndim);

  Array array{.dtype = *dtype, .data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset};
  int64_t compact = 1;
  bool empty = false;
  for (size_t axis = shape.size(); axis-- > 0;) {
    const int64_t length = tensor.shape[axis], wanted = shape.begin()[axis];
    Require(length >= 0 && (wanted == kAnyLength || length == wanted),
            "{} must have length {} on axis {}, got {}", name, wanted, axis, length);
    array.shape[axis] = length;
    array.stride[axis] = tensor.strides == nullptr ? compact : tensor.strides[axis];
    compact *= length;
    empty |= length == 0;
  }
  Require(empty || tensor.data != nullptr, "{} has no memory", name);
  Require(empty || reinterpret_cast<uintptr_t>(array.data) % SizeOf(array.dtype) == 0,
          "{} must be aligned to its elements, {} bytes", name, SizeOf(array.dtype));
  return array;
}

// First byte and one past the last that an array touches.
std::array<const std::byte*, 2> Extent(const Array& array) {
  const std::byte *first = array.data, *last = array.data;
  const auto size = static_cast<int64_t>(SizeOf(array.dtype));
  for (size_t axis = 0; axis < 3; ++axis) {
    if (array.shape[axis] == 0) return {array.data, array.data};
    const int64_t reach = (array.shape[axis] - 1) * array.stride[axis] * size;
    (reach < 0 ? first : last) += reach;
  }
  return {first, last + size};
}

}  // namespace

bool RequireApartOrSame(const Array& x, const Array& out) {
  if (x.data == out.data && x.stride == out.stride) return true;
  const auto [x_first, x_end] = Extent(x);
  const auto [out_first, out_end] = Extent(out);
  Require(x_end <= out_first || out_end <= x_first, "out overlaps x without being the same memory");
  return false;
}

double Array::Value(int64_t i, int64_t j) const {
  if (dtype == Dtype::i64) {
    int64_t value = 0;
    std::memcpy(&value, At(i, j), sizeof value);
    return static_cast<double>(value);
  }
  if (dtype == Dtype::i32) {
    int32_t value = 0;
    std::memcpy(&value, At(i, j), sizeof value);
    return value;
  }
  if (dtype == Dtype::f64) {
    double value = 0;
    std::memcpy(&value, At(i, j), sizeof value);
    return value;
  }
  float value = 0;
  std::memcpy(&value, At(i, j), sizeof value);
  return double{value};
}

bool Call::Has(std::string_view name) const {
  const std::span<const posgauge_tensor> inputs(call_.inputs, call_.num_inputs);
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const posgauge_tensor& t) { return t.name != nullptr && t.name == name; });
}

Array Call::Input(std::string_view name, std::initializer_list<Dtype> dtypes,
                  std::initializer_list<int64_t> shape) const {
  return Find({call_.inputs, call_.num_inputs}, name, dtypes, shape);
}

Array Call::Output(std::string_view name, std::initializer_list<Dtype> dtypes,
                   std::initializer_list<int64_t> shape) const {
  return Find({call_.outputs, call_.num_outputs}, name, dtypes, shape);
}

template <class T>
std::vector<T> Call::Numbers(std::string_view name, const std::vector<int64_t>& shape) const {
  const auto tensors = std::span(call_.inputs, call_.num_inputs);
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const posgauge_tensor& t) {
    return t.name != nullptr && t.name == name;
  });
  Require(found != tensors.end(), "the call lacks the tensor {}", name);
  const DLTensor& tensor = found->tensor;
  Require(found->dtype >= 0 && found->dtype <= static_cast<int32_t>(Dtype::f16),
          "{} must be f64, f32, bf16 or f16, got dtype code {}", name, found->dtype);
  const auto dtype = static_cast<Dtype>(found->dtype);
  Require(tensor.device.device_type == kDLCPU, "{} must be in CPU memory, got device type {}", name,
          static_cast<int>(tensor.device.device_type));
  Require(tensor.ndim == static_cast<int>(shape.size()), "{} must have {} axes, got {}", name,
          shape.size(), tensor.ndim);
  int64_t compact = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    Require(tensor.shape[axis] == shape[axis], "{} must have length {} on axis {}, got {}", name,
            shape[axis], axis, tensor.shape[axis]);
    Require(tensor.strides == nullptr || tensor.strides[axis] == compact || shape[axis] == 1,
            "{} must be compact", name);
    compact *= shape[axis];
  }
  const auto* data = static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  const size_t size = SizeOf(dtype);
  std::vector<T> numbers;
  for (size_t i = 0; i < static_cast<size_t>(compact); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data + i * size, size);
    numbers.push_back(static_cast<T>(Decode(dtype, bits)));
  }
  return numbers;
}

template std::vector<float> Call::Numbers(std::string_view, const std::vector<int64_t>&) const;
template std::vector<double> Call::Numbers(std::string_view, const std::vector<int64_t>&) const;

int64_t Call::Integer(std::string_view name) const {
  for (const posgauge_scalar& scalar : std::span(call_.scalars, call_.num_scalars)) {
    if (scalar.name != name) continue;
    Require(scalar.value >= 0 && scalar.value <= 0x1p31 && std::trunc(scalar.value) == scalar.value,
            "{} must be an integer in 0..2^31, got {}", name, scalar.value);
    return static_cast<int64_t>(scalar.value);
  }
  throw ParameterError(fmt::format("the call lacks the scalar {}", name));
}

std::vector<Scalar> Call::Scalars() const {
  std::vector<Scalar> scalars;
  for (const posgauge_scalar& scalar : std::span(call_.scalars, call_.num_scalars)) {
    scalars.emplace_back(scalar.name, scalar.value);
  }
  return scalars;
}

std::vector<NamedList> Call::Lists() const {
  std::vector<NamedList> lists;
  for (const std::string& field : ListFields(SchemeName())) {
    if (!Has(field)) continue;
    const Array list = Input(field, {Dtype::f64}, {kAnyLength});
    std::vector<double>& values = lists.emplace_back(field, std::vector<double>{}).second;
    for (int64_t i = 0; i < list.shape[0]; ++i) values.push_back(list.Value(i));
  }
  return lists;
}

}  // namespace posgauge::fast
