#include <algorithm>
#include <bit>
#include <cmath>

#include "posgauge/schemes/base/dtype.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

using alibi::Form;
using alibi::Params;

// Slopes that come out otherwise, as themselves and in what is made of them.
ChangeEvaluation OfSlopes(bool (*change)(const Params&, std::vector<double>&)) {
  return {[=](const Question& question, std::vector<double>& values) {
    const auto* params = std::get_if<Params>(&question.scheme);
    if (params == nullptr || question.inputs.Find("slopes") != nullptr) return false;
    const int64_t heads = params->attention.heads;
    std::vector<double> slopes = EquationValues(question.scheme, "slopes", {}, {heads});
    if (!change(*params, slopes)) return false;
    if (question.quantity == "slopes") {
      values = std::move(slopes);
      return true;
    }
    NamedInputs inputs = question.inputs;
    inputs.tensors["slopes"] = {{heads}, std::move(slopes)};
    values = EquationValues(question.scheme, question.quantity, inputs, question.shape);
    return true;
  }};
}

int64_t PowerBelow(int64_t heads) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
}
bool IsPower(const Params& params) {
  return PowerBelow(params.TotalHeads()) == params.TotalHeads();
}

// 2^(-max_bias step / of) of every head; `step` of its index in the model.
template <class Step>
void SetSlopes(const Params& params, double of, std::vector<double>& slopes, const Step& step) {
  for (size_t head = 0; head < slopes.size(); ++head) {
    const auto index = static_cast<double>(static_cast<int64_t>(head) + params.first_head);
    slopes[head] = std::exp2(-params.max_bias * step(index) / of);
  }
}

// Of heads that are no power of two: 2^(-max_bias h / heads), as if they were.
bool RoundHeadsUp(const Params& params, std::vector<double>& slopes) {
  SetSlopes(params, static_cast<double>(params.TotalHeads()), slopes,
            [](double index) { return index + 1; });
  return !IsPower(params);
}
bool FirstOfMore(const Params& params, std::vector<double>& slopes) {
  SetSlopes(params, static_cast<double>(2 * PowerBelow(params.TotalHeads())), slopes,
            [](double index) { return index + 1; });
  return !IsPower(params);
}
bool EvenPowers(const Params& params, std::vector<double>& slopes) {
  const auto n = static_cast<double>(PowerBelow(params.TotalHeads()));
  SetSlopes(params, 2 * n, slopes,
            [&](double index) { return index < n ? 2 * (index + 1) : 2 * (index - n + 1); });
  return !IsPower(params);
}
bool ExtrasContinue(const Params& params, std::vector<double>& slopes) {
  SetSlopes(params, static_cast<double>(PowerBelow(params.TotalHeads())), slopes,
            [](double index) { return index + 1; });
  return !IsPower(params);
}
bool FromZero(const Params& params, std::vector<double>& slopes) {
  SetSlopes(params, static_cast<double>(PowerBelow(params.TotalHeads())), slopes,
            [](double index) { return index; });
  return true;
}
bool ByOneLate(const Params& params, std::vector<double>& slopes) {
  SetSlopes(params, static_cast<double>(PowerBelow(params.TotalHeads())), slopes,
            [](double index) { return index + 2; });
  return true;
}
bool Reversed(const Params&, std::vector<double>& slopes) {
  std::ranges::reverse(slopes);
  return slopes.size() > 1;
}
bool Steeper(const Params& params, std::vector<double>& slopes) {
  for (double& slope : slopes) slope = std::exp(std::log2(slope));
  return params.max_bias > 0;
}
bool Linear(const Params& params, std::vector<double>& slopes) {
  for (size_t head = 0; head < slopes.size(); ++head) {
    const auto index = static_cast<double>(static_cast<int64_t>(head) + params.first_head + 1);
    slopes[head] = index / static_cast<double>(params.TotalHeads());
  }
  return true;
}
template <Dtype dtype>
bool RoundedTo(const Params&, std::vector<double>& slopes) {
  bool any = false;
  for (double& slope : slopes) {
    const double rounded = RoundTo(FormatOf(dtype), slope);
    any = any || rounded != slope;
    slope = rounded;
  }
  return any;
}

double RoundToBf16(double value) { return RoundTo(FormatOf(Dtype::bf16), value); }

// bf16(slope) bf16(key) in bf16.
bool ReferenceInBf16(const Question& question, std::vector<double>& bias) {
  const auto* params = std::get_if<Params>(&question.scheme);
  if (params == nullptr) return false;
  std::vector<double> slopes =
      EquationValues(question.scheme, "slopes", {}, {params->attention.heads});
  const ExactTensor& keys = question.inputs["key_positions"];
  const size_t of_head = bias.size() / slopes.size();
  for (size_t i = 0; i < bias.size(); ++i) {
    const double key = keys.At(static_cast<int64_t>(i) % keys.shape[0]);
    bias[i] = RoundToBf16(RoundToBf16(slopes[i / of_head]) * RoundToBf16(key));
  }
  return true;
}

// A constant a row: slope times `apart`.
template <int apart>
bool MovedBy(const Question& question, std::vector<double>& bias) {
  const auto* params = std::get_if<Params>(&question.scheme);
  if (params == nullptr || (params->form != Form::key && params->form != Form::key_from_last)) {
    return false;
  }
  const ExactTensor* given = question.inputs.Find("slopes");
  const std::vector<double> slopes =
      given != nullptr ? given->values
                       : EquationValues(question.scheme, "slopes", {}, {params->attention.heads});
  const size_t of_head = bias.size() / slopes.size();
  for (size_t i = 0; i < bias.size(); ++i) bias[i] += apart * slopes[i / of_head];
  return true;
}

template <Form from, Form to>
bool TakeForm(Params& params) {
  if (params.form != from) return false;
  params.form = to;
  return true;
}

}  // namespace

std::vector<Fault> FaultsOfSlopes() {
  const char* authors =
      "use the authors' slopes: those of the power of two below, then the odd "
      "powers of twice as many";
  const char* uneven = "heads that are no power of two, 12";
  return {
      {.id = "heads_rounded_up",
       .cause = "slopes go by the number of heads, which is no power of two, as if it were one",
       .fix = authors,
       .shows = uneven,
       .change = OfSlopes(RoundHeadsUp)},
      {.id = "slopes_first_of_more",
       .cause = "slopes are the first ones of the next power of two of heads",
       .fix = authors,
       .shows = uneven,
       .change = OfSlopes(FirstOfMore),
       .links = {"https://github.com/mosaicml/examples/pull/307"},
       .kinds = {"ALIBI_MPT_ORDER"}},
      {.id = "slopes_even_powers",
       .cause = "the slopes of the heads above the power of two are the even powers, not the odd",
       .fix = authors,
       .shows = uneven,
       .change = OfSlopes(EvenPowers)},
      {.id = "slopes_continued",
       .cause = "the slopes of the heads above the power of two go on in the same progression",
       .fix = authors,
       .shows = uneven,
       .change = OfSlopes(ExtrasContinue)},
      {.id = "slopes_from_zero",
       .cause = "the exponents of slopes count from 0, so that the first head has slope 1",
       .fix = "head h of n, from 1 on, has slope 2^(-8h/n)",
       .shows = "any head",
       .change = OfSlopes(FromZero)},
      {.id = "slopes_one_late",
       .cause = "every head has the slope of the one behind it",
       .fix = "head h of n, from 1 on, has slope 2^(-8h/n)",
       .shows = "any head",
       .change = OfSlopes(ByOneLate)},
      {.id = "slopes_reversed",
       .cause = "slopes are given to the heads in the reverse order",
       .fix = "the first head has the largest slope",
       .shows = "two heads",
       .change = OfSlopes(Reversed)},
      {.id = "slopes_of_e",
       .cause = "slopes are powers of e in place of 2",
       .fix = "2^(-8h/n): exp2, not exp",
       .shows = "any head",
       .change = OfSlopes(Steeper)},
      {.id = "slopes_linear",
       .cause = "slopes rise evenly from head to head",
       .fix = "slopes are a geometric progression: 2^(-8h/n)",
       .shows = "any head",
       .change = OfSlopes(Linear)},
      {.id = "slopes_bf16",
       .cause = "slopes are rounded to bf16",
       .fix = "keep slopes in f32: only powers of two are exact",
       .shows = "a slope that is no power of two: more than 8 heads",
       .change = OfSlopes(RoundedTo<Dtype::bf16>)},
      {.id = "slopes_f16",
       .cause = "slopes are rounded to f16",
       .fix = "keep slopes in f32: only powers of two are exact",
       .shows = "a slope that is no power of two: more than 8 heads",
       .change = OfSlopes(RoundedTo<Dtype::f16>)},
      {.id = "slice_ignored",
       .cause = "slopes go by the heads of this rank, as if they were all",
       .fix = "take the number of heads of the whole model and the index of the first one here",
       .shows = "total_heads above heads",
       .change = Of<Params>([](Params& params) {
         params.total_heads.reset();
         params.first_head = 0;
         return true;
       }),
       .links = {"https://github.com/flashinfer-ai/flashinfer/issues/1606",
                 "https://github.com/flashinfer-ai/flashinfer/pull/5101"},
       .kinds = {"ALIBI_TP_OFFSET"}},
      {.id = "bias_bf16_of_keys",
       .cause = "the bias is a bf16 product of slope and absolute key position, both in bf16",
       .fix = "subtract positions before anything is rounded; only to match a model that was "
              "trained so, declare it",
       .shows = "a key from 257 on",
       .change = OfBias(ReferenceInBf16),
       .links = {"https://github.com/NVIDIA/TensorRT-Model-Connect/issues/667"},
       .kinds = {"ALIBI_REF_BF16"}},
      {.id = "key_form_falls",
       .cause = "a bias that goes by the key alone falls towards the query",
       .fix = "m times the key's position, which rises towards the query",
       .shows = "two keys, form key or key_from_last",
       .change = OfBias([](const Question& question, std::vector<double>& bias) {
         const auto* params = std::get_if<Params>(&question.scheme);
         if (params == nullptr ||
             (params->form != Form::key && params->form != Form::key_from_last)) {
           return false;
         }
         for (double& value : bias) value = -value;
         return true;
       })},
      {.id = "from_context_length",
       .cause = "distances go from the context's length, one behind its last token",
       .fix = "m (key - context_len + 1): 0 for the current token",
       .shows = "any key; softmax sees it only where it rounds",
       .change = OfBias(MovedBy<-1>),
       .links = {"https://github.com/vllm-project/vllm/pull/945"},
       .kinds = {"ALIBI_DIST_OFF1"}},
      {.id = "cached_bias_shifted",
       .cause = "a bias kept from a call with one more key is cut at the wrong end",
       .fix = "align the slice with the last key, or keep it by the lengths of both sides",
       .shows = "a call after one with more keys than queries",
       .change = OfBias(MovedBy<1>),
       .links = {"https://github.com/lucidrains/x-transformers/issues/153"},
       .kinds = {"ALIBI_CACHE_SHIFT"}},
      {.id = "relative_for_symmetric",
       .cause = "without a mask keys behind the query are favoured the more, the farther they are",
       .fix = "-m |i - j| where both sides are visible",
       .shows = "a key behind the query, form symmetric, causal false",
       .change = Of<Params>(TakeForm<Form::symmetric, Form::relative>)},
      {.id = "symmetric_for_relative",
       .cause = "keys behind the query count as far as those before it",
       .fix = "-m (i - j) with its sign",
       .shows = "a key behind the query, form relative",
       .change = Of<Params>(TakeForm<Form::relative, Form::symmetric>)},
      {.id = "key_for_relative",
       .cause = "the bias goes by the key's position, not by the distance",
       .fix = "-m (i - j), for what compares or rounds the bias itself",
       .shows = "a query other than 0; softmax sees it only where it rounds",
       .change = Of<Params>(TakeForm<Form::relative, Form::key>)},
      {.id = "key_for_last",
       .cause = "the bias goes by the key's position, not from the last key's",
       .fix = "m (j - j_last)",
       .shows = "form key_from_last, a last key other than 0",
       .change = Of<Params>(TakeForm<Form::key_from_last, Form::key>)},
      {.id = "last_for_key",
       .cause = "the bias goes from the last key's position, not from 0",
       .fix = "m j",
       .shows = "form key, a last key other than 0",
       .change = Of<Params>(TakeForm<Form::key, Form::key_from_last>)},
  };
}

}  // namespace posgauge
