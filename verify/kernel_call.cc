#include "posgauge/verify/kernel_call.h"

#include <algorithm>
#include <array>
#include <span>

#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/foreign_code.h"
#include "posgauge/verify/isolated_call.h"
#include "posgauge/verify/placed_tensor.h"

namespace posgauge {

namespace {

static_assert(static_cast<int>(Dtype::f64) == POSGAUGE_F64 &&
              static_cast<int>(Dtype::f32) == POSGAUGE_F32 &&
              static_cast<int>(Dtype::bf16) == POSGAUGE_BF16 &&
              static_cast<int>(Dtype::f16) == POSGAUGE_F16 &&
              static_cast<int>(Dtype::i64) == POSGAUGE_I64 &&
              static_cast<int>(Dtype::i32) == POSGAUGE_I32 &&
              static_cast<int>(Dtype::u8) == POSGAUGE_U8 &&
              static_cast<int>(Dtype::f8e4m3) == POSGAUGE_F8E4M3 &&
              static_cast<int>(Dtype::f8e5m2) == POSGAUGE_F8E5M2);

// A NaN in every floating dtype, so that what is read beyond an end shows. Two of them: a tail that
// is copied from beyond the end of an input to beyond the end of an output must show too.
constexpr uint16_t kInputGuard = 0x7FFF, kOutputGuard = 0xFFFF;

bool IsX(const Named* named) { return named->name == "x"; }

void RefuseOverrun(const KernelInfo& info, const std::string& tensor, const PlacedTensor& placed) {
  if (const std::string where = placed.Overrun(); !where.empty()) {
    throw KernelFailure(fmt::format("{} wrote to memory outside {}: {}", info.name, tensor, where),
                        Failure::overrun);
  }
}

// What `run` answers, with what it may leave behind put back.
int32_t Run(const KernelInfo& info, const posgauge_call& call, std::span<char> why) {
  const ForeignCode guard;
  return info.kernel->run(&call, why.data(), why.size());
}

}  // namespace

Spacing SpacingOf(std::string_view tensor, Placement placement) {
  if (tensor != "x" && tensor != "out") return Spacing::compact;
  return placement == Placement::spread   ? Spacing::spread
         : placement == Placement::packed ? Spacing::packed
                                          : Spacing::compact;
}

Tensor Poisoned(Dtype dtype, std::vector<int64_t> shape) {
  Tensor tensor(dtype, std::move(shape));
  std::ranges::fill(tensor.bytes(), std::byte{0xFF});
  return tensor;
}

namespace {

// CallKernel in this process.
void CallHere(const KernelInfo& info, const CallInputs& inputs, std::vector<Named>& outputs,
              Placement placement) {
  std::vector<posgauge_scalar> scalars;
  for (const auto& [name, value] : inputs.scalars) scalars.push_back({name.c_str(), value});
  const bool in_place = placement == Placement::in_place;
  const auto x = std::ranges::find_if(inputs.tensors, IsX);
  std::vector<PlacedTensor> placed_inputs, placed_outputs;
  std::vector<posgauge_tensor> in, out;
  placed_inputs.reserve(inputs.tensors.size());
  placed_outputs.reserve(outputs.size());
  for (const Named& output : outputs) {
    const bool holds_x = in_place && out.empty() && x != inputs.tensors.end();
    placed_outputs.emplace_back(holds_x ? (*x)->tensor : output.tensor,
                                SpacingOf(output.name, placement), kOutputGuard);
    out.push_back(placed_outputs.back().Argument(output.name.c_str()));
  }
  for (const Named* input : inputs.tensors) {
    placed_inputs.emplace_back(input->tensor, SpacingOf(input->name, placement), kInputGuard);
    in.push_back(placed_inputs.back().Argument(input->name.c_str()));
    if (in_place && IsX(input)) in.back().tensor.data = out.front().tensor.data;
  }
  const posgauge_call call = {.size = sizeof(posgauge_call),
                              .num_scalars = static_cast<uint32_t>(scalars.size()),
                              .scheme = inputs.scheme.c_str(),
                              .quantity = info.kernel->quantity,
                              .scalars = scalars.data(),
                              .inputs = in.data(),
                              .outputs = out.data(),
                              .num_inputs = static_cast<uint32_t>(in.size()),
                              .num_outputs = static_cast<uint32_t>(out.size())};
  std::array<char, 512> why{};
  const int32_t status = Run(info, call, why);
  why.back() = '\0';
  for (size_t i = 0; i < in.size(); ++i) {
    RefuseOverrun(info, in[i].name, placed_inputs[i]);
    if (!placed_inputs[i].Holds(inputs.tensors[i]->tensor)) {
      throw KernelFailure(fmt::format("{} wrote to its input {}", info.name, in[i].name),
                          Failure::input_written);
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    RefuseOverrun(info, outputs[i].name, placed_outputs[i]);
    outputs[i].tensor = placed_outputs[i].Read();
  }
  const std::string reason = Printable(why.data());
  if (status == POSGAUGE_UNSUPPORTED) throw Unsupported(reason);
  if (status != POSGAUGE_OK) {
    throw KernelFailure(fmt::format("{} answered {}: {}", info.name, status, reason));
  }
}

}  // namespace

void CallKernel(const KernelInfo& info, const Scheme& scheme, const std::vector<Named>& inputs,
                std::vector<Named>& outputs, Placement placement) {
  std::vector<Named> lists;
  for (const auto& [name, values] : ListsOf(scheme)) {
    if (info.Input(name) != nullptr) continue;  // among the inputs, where the descriptor has it
    const auto entries = static_cast<int64_t>(values.size());
    lists.push_back({name, Tensor::FromValues(Dtype::f64, {entries}, values)});
  }
  CallInputs all{std::string(Name(scheme)), ScalarsOf(scheme), {}};
  for (const Named& input : inputs) all.tensors.push_back(&input);
  for (const Named& list : lists) all.tensors.push_back(&list);
  (info.isolated ? CallIsolated : CallHere)(info, all, outputs, placement);
}

std::string Printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

}  // namespace posgauge
