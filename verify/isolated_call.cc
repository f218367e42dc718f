#include "posgauge/verify/isolated_call.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "posgauge/verify/isolated_library.h"
#include "posgauge/verify/placed_tensor.h"
#include "posgauge/verify/use_collector.h"

namespace posgauge {

namespace {

// What outputs and their guard zones hold before a run: NaNs in every floating dtype, in the second
// run another for every element. Those of inputs hold the other run's, so that a tail that is
// copied from beyond the end of one to beyond the end of the other shows.
uint16_t OutputPoison(Dtype dtype, child::Poison poison) {
  if (poison == child::Poison::first) return 0xFFFF;
  return SizeOf(dtype) == 1 ? 0x7F7F : 0x7FFF;
}

uint16_t InputPoison(Dtype dtype, child::Poison poison) {
  return OutputPoison(
      dtype, poison == child::Poison::first ? child::Poison::second : child::Poison::first);
}

Tensor Filled(const Tensor& like, uint16_t pattern) {
  Tensor tensor(like.dtype(), like.shape());
  const std::span<std::byte> bytes = tensor.bytes();
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i % 2 == 0 ? pattern & 0xFF : pattern >> 8);
  }
  return tensor;
}

uint64_t PoisonBits(Dtype dtype, child::Poison poison) {
  return Filled(Tensor(dtype, {1}), OutputPoison(dtype, poison)).Bits(0);
}

std::string Describe(const Named& named) {
  return fmt::format("{} [{}] {}", named.name, fmt::join(named.tensor.shape(), ", "),
                     Name(named.tensor.dtype()));
}

std::string PlaceOf(const Tensor& tensor, size_t index) {
  std::vector<size_t> place;
  for (size_t axis = tensor.shape().size(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(tensor.shape()[axis]);
    place.push_back(index % extent);
    index /= extent;
  }
  std::ranges::reverse(place);
  return fmt::format("[{}]", fmt::join(place, ", "));
}

bool IsNan(const Tensor& tensor, size_t index) {
  return IsFloat(tensor.dtype()) && std::isnan(tensor.Value(index));
}

// How many elements satisfy a condition, and the first of them.
struct Share {
  size_t count = 0, first = 0;
};

template <class Holds>
Share CountWhere(const Tensor& tensor, Holds holds) {
  Share share;
  for (size_t i = 0; i < tensor.size(); ++i) {
    if (!holds(i)) continue;
    if (share.count++ == 0) share.first = i;
  }
  return share;
}

/// One call, run as often as it takes.
class IsolatedCall {
 public:
  IsolatedCall(const KernelInfo& info, const CallInputs& inputs, const std::vector<Named>& outputs,
               Placement placement)
      : info_(info), inputs_(inputs), outputs_(outputs), placement_(placement) {
    for (size_t i = 0; i < inputs.tensors.size(); ++i) {
      if (placement == Placement::in_place && inputs.tensors[i]->name == "x") x_ = i;
    }
  }

  struct Result {
    int32_t status = POSGAUGE_OK;
    std::string why;
    std::vector<Tensor> outputs;
  };

  // Throws KernelFailure for whatever is worse than an answer.
  Result Run(Edge edge, child::Poison poison) const {
    child::Call call{.kernel = info_.index,
                     .poison = poison,
                     .scheme = inputs_.scheme,
                     .scalars = inputs_.scalars};
    std::vector<Placed> placed;
    placed.reserve(outputs_.size() + inputs_.tensors.size());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const uint16_t pattern = OutputPoison(outputs_[i].tensor.dtype(), poison);
      const bool holds_x = x_ && i == 0;
      const Tensor& before = holds_x ? inputs_.tensors[*x_]->tensor : outputs_[i].tensor;
      call.outputs.push_back(Place(placed, {outputs_[i].name, true, 2 * i + 1}, edge, pattern,
                                   holds_x ? before : Filled(before, pattern)));
    }
    for (size_t i = 0; i < inputs_.tensors.size(); ++i) {
      const Named& input = *inputs_.tensors[i];
      if (x_ && i == *x_) {
        call.inputs.push_back(call.outputs.front());
        call.inputs.back().name = input.name;
        continue;
      }
      call.inputs.push_back(Place(placed, {input.name, false, 2 * i + 2}, edge,
                                  InputPoison(input.tensor.dtype(), poison), input.tensor));
    }
    IsolatedLibrary::Outcome outcome = info_.isolated->Run(std::move(call));
    if (outcome.failure) Refuse(outcome, placed, edge);
    Result result{outcome.answer.status, Printable(outcome.answer.why), {}};
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (const std::string where = placed[i].tensor.Overrun(); !where.empty()) {
        throw KernelFailure(fmt::format("{} wrote to memory outside {}: {}; {}", info_.name,
                                        outputs_[i].name, where, CallText(edge)),
                            Failure::overrun);
      }
      result.outputs.push_back(placed[i].tensor.Read());
    }
    return result;
  }

  // What both runs left as it was before.
  void RefuseUnwritten(const Result& first, const Result& second) const {
    for (size_t o = x_ ? 1 : 0; o < outputs_.size(); ++o) {
      const Tensor &a = first.outputs[o], &b = second.outputs[o];
      const uint64_t before = PoisonBits(a.dtype(), child::Poison::first);
      const uint64_t again = PoisonBits(a.dtype(), child::Poison::second);
      const Share share =
          CountWhere(a, [&](size_t i) { return a.Bits(i) == before && b.Bits(i) == again; });
      if (share.count == 0) continue;
      throw KernelFailure(
          fmt::format("{} left {} of {} elements of {} unwritten, the first at {}; {}", info_.name,
                      share.count, a.size(), outputs_[o].name, PlaceOf(a, share.first),
                      CallText(Edge::begin)),
          Failure::unwritten);
    }
  }

  // Two results of which every bit should be the same, but that one NaN is as good as another.
  void RefuseUnlike(const Result& first, const Result& second, std::string_view what) const {
    for (size_t o = 0; o < outputs_.size(); ++o) {
      const Tensor &a = first.outputs[o], &b = second.outputs[o];
      if (a == b) continue;
      const Share share = CountWhere(
          a, [&](size_t i) { return a.Bits(i) != b.Bits(i) && !(IsNan(a, i) && IsNan(b, i)); });
      if (share.count == 0) continue;
      throw KernelFailure(
          fmt::format("{}: {}: {} of {} elements of {}, the first at {}, {} and {}; {}", info_.name,
                      what, share.count, a.size(), outputs_[o].name, PlaceOf(a, share.first),
                      HexAndDecimal(a.Value(share.first)), HexAndDecimal(b.Value(share.first)),
                      CallText(Edge::end)),
          Failure::unstable);
    }
  }

 private:
  struct Label {
    std::string name;
    bool writable;
    size_t slot;
  };
  struct Placed {
    Label label;
    PlacedTensor tensor;
    std::ptrdiff_t first;  // bytes, of the first element in its slot
  };

  child::Tensor Place(std::vector<Placed>& placed, Label label, Edge edge, uint16_t pattern,
                      const Tensor& tensor) const {
    const Spacing spacing = SpacingOf(label.name, placement_);
    const SharedMemory::Place& place = info_.isolated->memory().Reserve(
        static_cast<uint32_t>(label.slot), label.writable, PlacedTensor::RoomFor(tensor, spacing));
    placed.push_back({label, PlacedTensor(tensor, spacing, pattern, place.memory, edge), 0});
    Placed& last = placed.back();
    last.first = last.tensor.elements().data() - place.memory.data();
    const posgauge_tensor argument = last.tensor.Argument("");
    const DLTensor& dl = argument.tensor;
    return {.name = label.name,
            .dtype = argument.dtype,
            .code = dl.dtype.code,
            .bits = dl.dtype.bits,
            .slot = place.slot,
            .data = static_cast<uint64_t>(static_cast<std::byte*>(dl.data) - place.memory.data()),
            .byte_offset = dl.byte_offset,
            .shape = {dl.shape, dl.shape + dl.ndim},
            .strides = {dl.strides, dl.strides + dl.ndim}};
  }

  // "x [32, 4, 128] f32, positions [32] i64, to out [32, 4, 128] f32, ...".
  std::string CallText(Edge edge) const {
    std::vector<std::string> in, out;
    for (const Named* input : inputs_.tensors) in.push_back(Describe(*input));
    for (const Named& output : outputs_) out.push_back(Describe(output));
    constexpr std::array<std::string_view, 4> kPlacements = {"", ", in place",
                                                             ", gaps between rows", ", packed"};
    return fmt::format("called with {} for {}, at the {} of their memory{}", fmt::join(in, ", "),
                       fmt::join(out, ", "), edge == Edge::begin ? "beginning" : "end",
                       kPlacements[static_cast<size_t>(placement_)]);
  }

  [[noreturn]] void Refuse(const IsolatedLibrary::Outcome& outcome,
                           const std::vector<Placed>& placed, Edge edge) const {
    Failure failure = *outcome.failure;
    std::string what = outcome.what;
    const child::LastWords& words = outcome.last_words;
    if (failure == Failure::crash && words.ending == child::Ending::faulted) {
      const auto at = std::ranges::find(placed, size_t{words.slot},
                                        [](const Placed& each) { return each.label.slot; });
      if (at != placed.end()) {
        what = fmt::format("{}: it {}", FaultAt(*at, words, failure), outcome.what);
      } else if (words.address_is_known != 0) {
        what += fmt::format(", at address {:#x}", words.address);
      }
    }
    throw KernelFailure(fmt::format("{} {}; {}", info_.name, what, CallText(edge)), failure);
  }

  // What an address in or beside a tensor means; it is no mere crash then.
  static std::string FaultAt(const Placed& placed, const child::LastWords& words,
                             Failure& failure) {
    const auto bytes = static_cast<int64_t>(placed.tensor.elements().size());
    const int64_t first = placed.first, end = first + bytes, at = words.offset;
    const std::string& name = placed.label.name;
    const std::string_view did = words.access == child::LastWords::Access::write  ? "wrote"
                                 : words.access == child::LastWords::Access::read ? "read"
                                                                                  : "read or wrote";
    if (at >= first && at < end) {
      // Reading there is no fault.
      failure = Failure::input_written;
      return fmt::format("wrote to its input {}, at byte {} of {}", name, at - first, bytes);
    }
    failure = Failure::overrun;
    if (at < first) {
      return fmt::format("{} memory {} bytes before the beginning of {}", did, first - at, name);
    }
    return fmt::format("{} memory {} after the end of {}", did,
                       at == end ? "right" : fmt::format("{} bytes", at - end), name);
  }

  const KernelInfo& info_;
  const CallInputs& inputs_;
  const std::vector<Named>& outputs_;
  Placement placement_;
  std::optional<size_t> x_;  // the input that shares the first output's memory
};

void RefuseAnswer(const KernelInfo& info, const IsolatedCall::Result& result,
                  std::string_view when) {
  if (result.status == POSGAUGE_OK) return;
  throw KernelFailure(
      fmt::format("{} answered {}{}: {}", info.name, result.status, when, result.why));
}

}  // namespace

void CallIsolated(const KernelInfo& info, const CallInputs& inputs, std::vector<Named>& outputs,
                  Placement placement) {
  const IsolatedCall call(info, inputs, outputs, placement);
  IsolatedCall::Result first = call.Run(Edge::begin, child::Poison::first);
  if (first.status == POSGAUGE_UNSUPPORTED) throw Unsupported(first.why);
  RefuseAnswer(info, first, "");
  IsolatedCall::Result second = call.Run(Edge::end, child::Poison::second);
  // A kernel may want more of an address than that it is a multiple of its element's size.
  const bool moved = second.status != POSGAUGE_UNSUPPORTED;
  if (!moved) second = call.Run(Edge::begin, child::Poison::second);
  RefuseAnswer(info, second, " when called a second time");
  call.RefuseUnwritten(first, second);
  if (first.outputs != second.outputs) {
    constexpr std::string_view kUnstable = "two identical runs differ";
    if (moved) {
      const IsolatedCall::Result third = call.Run(Edge::end, child::Poison::first);
      RefuseAnswer(info, third, " when called a third time");
      call.RefuseUnlike(second, third, kUnstable);
      if (info.Declares("alignment")) {
        call.RefuseUnlike(first, second,
                          "it declares alignment, and at another address results differ");
      }
    } else {
      call.RefuseUnlike(first, second, kUnstable);
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].tensor = std::move(first.outputs[i]);
}

}  // namespace posgauge
