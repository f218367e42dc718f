#include <algorithm>
#include <cmath>

#include "posgauge/reference/attention.h"
#include "posgauge/schemes/base/dtype.h"
#include "posgauge/verify/faults/equation_changes.h"

namespace posgauge {

namespace {

using Xl = transformer_xl::Params;

// The rows of a table [heads, rows, channels] from row(i) of `rows` on.
template <class Row>
void TakeRows(ExactTensor& table, int64_t rows, const Row& row) {
  const ExactTensor before = table;
  table = {{before.shape[0], rows, before.shape[2]}, {}};
  for (int64_t head = 0; head < before.shape[0]; ++head) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t c = 0; c < before.shape[2]; ++c) {
        table.values.push_back(before.At(head, row(i), c));
      }
    }
  }
}
template <class Change>
void ForTables(NamedInputs& inputs, const Change& change) {
  for (const char* name : {"key_table", "value_table"}) {
    const auto found = inputs.tensors.find(name);
    if (found != inputs.tensors.end()) change(found->second);
  }
}

bool LeaveValues(shaw::Params& params, NamedInputs& inputs) {
  const bool any = params.values && inputs.Find("v") != nullptr;
  params.values = false;
  return any;
}
bool ClipShort(shaw::Params& params, NamedInputs& inputs) {
  if (params.clip < 2) return false;
  ForTables(inputs, [&](ExactTensor& table) {
    TakeRows(table, 2 * params.clip - 1, [](int64_t i) { return i + 1; });
  });
  params.clip -= 1;
  return true;
}
// A negative index counts from the end, one too large from the start.
bool WrapIndices(shaw::Params& params, NamedInputs& inputs) {
  const int64_t rows = 2 * params.clip + 1;
  ForTables(inputs, [&](ExactTensor& table) {
    TakeRows(table, 5 * rows, [&](int64_t i) { return i % rows; });
  });
  params.clip += 2 * rows;
  return params.outside == shaw::Outside::clip;
}
bool SwapTables(const shaw::Params&, NamedInputs& inputs) {
  if (inputs.Find("value_table") == nullptr) return false;
  std::swap(inputs.tensors["key_table"], inputs.tensors["value_table"]);
  return true;
}
bool UseFirstTable(const shaw::Params& params, NamedInputs& inputs) {
  ForTables(inputs, [](ExactTensor& table) {
    const auto first = static_cast<size_t>(table.shape[1] * table.shape[2]);
    for (size_t i = first; i < table.values.size(); ++i) table.values[i] = table.values[i % first];
  });
  return params.per_head && params.attention.heads > 1;
}

// Weights so large as if the scale did not reach what they make.
template <class Params>
bool ScaleContentAlone(const Params& params, NamedInputs& inputs) {
  const double root = std::sqrt(static_cast<double>(params.attention.head_dim));
  for (const char* name : {"key_table", "position_weight"}) {
    const auto found = inputs.tensors.find(name);
    if (found == inputs.tensors.end()) continue;
    for (double& value : found->second.values) value *= root;
  }
  return params.attention.scale == ScoreScale::inverse_sqrt && params.attention.head_dim > 1;
}

bool Clear(NamedInputs& inputs, const char* name) {
  const auto found = inputs.tensors.find(name);
  if (found == inputs.tensors.end()) return false;
  std::ranges::fill(found->second.values, 0.0);
  return true;
}

// Columns of W, where channel c of the sinusoid is what should be in from(c).
bool PermuteWaves(const Xl& params, NamedInputs& inputs, int64_t (*from)(int64_t, int64_t)) {
  const auto found = inputs.tensors.find("position_weight");
  if (found == inputs.tensors.end()) return false;
  const ExactTensor before = found->second;
  const int64_t width = params.model_width;
  for (size_t i = 0; i < before.values.size(); ++i) {
    const int64_t channel = static_cast<int64_t>(i) % width;
    found->second.values[i] =
        before.values[i - static_cast<size_t>(channel) + static_cast<size_t>(from(channel, width))];
  }
  return true;
}

// The score of Transformer-XL whose second term is of another query and offset.
double XlScore(const ElementPlace& at, bool positions, int64_t row, double offset) {
  const auto& params = at.Of<Xl>();
  const NamedInputs& in = *at.inputs;
  if (!params.attention.Visible(at.Query(), at.Key())) return -HUGE_VAL;
  if (params.clamp_length) offset = std::min(offset, static_cast<double>(*params.clamp_length));
  double sum = 0;
  for (int64_t c = 0; c < params.attention.head_dim; ++c) {
    sum += (in["q"].At(at.query_index, at.head, c) + in["content_bias"].At(at.head, c)) *
           in["k"].At(at.key_index, at.head, c);
    if (!positions) continue;
    const int64_t half = params.model_width / 2;
    const auto first = static_cast<size_t>((at.head * params.attention.head_dim + c) * 2 * half);
    double projected = 0;
    for (int64_t k = 0; k < half; ++k) {
      const double angle =
          offset * std::pow(params.base, -static_cast<double>(k) / static_cast<double>(half));
      const std::vector<double>& weight = in["position_weight"].values;
      const size_t sine = first + static_cast<size_t>(k);
      projected += weight[sine] * std::sin(angle) +
                   weight[sine + static_cast<size_t>(half)] * std::cos(angle);
    }
    sum += (in["q"].At(row, at.head, c) + in["position_bias"].At(at.head, c)) * projected;
  }
  return Scaled(params.attention, sum);
}
// Of n rows of distances n - 1..0, padded by one, reshaped and cut: behind the diagonal is a zero,
// and then the next query's row.
double CausalShift(const ElementPlace& at) {
  const double behind = at.Key() - at.Query();
  if (behind <= 0) return XlScore(at, true, at.query_index, -behind);
  const auto keys = static_cast<double>((*at.inputs)["key_positions"].shape[0]);
  const int64_t next = at.query_index + 1;
  if (behind == 1 || next >= (*at.inputs)["query_positions"].shape[0]) {
    return XlScore(at, false, 0, 0);
  }
  return XlScore(at, true, next, keys + 1 - behind);
}

// Queries of `none` times what stands for their temperature.
struct Temperature {
  double token, floor_scale, scale;
};
double Right(const Temperature& t) {
  return std::log(std::floor((t.token + 1) / t.floor_scale) + 1) * t.scale + 1;
}
ChangeInputs OfTemperature(double (*wrong)(const Temperature&)) {
  return {[=](const Scheme& scheme, NamedInputs& inputs) {
    const auto* params = std::get_if<none::Params>(&scheme);
    const auto q = inputs.tensors.find("q");
    if (params == nullptr || !params->temperature_scale || q == inputs.tensors.end()) return false;
    const ExactTensor& positions = inputs["query_positions"];
    const size_t row = q->second.values.size() / positions.values.size();
    bool any = false;
    for (size_t i = 0; i < q->second.values.size(); ++i) {
      const Temperature t{positions.values[i / row],
                          static_cast<double>(*params->temperature_floor_scale),
                          *params->temperature_scale};
      const double right = Right(t), factor = wrong(t);
      any = any || factor != right;
      q->second.values[i] *= factor / right;
    }
    return any;
  }};
}

Fault Of(const char* id, const char* cause, const char* fix, const char* shows, Change change) {
  return {.id = id, .cause = cause, .fix = fix, .shows = shows, .change = std::move(change)};
}

std::vector<Fault> FaultsOfTemperatures() {
  const char* fix = "temperature_scale ln(floor((p + 1)/temperature_floor_scale) + 1) + 1";
  const char* late = "a query from temperature_floor_scale - 1 on";
  Fault cast = Of("temperature_position_bf16",
                  "positions are rounded to bf16 before the steps of the temperature are counted",
                  "count the steps in integers", "8191 of 8192, rounded up",
                  OfTemperature([](const Temperature& t) {
                    const double token = RoundTo(FormatOf(Dtype::bf16), t.token);
                    return Right({token, t.floor_scale, t.scale});
                  }));
  cast.links = {"https://github.com/AI-Hypercomputer/maxtext/pull/1611"};
  cast.kinds = {"POS_CAST_TEMP"};
  return {
      std::move(cast),
      Of("temperature_left_out", "queries have no temperature", fix, late,
         OfTemperature([](const Temperature&) { return 1.0; })),
      Of("temperature_not_floored", "steps are not cut to whole numbers", fix, "position 0",
         OfTemperature([](const Temperature& t) {
           return std::log1p((t.token + 1) / t.floor_scale) * t.scale + 1;
         })),
      Of("temperature_step_late", "steps count from position 0: floor(p/f)", fix,
         "a query at temperature_floor_scale - 1", OfTemperature([](const Temperature& t) {
           return Right({t.token - 1, t.floor_scale, t.scale});
         })),
      Of("temperature_inner_one_missing", "ln(steps) stands for ln(steps + 1)", fix, late,
         OfTemperature([](const Temperature& t) {
           const double steps = std::floor((t.token + 1) / t.floor_scale);
           return steps > 0 ? std::log(steps) * t.scale + 1 : 1;
         })),
      Of("temperature_outer_one_missing", "1 is not added to the temperature", fix, "position 0",
         OfTemperature([](const Temperature& t) { return Right(t) - 1; })),
      Of("temperature_twice", "queries have their temperature twice", fix, late,
         OfTemperature([](const Temperature& t) { return Right(t) * Right(t); })),
      Of("temperature_log_two", "the logarithm is that of base 2", fix, late,
         OfTemperature([](const Temperature& t) { return (Right(t) - 1) / std::log(2.0) + 1; })),
      {.id = "bias_left",
       .cause = "ALiBi is still added where the model has no positions",
       .fix = "no bias in layers without one, nor in cross-attention",
       .shows = "two keys",
       .change = ChangeEvaluation{[](const Question& question, std::vector<double>& values) {
         const auto* params = std::get_if<none::Params>(&question.scheme);
         if (params == nullptr || !AsksScores(question)) return false;
         values = EquationValues(alibi::Params{.attention = params->attention}, question.quantity,
                                 question.inputs, question.shape);
         return true;
       }},
       .links = {"https://github.com/huggingface/transformers/pull/8518"},
       .kinds = {"T5_CROSS_BIAS"}},
  };
}

std::vector<Fault> FaultsOfOffsets() {
  const char* terms = "<q + u, k> + <q + v, W R>";
  Fault shift = Of("causal_shift",
                   "rows of distances are shifted as under a mask: keys behind the query get the "
                   "next query's",
                   "2n - 1 distances, shift, keep n columns", "two keys behind the query",
                   ChangeElement{"transformer_xl", "scores", CausalShift});
  shift.links = {
      "https://github.com/espnet/espnet/issues/2684", "https://github.com/espnet/espnet/pull/2816",
      "https://github.com/ZhengkunTian/OpenTransformer/issues/25",
      "https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/218"};
  shift.kinds = {"XL_SHIFT_CAUSAL", "DOC_EXAMPLE"};
  return {
      std::move(shift),
      Of("biases_swapped", "u and v change places", terms, "two keys",
         Given<Xl>([](const Xl&, NamedInputs& inputs) {
           std::swap(inputs.tensors["content_bias"], inputs.tensors["position_bias"]);
           return true;
         })),
      Of("content_bias_missing", "u is not added", terms, "two keys",
         Given<Xl>([](const Xl&, NamedInputs& inputs) { return Clear(inputs, "content_bias"); })),
      Of("position_bias_missing", "v is not added", terms, "two keys",
         Given<Xl>([](const Xl&, NamedInputs& inputs) { return Clear(inputs, "position_bias"); })),
      Of("positions_missing", "the term of positions is left out", terms, "two keys",
         Given<Xl>(
             [](const Xl&, NamedInputs& inputs) { return Clear(inputs, "position_weight"); })),
      Of("cosines_first", "the sinusoid of an offset has its cosines first", "sines first",
         "any key", Given<Xl>([](const Xl& params, NamedInputs& inputs) {
           return PermuteWaves(params, inputs, [](int64_t channel, int64_t width) {
             return (channel + width / 2) % width;
           });
         })),
      Of("offsets_interleaved", "the sinusoid of an offset has sines and cosines in turn",
         "all sines, then all cosines", "any key, model_width of at least 4",
         Given<Xl>([](const Xl& params, NamedInputs& inputs) {
           return params.model_width > 2 &&
                  PermuteWaves(params, inputs, [](int64_t channel, int64_t width) {
                    const int64_t half = width / 2;
                    return channel < half ? 2 * channel : 2 * (channel - half) + 1;
                  });
         })),
  };
}

}  // namespace

std::vector<Fault> FaultsOfVectors() {
  std::vector<Fault> faults = {
      Of("values_missing", "nothing is added to the values", "v + a^V", "any key",
         Anyhow<shaw::Params>(LeaveValues)),
      Of("clip_short", "distances are clipped a token too early", "clip to the last row",
         "distance clip", Anyhow<shaw::Params>(ClipShort)),
      Of("index_wraps", "distances beyond the table begin again at its other end",
         "clip before the table is read", "distance clip + 1", Anyhow<shaw::Params>(WrapIndices)),
      Of("outside_zero", "distances beyond the table have no vector",
         "clip to the last row; nothing beyond is Music Transformer's", "distance clip + 1",
         posgauge::Of<shaw::Params>([](shaw::Params& params) {
           const bool any = params.outside == shaw::Outside::clip;
           params.outside = shaw::Outside::zero;
           return any;
         })),
      Of("key_and_value_tables_swapped", "the tables of keys and values change places",
         "a^K to keys, a^V to values", "any key", Given<shaw::Params>(SwapTables)),
      Of("table_of_first_head", "all heads read the first one's table", "a table a head",
         "two heads, per_head", Given<shaw::Params>(UseFirstTable)),
      {.id = "scale_on_content",
       .cause = "the scale reaches <q, k> alone, not the term of positions",
       .fix = "scale the sum of both terms",
       .shows = "head_dim above 1",
       .change = Given<shaw::Params>(ScaleContentAlone<shaw::Params>),
       .more = {Given<Xl>(ScaleContentAlone<Xl>)}},
  };
  Append(faults, FaultsOfOffsets());
  Append(faults, FaultsOfTemperatures());
  return faults;
}

}  // namespace posgauge
