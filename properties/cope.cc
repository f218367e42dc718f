#include "posgauge/properties/cope.h"

#include <rapidcheck.h>

#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::cope {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

double ScaleOf(const Params& params) {
  return params.attention.scale == ScoreScale::one
             ? 1
             : 1 / std::sqrt(static_cast<double>(params.attention.head_dim));
}

// Vectors of zeros but the first channel: value(old, row) for rows of the first axis.
template <class Value>
void KeepFirstChannel(ExactTensor& tensor, const Value& value) {
  const auto width = static_cast<size_t>(tensor.shape.back());
  const size_t each = tensor.values.size() / static_cast<size_t>(tensor.shape[0]);
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    tensor.values[i] = i % width == 0 ? value(tensor.values[i], i / each) : 0;
  }
}

// The score that a dot product and a position logit make.
double Score(const Params& params, double dot, double logit) {
  return params.placement == Placement::before_scale ? ScaleOf(params) * (dot + logit)
                                                     : ScaleOf(params) * dot + logit;
}

// Every visible score held to want(place, key row); `size` is that of the numbers that make it, of
// which this law's own binary64 arithmetic may lose `roundings` times 2^-53.
template <class Want>
Verdict HoldScores(const EquationAnswer& answer, const Params& params, double roundings,
                   const Want& want) {
  const ExactTensor &queries = answer.inputs["query_positions"],
                    &keys = answer.inputs["key_positions"];
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    if (!params.attention.Visible(queries.At(place.query), keys.At(place.last))) continue;
    const auto [value, size] = want(place);
    const double got = answer.Value(place);
    comparisons.Add(answer.QueryPosition(place), std::fabs(got - value),
                    answer.Limit(place) + roundings * 0x1p-53 * size,
                    std::max(answer.Size(place), std::fabs(value)), [&] {
                      return Witness{.where = answer.Text(place),
                                     .got = HexFloat(got),
                                     .want = HexFloat(value)};
                    });
  }
  return comparisons.Take();
}

struct Wanted {
  double value, size;
};

// Of a table whose product with the query is its own index, up to an index that every dtype holds:
// the logit is the position itself.
Verdict CheckCounts(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  constexpr double kLargestIndex = 64;
  NamedInputs inputs = InputsOf(subject, c);
  KeepFirstChannel(inputs.tensors.find("q")->second, [](double, size_t) { return 1; });
  KeepFirstChannel(inputs.tensors.find("embedding")->second, [&](double, size_t row) {
    return std::min(static_cast<double>(row), kLargestIndex);
  });
  const EquationAnswer answer(subject, inputs);
  const ExactTensor &queries = answer.inputs["query_positions"],
                    &keys = answer.inputs["key_positions"], &k = answer.inputs["k"];
  const double last = std::min(static_cast<double>(params.num_positions - 1), kLargestIndex);
  const auto want = [&](EquationPlace place) {
    double counted = 0;
    for (int64_t key = keys.shape[0] - 1; key >= place.last; --key) {
      if (!params.attention.Visible(queries.At(place.query), keys.At(key))) continue;
      counted += 1 / (1 + std::exp(-ScaleOf(params) * k.At(key, place.head, 0)));
    }
    const double dot = k.At(place.last, place.head, 0), position = std::min(counted, last);
    return Wanted{Score(params, dot, position), std::fabs(dot) + counted};
  };
  // A gate takes eight roundings, its sum one a key, the score three.
  return HoldScores(answer, params, static_cast<double>(keys.shape[0]) + 12, want);
}

// Weights of an interpolation add up to 1: of a table of one vector it makes that vector.
Verdict CheckFlatTable(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  NamedInputs inputs = InputsOf(subject, c);
  ExactTensor& table = inputs.tensors.find("embedding")->second;
  const auto width = static_cast<size_t>(params.attention.head_dim);
  for (size_t i = width; i < table.values.size(); ++i) {
    table.values[i] = table.values[i % width];
  }
  const EquationAnswer answer(subject, inputs);
  const ExactTensor &q = answer.inputs["q"], &k = answer.inputs["k"],
                    &e = answer.inputs["embedding"];
  const auto want = [&](EquationPlace place) {
    double dot = 0, logit = 0, size = 0;
    for (int64_t channel = 0; channel < params.attention.head_dim; ++channel) {
      const double of_query = q.At(place.query, place.head, channel);
      dot += of_query * k.At(place.last, place.head, channel);
      logit += of_query * e.At(0, channel);
      size += std::fabs(of_query) *
              (std::fabs(k.At(place.last, place.head, channel)) + std::fabs(e.At(0, channel)));
    }
    return Wanted{Score(params, dot, logit), size};
  };
  return HoldScores(answer, params, static_cast<double>(width) + 5, want);
}

// Gates of content that says all, or nothing: positions are whole. Open, the position of a key is
// the number of keys from it to the query, and the scheme a table of relative positions; closed, it
// is 0 throughout.
Verdict CheckGates(const Subject& subject, const LawCase& c, bool open) {
  const Params& params = ParamsOf(subject);
  // A gate is then within e^-40 of 1, or of 0.
  const double logit = std::exp2(std::ceil(std::log2(40 / ScaleOf(params))));
  NamedInputs inputs = InputsOf(subject, c);
  KeepFirstChannel(inputs.tensors.find("q")->second, [](double, size_t) { return 1; });
  KeepFirstChannel(inputs.tensors.find("k")->second,
                   [&](double, size_t) { return open ? logit : -logit; });
  const EquationAnswer answer(subject, inputs);
  const ExactTensor &queries = answer.inputs["query_positions"],
                    &keys = answer.inputs["key_positions"], &e = answer.inputs["embedding"];
  const auto want = [&](EquationPlace place) {
    int64_t counted = 0;
    for (int64_t key = place.last; open && key < keys.shape[0]; ++key) {
      if (params.attention.Visible(queries.At(place.query), keys.At(key))) ++counted;
    }
    const double of_table = e.At(std::min(counted, params.num_positions - 1), 0);
    return Wanted{Score(params, open ? logit : -logit, of_table), logit};
  };
  // e^-40 is below 2^-57: a count of n keys is off by n of these, and moves along a slope of the
  // table, at most 4.
  return HoldScores(answer, params, static_cast<double>(keys.shape[0]) + 4, want);
}

Verdict CheckOpenGates(const Subject& subject, const LawCase& c) {
  return CheckGates(subject, c, true);
}
Verdict CheckClosedGates(const Subject& subject, const LawCase& c) {
  return CheckGates(subject, c, false);
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {
      {"counts", "a position is the sum of the gates from its key to the query, up to the last row",
       "scores", false, CheckCounts},
      {"flat_table", "a table of one vector adds one number", "scores", false, CheckFlatTable},
      {"open_gates", "gates of 1 count keys: a table of relative positions", "scores", false,
       CheckOpenGates},
      {"closed_gates", "gates of 0 count nothing: row 0 of the table throughout", "scores", false,
       CheckClosedGates},
  };
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, int64_t num_positions, Placement placement) {
    return Params{.attention = attention, .num_positions = num_positions, .placement = placement};
  };
  return rc::gen::apply(make, AnyAttention(), rc::gen::element<int64_t>(2, 3, 8, 64),
                        rc::gen::element(Placement::after_scale, Placement::before_scale));
}

}  // namespace posgauge::cope
