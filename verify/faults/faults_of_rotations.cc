#include <algorithm>
#include <cmath>

#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/links.h"
#include "posgauge/verify/faults/replay.h"
#include "posgauge/verify/faults/rounded.h"

namespace posgauge {

namespace {

bool Turns(const Question& question) {
  return IsRotary(question.scheme) && question.quantity.starts_with("rotate");
}

// Every product and sum rounded, and the operands before.
ChangeTurn TurnIn(Dtype dtype) {
  return {[dtype](const TurnPlace& at) -> std::array<double, 2> {
    const auto round = [dtype](double value) { return RoundedTo(dtype, value); };
    const double u = round(at.u), v = round(at.v), c = round(at.entry.cos), s = round(at.entry.sin);
    return {round(round(u * c) - round(v * s)), round(round(u * s) + round(v * c))};
  }};
}

Fault ArithmeticIn(Dtype dtype, std::vector<std::string> links, std::vector<std::string> kinds) {
  const std::string name(Name(dtype));
  return {.id = "arithmetic_" + name,
          .cause = "operands, products and sums of the rotation are rounded to " + name,
          .fix = "rotate in float32 and round once, or declare rotate=" + name,
          .shows = "inputs that " + name + " does not hold at position 0, others at position 1",
          .change = TurnIn(dtype),
          .links = std::move(links),
          .kinds = std::move(kinds)};
}

template <class Of>
ChangeTurn Turn(Of of) {
  return {[of](const TurnPlace& at) -> std::array<double, 2> { return of(at); }};
}

// By head and channel of rotated vectors: what is read from (token, head, channel) goes there.
template <class Change>
ChangeResult Vectors(Change change) {
  return {[change](const Question& question, std::vector<double>& values) {
    if (!Turns(question)) return false;
    const std::vector<double> before = values;
    const auto width = static_cast<size_t>(RotaryOf(question.scheme).head_dim);
    const auto heads = static_cast<size_t>(question.shape[1]);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t channel = i % width, head = i / width % heads, token = i / width / heads;
      const auto at = [&](size_t t, size_t h, size_t c) {
        return before[(t * heads + h) * width + c];
      };
      values[i] = change(question, at, token, head, channel);
    }
    return values != before;
  }};
}

bool IsTurned(const Rotary& rotary, size_t channel) {
  const int64_t inside = static_cast<int64_t>(channel) - rotary.rotary_offset;
  return inside >= 0 && inside < rotary.rotary_dim;
}

// Another layout of the channels that turn, with the angles of the right one.
template <class Layout>
ChangeParameters Layouts(Layout layout) {
  return {[layout](Scheme& scheme) { return IsRotary(scheme) && layout(RotaryOf(scheme)); }};
}

// A head's vectors rotated as if its number were the position.
bool ByHead(const Question& question, std::vector<double>& values) {
  const ExactTensor* positions = question.inputs.Find("positions");
  if (!Turns(question) || positions == nullptr || question.shape[1] < 2) return false;
  const auto width = static_cast<size_t>(question.shape[2]);
  const auto heads = static_cast<size_t>(question.shape[1]);
  for (size_t head = 0; head < heads; ++head) {
    Question at_head = question;
    std::ranges::fill(at_head.inputs.tensors["positions"].values, static_cast<double>(head));
    const std::vector<double> turned = *Replay(at_head, {});
    if (values.empty()) values.resize(turned.size());
    for (size_t i = 0; i < turned.size(); ++i) {
      if (i / width % heads == head) values[i] = turned[i];
    }
  }
  return true;
}

// A table of channels [c0 .. cn-1, c0 .. cn-1] that meets neighbouring pairs, or [c0, c0, c1, c1
// ..] that meets halves.
bool ByOtherTable(const Question& question, std::vector<double>& values) {
  if (!Turns(question) || question.inputs.Find("positions") == nullptr) return false;
  const Rotary& rotary = RotaryOf(question.scheme);
  if (rotary.pairing == Pairing::half_per_axis) return false;
  Question of_table{question.scheme, "table", question.inputs, {}};
  const std::vector<double> table = *Replay(of_table, {});
  const auto pairs = static_cast<size_t>(rotary.Pairs());
  const std::vector<double>& x = question.inputs["x"].values;
  values = x;
  const auto heads = static_cast<size_t>(question.shape[1]);
  const auto width = static_cast<size_t>(rotary.head_dim);
  const double sign = question.quantity == "rotate_backward" ? -1 : 1;
  for (size_t row = 0; row < x.size() / width; ++row) {
    const size_t token = row / heads;
    for (size_t pair = 0; pair < pairs; ++pair) {
      const auto channels = rotary.Channels(static_cast<int64_t>(pair));
      const auto of_channel = [&](size_t which) {
        const auto inside = static_cast<size_t>(channels[which] - rotary.rotary_offset);
        const size_t other = rotary.pairing == Pairing::half ? inside / 2 : inside % pairs;
        const size_t at = token * pairs + other;
        return TableEntry{table[at], sign * table[table.size() / 2 + at]};
      };
      const TableEntry first = of_channel(0), second = of_channel(1);
      const size_t u = row * width + static_cast<size_t>(channels[0]);
      const size_t v = row * width + static_cast<size_t>(channels[1]);
      values[u] = x[u] * first.cos - x[v] * first.sin;
      values[v] = x[v] * second.cos + x[u] * second.sin;
    }
  }
  return true;
}

}  // namespace

std::vector<Fault> FaultsOfRotations() {
  return {
      {.id = "rotary_dim_ignored",
       .cause = "all channels turn, whatever rotary_dim (partial_rotary_factor) says",
       .fix = "hand rotary_dim to the kernel and copy the rest",
       .shows = "rotary_dim < head_dim",
       .change = Layouts([](Rotary& rotary) {
         rotary.rotary_offset = 0;
         return std::exchange(rotary.rotary_dim, rotary.head_dim) != rotary.head_dim;
       }),
       .links = On({"vllm-project/vllm/pull/43770", "jagmarques/nexusquant/pull/12",
                    "ggml-org/llama.cpp/pull/4889"}),
       .kinds = {"PARTIAL_IGNORED", "SHIFT_WRONG_NROT"}},
      {.id = "rotary_dim_halved",
       .cause = "half of the channels turn: partial_rotary_factor is applied twice, or a default",
       .fix = "hand rotary_dim of the config to the kernel",
       .shows = "position 1",
       .change = Layouts([](Rotary& rotary) {
         if (rotary.rotary_dim % 4 != 0 || !rotary.section.empty()) return false;
         rotary.rotary_dim /= 2;
         return true;
       })},
      {.id = "table_layout_mixed",
       .cause = "a table laid out for the other pairing: the channels of a pair take two angles",
       .fix = "lay channels of the table out as the pairing does",
       .shows = "position 1",
       .change = ChangeEvaluation{ByOtherTable},
       .links = On({"huggingface/transformers/pull/47403"}),
       .kinds = {"TABLE_LAYOUT_MIX"}},
      {.id = "position_is_head",
       .cause = "the number of the head stands for the position: the wrong axis is counted",
       .fix = "take positions along the axis of tokens",
       .shows = "two heads",
       .change = ChangeEvaluation{ByHead},
       .links = On({"mlfoundations/open_lm/issues/4", "pytorch/pytorch/pull/162865"}),
       .kinds = {"WRONG_AXIS", "RANK3_RESHAPE"}},
      {.id = "reads_neighbour",
       .cause = "the second channel of a pair is read from the next pair",
       .fix = "check the offset of the second load",
       .shows = "position 1",
       .change = Turn([](const TurnPlace& at) {
         const auto& [c, s] = at.entry;
         return std::array{at.u * c - at.next_v * s, at.u * s + at.next_v * c};
       })},
      {.id = "term_dropped",
       .cause = "the first channel lacks the term with sin",
       .fix = "u' = u cos - v sin",
       .shows = "position 1",
       .change = Turn([](const TurnPlace& at) {
         return std::array{at.u * at.entry.cos, at.u * at.entry.sin + at.v * at.entry.cos};
       })},
      {.id = "second_term_dropped",
       .cause = "the second channel lacks the term with sin",
       .fix = "v' = u sin + v cos",
       .shows = "position 1",
       .change = Turn([](const TurnPlace& at) {
         return std::array{at.u * at.entry.cos - at.v * at.entry.sin, at.v * at.entry.cos};
       })},
      {.id = "reflects",
       .cause = "both terms with sin have the same sign: a pair is not turned",
       .fix = "u' = u cos - v sin, v' = u sin + v cos",
       .shows = "position 1",
       .change = Turn([](const TurnPlace& at) {
         return std::array{at.u * at.entry.cos + at.v * at.entry.sin,
                           at.u * at.entry.sin + at.v * at.entry.cos};
       })},
      {.id = "overwrites_first",
       .cause = "the second channel is computed from the first one's result",
       .fix = "read both channels before either is written",
       .shows = "position 1",
       .change = Turn([](const TurnPlace& at) {
         const double a = at.u * at.entry.cos - at.v * at.entry.sin;
         return std::array{a, a * at.entry.sin + at.v * at.entry.cos};
       }),
       .links = On({"ml-explore/mlx/pull/1340"}),
       .kinds = {"INPLACE_STRIDE"}},
      {.id = "channels_swapped",
       .cause = "the two channels of a pair are written in the other order",
       .fix = "write u' where u was read",
       .shows = "position 0",
       .change = Turn([](const TurnPlace& at) {
         return std::array{at.u * at.entry.sin + at.v * at.entry.cos,
                           at.u * at.entry.cos - at.v * at.entry.sin};
       })},
      ArithmeticIn(Dtype::bf16, On({"NVIDIA/TransformerEngine/issues/1245"}), {"ROT_IN_LOWP"}),
      ArithmeticIn(Dtype::f16, {}, {}),
      {.id = "input_bf16",
       .cause = "vectors are rounded to bf16 before they are rotated",
       .fix = "load vectors in their own dtype",
       .shows = "inputs that bf16 does not hold, at position 0",
       .change = ChangeInputs{[](const Scheme& scheme, NamedInputs& inputs) {
         const auto x = inputs.tensors.find("x");
         if (!IsRotary(scheme) || x == inputs.tensors.end()) return false;
         for (double& value : x->second.values) value = RoundedTo(Dtype::bf16, value);
         return true;
       }}},
      {.id = "clamps",
       .cause = "inputs beyond 4 are cut off",
       .fix = "no clamp belongs into a rotation",
       .shows = "an input beyond 4, at position 0",
       .change = ChangeInputs{[](const Scheme& scheme, NamedInputs& inputs) {
         const auto x = inputs.tensors.find("x");
         if (!IsRotary(scheme) || x == inputs.tensors.end()) return false;
         for (double& value : x->second.values) value = std::clamp(value, -4.0, 4.0);
         return true;
       }}},
      {.id = "output_not_interleaved",
       .cause = "results of neighbouring pairs are written as two halves",
       .fix = "write each channel where it was read",
       .shows = "position 0",
       .change = Vectors(
           [](const Question& question, const auto& at, size_t t, size_t h, size_t channel) {
             const Rotary& rotary = RotaryOf(question.scheme);
             if (rotary.pairing != Pairing::interleaved || !IsTurned(rotary, channel)) {
               return at(t, h, channel);
             }
             const auto offset = static_cast<size_t>(rotary.rotary_offset);
             const auto pairs = static_cast<size_t>(rotary.Pairs());
             const size_t inside = channel - offset;
             return at(t, h, offset + inside % pairs * 2 + inside / pairs);
           }),
       .links = On({"vllm-project/vllm-metal/pull/44"}),
       .kinds = {"OUT_NOT_REINTERLEAVED"}},
      {.id = "heads_permuted",
       .cause = "a head is written where the next one belongs",
       .fix = "check the index of the head",
       .shows = "two heads, position 0",
       .change = Vectors(
           [](const Question& question, const auto& at, size_t t, size_t h, size_t channel) {
             const auto heads = static_cast<size_t>(question.shape[1]);
             return at(t, (h + heads - 1) % heads, channel);
           }),
       .links = On({"flashinfer-ai/flashinfer/pull/609"}),
       .kinds = {"HEAD_INDEXING"}},
      {.id = "first_head_only",
       .cause = "only the first head is rotated: the width of all heads is taken for that of one",
       .fix = "hand head_dim over, do not derive it from the tensor",
       .shows = "two heads, position 1",
       .change = ChangeResult{[](const Question& question, std::vector<double>& values) {
         if (!Turns(question) || question.shape[1] < 2) return false;
         const auto width = static_cast<size_t>(question.shape[2]);
         const auto heads = static_cast<size_t>(question.shape[1]);
         for (size_t i = 0; i < values.size(); ++i) {
           if (i / width % heads != 0) values[i] = question.inputs["x"].values[i];
         }
         return true;
       }},
       .links = On({"XPU-Forces/mojo_opset/pull/279"}),
       .kinds = {"HEADDIM_FLAT"}},
      {.id = "untouched_zero",
       .cause = "channels that do not turn are set to zero",
       .fix = "copy them",
       .shows = "rotary_dim < head_dim, position 0",
       .change = Vectors(
           [](const Question& question, const auto& at, size_t t, size_t h, size_t channel) {
             return IsTurned(RotaryOf(question.scheme), channel) ? at(t, h, channel) : 0.0;
           })},
      {.id = "untouched_scaled",
       .cause = "channels that do not turn are multiplied by the magnitude, or twice copied",
       .fix = "copy them",
       .shows = "rotary_dim < head_dim, position 0",
       .change = Vectors(
           [](const Question& question, const auto& at, size_t t, size_t h, size_t channel) {
             return (IsTurned(RotaryOf(question.scheme), channel) ? 1 : 2) * at(t, h, channel);
           })},
      {.id = "backward_is_forward",
       .cause = "the gradient turns the same way as the forward pass",
       .fix = "negate the angle in the backward pass",
       .shows = "rotate_backward, position 1",
       .change = ChangeEntry{[](TableEntry& entry, const EntryPlace& at) {
         if (at.backward) entry.sin = -entry.sin;
       }},
       .links = On({"ggml-org/llama.cpp/pull/11240"}),
       .kinds = {"BACKWARD"}},
      {.id = "backward_divides",
       .cause = "the gradient is the inverse rotation: it divides by the magnitude",
       .fix = "the transpose multiplies by the magnitude",
       .shows = "rotate_backward with a magnitude, position 0",
       .change = ChangeEntry{[](TableEntry& entry, const EntryPlace& at) {
         if (!at.backward) return;
         const double square = at.magnitude * at.magnitude;
         entry = {entry.cos / square, entry.sin / square};
       }}},
  };
}

}  // namespace posgauge
