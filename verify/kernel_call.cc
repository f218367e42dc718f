#include "posgauge/verify/kernel_call.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "posgauge/schemes/base/scalars.h"

namespace posgauge {

namespace {

int32_t AbiDtype(Dtype dtype) { return static_cast<int32_t>(dtype); }
static_assert(static_cast<int>(Dtype::f64) == POSGAUGE_F64 &&
              static_cast<int>(Dtype::f32) == POSGAUGE_F32 &&
              static_cast<int>(Dtype::bf16) == POSGAUGE_BF16 &&
              static_cast<int>(Dtype::f16) == POSGAUGE_F16 &&
              static_cast<int>(Dtype::i64) == POSGAUGE_I64 &&
              static_cast<int>(Dtype::i32) == POSGAUGE_I32 &&
              static_cast<int>(Dtype::u8) == POSGAUGE_U8 &&
              static_cast<int>(Dtype::f8e4m3) == POSGAUGE_F8E4M3 &&
              static_cast<int>(Dtype::f8e5m2) == POSGAUGE_F8E5M2);

DLDataType DlpackType(Dtype dtype) {
  const auto bits = static_cast<uint8_t>(8 * SizeOf(dtype));
  // DLPack 0.6 has no code for floating bytes.
  if (bits == 8) return {kDLUInt, bits, 1};
  if (!IsFloat(dtype)) return {kDLInt, bits, 1};
  return {static_cast<uint8_t>(dtype == Dtype::bf16 ? kDLBfloat : kDLFloat), bits, 1};
}

// A tensor as the C side sees it. The arrays behind the pointers live as long as this does.
class Argument {
 public:
  Argument(const char* name, Dtype dtype, const std::vector<int64_t>& shape, const std::byte* data)
      : shape_(shape), strides_(shape.size()) {
    int64_t stride = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      strides_[axis] = stride;
      stride *= shape[axis];
    }
    argument_ = {.size = sizeof(posgauge_tensor),
                 .dtype = AbiDtype(dtype),
                 .name = name,
                 .tensor = {.data = const_cast<std::byte*>(data),
                            .device = {kDLCPU, 0},
                            .ndim = static_cast<int32_t>(shape_.size()),
                            .dtype = DlpackType(dtype),
                            .shape = shape_.data(),
                            .strides = strides_.data(),
                            .byte_offset = 0}};
  }
  const posgauge_tensor& argument() const { return argument_; }

 private:
  std::vector<int64_t> shape_, strides_;
  posgauge_tensor argument_;
};

}  // namespace

Tensor Poisoned(Dtype dtype, std::vector<int64_t> shape) {
  Tensor tensor(dtype, std::move(shape));
  std::ranges::fill(tensor.bytes(), std::byte{0xFF});
  return tensor;
}

void CallKernel(const KernelInfo& info, const Scheme& scheme, const std::vector<Named>& inputs,
                std::vector<Named>& outputs, bool in_place) {
  std::vector<posgauge_scalar> scalars;
  const auto named_scalars = ScalarsOf(scheme);
  for (const auto& [name, value] : named_scalars) scalars.push_back({name.c_str(), value});
  std::vector<Named> lists;
  for (const auto& [name, values] : ListsOf(scheme)) {
    const auto entries = static_cast<int64_t>(values.size());
    lists.push_back({name, Tensor::FromValues(Dtype::f64, {entries}, values)});
  }
  std::vector<Argument> arguments;
  arguments.reserve(inputs.size() + lists.size() + outputs.size());
  const auto lower = [&](const std::vector<Named>& tensors) {
    std::vector<posgauge_tensor> lowered;
    for (const Named& named : tensors) {
      arguments.emplace_back(named.name.c_str(), named.tensor.dtype(), named.tensor.shape(),
                             named.tensor.bytes().data());
      lowered.push_back(arguments.back().argument());
    }
    return lowered;
  };
  std::vector<posgauge_tensor> in = lower(inputs);
  const std::vector<posgauge_tensor> listed = lower(lists);
  in.insert(in.end(), listed.begin(), listed.end());
  std::vector<posgauge_tensor> out = lower(outputs);
  const std::string scheme_name(Name(scheme));
  if (in_place) {
    // The kernel writes over its input; the caller's copy of x is the output tensor itself.
    for (const posgauge_tensor& input : in) {
      if (std::strcmp(input.name, "x") == 0) {
        std::memcpy(out[0].tensor.data, input.tensor.data, outputs[0].tensor.bytes().size());
      }
    }
  }
  std::vector<posgauge_tensor> in_aliased = in;
  if (in_place) {
    for (posgauge_tensor& input : in_aliased) {
      if (std::strcmp(input.name, "x") == 0) input.tensor.data = out[0].tensor.data;
    }
  }
  const posgauge_call call = {.size = sizeof(posgauge_call),
                              .num_scalars = static_cast<uint32_t>(scalars.size()),
                              .scheme = scheme_name.c_str(),
                              .quantity = info.kernel->quantity,
                              .scalars = scalars.data(),
                              .inputs = in_aliased.data(),
                              .outputs = out.data(),
                              .num_inputs = static_cast<uint32_t>(in_aliased.size()),
                              .num_outputs = static_cast<uint32_t>(out.size())};
  std::array<char, 512> why{};
  const int32_t status = info.kernel->run(&call, why.data(), why.size());
  why.back() = '\0';
  const std::string reason = Printable(why.data());
  if (status == POSGAUGE_UNSUPPORTED) throw Unsupported(reason);
  if (status != POSGAUGE_OK) {
    throw KernelFailure(fmt::format("{} answered {}: {}", info.name, status, reason));
  }
}

std::string Printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

}  // namespace posgauge
