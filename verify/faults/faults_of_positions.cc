#include <algorithm>
#include <cmath>

#include "posgauge/verify/faults/bank.h"
#include "posgauge/verify/faults/links.h"
#include "posgauge/verify/faults/rounded.h"

namespace posgauge {

namespace {

template <class Of>
ChangePosition Each(Of of) {
  return {[of](double position, const PositionPlace&) { return of(position); }};
}

Fault Rounded(Dtype dtype, const char* from, std::vector<std::string> links,
              std::vector<std::string> kinds) {
  const std::string name(Name(dtype));
  return {.id = "position_" + name,
          .cause = "positions are rounded to " + name,
          .fix = "count positions as integers or in float32, whatever dtype the model is cast to",
          .shows = from,
          .change = Each([dtype](double position) { return RoundedTo(dtype, position); }),
          .links = std::move(links),
          .kinds = std::move(kinds)};
}

// Wraps as an integer of so many bits does.
double Wrapped(double position, int bits, bool is_signed) {
  const double range = std::ldexp(1.0, bits);
  const double low = is_signed ? -range / 2 : 0;
  return position - range * std::floor((position - low) / range);
}

// Of rotations over several axes: the columns of the positions in another order.
template <class Column>
ChangeInputs Columns(Column column) {
  return {[column](const Scheme&, NamedInputs& inputs) {
    const auto found = inputs.tensors.find("positions");
    if (found == inputs.tensors.end() || found->second.shape.size() < 2) return false;
    const auto axes = static_cast<size_t>(found->second.shape[1]);
    const std::vector<double> before = found->second.values;
    for (size_t i = 0; i < before.size(); ++i) {
      found->second.values[i] = before[i / axes * axes + column(i % axes, axes)];
    }
    return true;
  }};
}

}  // namespace

std::vector<Fault> FaultsOfPositions() {
  return {
      {.id = "position_plus_one",
       .cause = "positions count from 1",
       .fix = "begin at 0, and hand the offset of a cache over as it is",
       .shows = "position 0",
       .change = Each([](double p) { return p + 1; }),
       .links = On({"vllm-project/vllm/pull/945", "huggingface/transformers/issues/22161"}),
       .kinds = {"LEFTPAD_ARANGE"}},
      {.id = "position_minus_one",
       .cause = "positions are one too small: a sentinel of -1 counts as an offset",
       .fix = "an empty cache has offset 0",
       .shows = "position 0",
       .change = Each([](double p) { return p - 1; }),
       .links = On({"OpenNMT/CTranslate2/pull/1572"}),
       .kinds = {"OFFSET_MINUS1"}},
      {.id = "position_doubled",
       .cause = "vectors are rotated twice: angles double",
       .fix = "rotate in one place only",
       .shows = "position 1",
       .change = Each([](double p) { return 2 * p; }),
       .links = On({"NVIDIA/TensorRT-LLM/pull/16378"}),
       .kinds = {"DOUBLE_ROTATION"}},
      {.id = "position_halved",
       .cause = "positions count pairs of tokens",
       .fix = "count every token",
       .shows = "position 1",
       .change = Each([](double p) { return std::floor(p / 2); })},
      {.id = "position_sign",
       .cause = "positions are negated",
       .fix = "turn counter-clockwise by +position",
       .shows = "position 1",
       .change = Each([](double p) { return -p; })},
      {.id = "position_absolute",
       .cause = "negative positions lose their sign",
       .fix = "use signed integers for positions",
       .shows = "a negative position",
       .change = Each([](double p) { return std::fabs(p); })},
      {.id = "position_zero",
       .cause = "every token is rotated as position 0: the offset of the cache is ignored",
       .fix = "hand the cache's write index to the rotation",
       .shows = "position 1",
       .change = Each([](double) { return 0.0; }),
       .links = On({"keras-team/keras-hub/pull/1544", "flashinfer-ai/flashinfer/pull/847"}),
       .kinds = {"OFFSET_IGNORED", "SHIFT_SKIPPED"}},
      {.id = "position_restarts",
       .cause = "every call counts its tokens from 0",
       .fix = "add the number of tokens that were seen before",
       .shows = "a call that does not begin at 0",
       .change = ChangePosition{[](double, const PositionPlace& at) {
         return static_cast<double>(at.token);
       }},
       .kinds = {"OFFSET_IGNORED"}},
      {.id = "position_first",
       .cause = "all tokens of a call take the position of the first",
       .fix = "hand one position a token over, [batch, tokens], not [batch]",
       .shows = "the second token of a call",
       .change = ChangePosition{[](double, const PositionPlace& at) { return at.first; }},
       .links = On({"microsoft/onnxruntime/pull/29632"}),
       .kinds = {"POSIDS_BATCH1", "TABLE_SLICE"}},
      Rounded(Dtype::bf16, "position 257",
              On({"EleutherAI/gpt-neox/pull/1016", "okoge-kaz/llm-recipes/pull/6"}),
              {"ANGLE_BF16"}),
      Rounded(Dtype::f16, "position 2049", {}, {}),
      Rounded(Dtype::f32, "position 2^24 + 1", {}, {}),
      {.id = "position_uint8",
       .cause = "positions wrap at 2^8",
       .fix = "use 32 bits or more for positions",
       .shows = "position 256",
       .change = Each([](double p) { return Wrapped(p, 8, false); })},
      {.id = "position_int16",
       .cause = "positions wrap at 2^15",
       .fix = "use 32 bits or more for positions",
       .shows = "position 32768",
       .change = Each([](double p) { return Wrapped(p, 16, true); }),
       .links = On({"vllm-project/vllm/issues/52416"}),
       .kinds = {"INT32_OFFSET"}},
      {.id = "position_mod_4096",
       .cause = "positions count anew every 4096: the table has that many rows",
       .fix = "grow the table with the longest position, or refuse",
       .shows = "position 4096",
       .change = Each([](double p) { return std::fmod(p, 4096); })},
      {.id = "position_clamped_4095",
       .cause = "positions beyond the table's last row, 4095, take that row",
       .fix = "grow the table with the longest position, or refuse",
       .shows = "position 4096",
       .change = Each([](double p) { return std::min(p, 4095.0); }),
       .links = On({"microsoft/onnxruntime/issues/25951", "microsoft/onnxruntime/pull/27597"}),
       .kinds = {"POS_OOB"}},
      {.id = "position_quarter",
       .cause = "positions are divided by 4 and rounded down: scaled as whole numbers",
       .fix = "divide positions as real numbers, or the frequencies instead",
       .shows = "position 1",
       .change = Each([](double p) { return std::floor(p / 4); })},
      {.id = "first_axis",
       .cause = "all pairs count the first axis",
       .fix = "take the position of each pair's own axis, [tokens, axes]",
       .shows = "a token whose coordinates differ",
       .change = Columns([](size_t, size_t) { return size_t{0}; }),
       .links = On({"vllm-project/vllm/pull/32143"}),
       .kinds = {"MROPE_1D_POS", "SHIFT_MROPE"}},
      {.id = "axes_reversed",
       .cause = "axes are taken in the other order",
       .fix = "agree on time, height, width (or row, column) with the model's code",
       .shows = "a token whose coordinates differ",
       .change = Columns([](size_t axis, size_t axes) { return axes - 1 - axis; }),
       .links = On({"Meituan-AutoML/VisionLLaMA/issues/4", "osaurus-ai/vmlx-swift/pull/225"}),
       .kinds = {"AXIS_ORDER"}},
      {.id = "axes_shifted",
       .cause = "every pair counts the axis after its own",
       .fix = "agree on the order of the axes with the model's code",
       .shows = "a token of three or more axes whose coordinates differ",
       .change = Columns([](size_t axis, size_t axes) { return (axis + 1) % axes; })},
  };
}

}  // namespace posgauge
