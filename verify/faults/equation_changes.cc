#include "posgauge/verify/faults/equation_changes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "posgauge/reference/equation_rows.h"
#include "posgauge/reference/exact_equations.h"
#include "posgauge/verify/equation_bound.h"

namespace posgauge {

namespace {

const Contract& Binary64() {
  static const Contract contract = Contract::Parse(
      "position=i64 frequency=f64:pow angle=f64 trig=1ulp:f64 table=f64 rotate=f64 accumulate=f64 "
      "store=f64:rne flush=no",
      Dtype::f64);
  return contract;
}

Scheme Unmasked(Scheme scheme) {
  std::visit(
      [](auto& params) {
        if constexpr (requires { params.attention; }) params.attention.causal = false;
      },
      scheme);
  return scheme;
}

// The rows of these numbers, of a tensor [rows, ...].
ExactTensor Rows(const ExactTensor& tensor, const std::vector<int64_t>& rows) {
  ExactTensor taken{tensor.shape, {}};
  taken.shape[0] = static_cast<int64_t>(rows.size());
  const size_t width = tensor.values.size() / static_cast<size_t>(tensor.shape[0]);
  for (const int64_t row : rows) {
    const auto from = tensor.values.begin() + static_cast<int64_t>(width) * row;
    taken.values.insert(taken.values.end(), from, from + static_cast<int64_t>(width));
  }
  return taken;
}

}  // namespace

std::vector<double> EquationValues(const Scheme& scheme, std::string_view quantity,
                                   const NamedInputs& inputs, const std::vector<int64_t>& shape) {
  if (quantity == "buckets") {
    const std::vector<int64_t> buckets = ExactEquations(scheme).Buckets(inputs);
    return {buckets.begin(), buckets.end()};
  }
  return EmulateEquations(Binary64(), scheme,
                          ParseVariant<EquationQuantity>("quantity", std::string(quantity)), inputs,
                          shape);
}

bool ElementValues(const ChangeElement& change, const Question& question,
                   std::vector<double>& values) {
  if (change.scheme != Name(question.scheme)) return false;
  std::vector<double> elements;
  const auto evaluate = [&] {
    const std::vector<int64_t> shape = ScoreShape(question);
    const int64_t heads = change.quantity == "buckets" ? 1 : shape[0];
    for (int64_t head = 0; head < heads; ++head) {
      for (int64_t query = 0; query < shape[1]; ++query) {
        for (int64_t key = 0; key < shape[2]; ++key) {
          elements.push_back(change.value({&question.scheme, &question.inputs, head, query, key}));
        }
      }
    }
  };
  if (change.quantity == question.quantity) {
    evaluate();
    values = std::move(elements);
    return true;
  }
  const auto put = [&](const Question&, std::vector<double>& right) {
    evaluate();
    right = elements;
    return true;
  };
  if (change.quantity == "bias") return OfBias(put).change(question, values);
  if (change.quantity == "scores") return OfScores(put).change(question, values);
  return false;
}

std::vector<double> Attended(const Scheme& scheme, const NamedInputs& inputs,
                             const std::vector<double>& scores) {
  const ExactTensor& v = inputs["v"];
  const int64_t queries = inputs["query_positions"].shape[0], keys = v.shape[0], heads = v.shape[1],
                channels = v.shape[2];
  const auto* shaw = std::get_if<shaw::Params>(&scheme);
  std::vector<double> out;
  for (int64_t query = 0; query < queries; ++query) {
    for (int64_t head = 0; head < heads; ++head) {
      std::vector<double> seen;
      std::vector<std::vector<double>> values(static_cast<size_t>(channels));
      for (int64_t key = 0; key < keys; ++key) {
        const double score = scores[static_cast<size_t>((head * queries + query) * keys + key)];
        if (score == -HUGE_VAL) continue;
        seen.push_back(score);
        for (int64_t c = 0; c < channels; ++c) {
          values[static_cast<size_t>(c)].push_back(
              shaw == nullptr ? v.At(key, head, c)
                              : shaw::Head<double>(*shaw, inputs, head).Value(query, key, c));
        }
      }
      Require(!seen.empty(), "query {} sees no key", query);
      const std::vector<double> mean = SoftmaxMean(seen, values);
      out.insert(out.end(), mean.begin(), mean.end());
    }
  }
  return out;
}

bool AsksScores(const Question& question) {
  return question.quantity == "scores" || question.quantity == "attention";
}

std::vector<int64_t> ScoreShape(const Question& question) {
  return {AttentionOf(question.scheme).heads, question.inputs["query_positions"].shape[0],
          question.inputs["key_positions"].shape[0]};
}

ChangeEvaluation OfBias(std::function<bool(const Question&, std::vector<double>& bias)> change) {
  return {[change = std::move(change)](const Question& question, std::vector<double>& values) {
    if (!ActsInAttention(question.scheme)) return false;
    if (question.quantity != "bias" && !AsksScores(question)) return false;
    if (!ExactEquations(question.scheme).Yields(EquationQuantity::bias)) return false;
    const std::vector<int64_t> shape = ScoreShape(question);
    const std::vector<double> right =
        EquationValues(question.scheme, "bias", question.inputs, shape);
    std::vector<double> bias = right;
    if (!change(question, bias)) return false;
    if (question.quantity == "bias") {
      values = std::move(bias);
      return true;
    }
    values = EquationValues(question.scheme, "scores", question.inputs, shape);
    for (size_t i = 0; i < values.size(); ++i) values[i] = values[i] - right[i] + bias[i];
    if (question.quantity == "attention") {
      values = Attended(question.scheme, question.inputs, values);
    }
    return true;
  }};
}

ChangeEvaluation OfScores(
    std::function<bool(const Question&, std::vector<double>& scores)> change) {
  return {[change = std::move(change)](const Question& question, std::vector<double>& values) {
    if (!AsksScores(question)) return false;
    std::vector<double> scores =
        EquationValues(question.scheme, "scores", question.inputs, ScoreShape(question));
    if (!change(question, scores)) return false;
    values = question.quantity == "scores" ? std::move(scores)
                                           : Attended(question.scheme, question.inputs, scores);
    return true;
  }};
}

ChangeResult OfRows(std::function<bool(const Question&, std::vector<double>& rows)> change) {
  return {[change = std::move(change)](const Question& question, std::vector<double>& values) {
    const bool embeds = question.quantity == "embed";
    if (!embeds && question.quantity != "table") return false;
    if (ActsInAttention(question.scheme) || IsRotary(question.scheme)) return false;
    if (question.inputs.Find("rows") != nullptr) return false;
    const ExactTensor* x = question.inputs.Find("x");
    for (size_t i = 0; embeds && i < values.size(); ++i) values[i] -= x->values[i];
    const bool acted = change(question, values);
    for (size_t i = 0; embeds && i < values.size(); ++i) values[i] += x->values[i];
    return acted;
  }};
}

ChangeEvaluation SeenAs(bool (*concerns)(const Question&), bool (*visible)(const PairPlace&),
                        double (*key)(const PairPlace&)) {
  return {[=](const Question& question, std::vector<double>& values) {
    if (!concerns(question)) return false;
    const NamedInputs& inputs = question.inputs;
    const ExactTensor &queries = inputs["query_positions"], &keys = inputs["key_positions"];
    const bool attends = question.quantity == "attention", buckets = question.quantity == "buckets",
               masks = attends || question.quantity == "scores";
    const int64_t heads = buckets ? 1 : AttentionOf(question.scheme).heads;
    const Scheme unmasked = Unmasked(question.scheme);
    values.assign(static_cast<size_t>(std::accumulate(question.shape.begin(), question.shape.end(),
                                                      int64_t{1}, std::multiplies<>())),
                  -HUGE_VAL);
    for (int64_t query = 0; query < queries.shape[0]; ++query) {
      std::vector<int64_t> seen;
      ExactTensor positions;
      for (int64_t j = 0; j < keys.shape[0]; ++j) {
        const PairPlace at{&inputs, queries.At(query), keys.At(j), query, j};
        if (masks && !visible(at)) continue;
        seen.push_back(j);
        positions.values.push_back(key(at));
      }
      Require(!attends || !seen.empty(), "query {} sees no key", query);
      if (seen.empty()) continue;
      const auto count = static_cast<int64_t>(seen.size());
      positions.shape = {count};
      NamedInputs part = inputs;
      part.tensors["query_positions"] = Rows(queries, {query});
      part.tensors["key_positions"] = positions;
      if (masks) {
        part.tensors["q"] = Rows(inputs["q"], {query});
        part.tensors["k"] = Rows(inputs["k"], seen);
      }
      if (attends) part.tensors["v"] = Rows(inputs["v"], seen);
      const std::vector<int64_t> shape =
          attends   ? std::vector<int64_t>{1, heads, AttentionOf(question.scheme).head_dim}
          : buckets ? std::vector<int64_t>{1, count}
                    : std::vector<int64_t>{heads, 1, count};
      const std::vector<double> of_query = EquationValues(unmasked, question.quantity, part, shape);
      for (size_t i = 0; i < of_query.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const int64_t into = attends ? query * static_cast<int64_t>(of_query.size()) + at
                                     : (at / count * queries.shape[0] + query) * keys.shape[0] +
                                           seen[static_cast<size_t>(at % count)];
        values[static_cast<size_t>(into)] = of_query[i];
      }
    }
    return true;
  }};
}

ChangeEvaluation OfDistance(bool (*concerns)(const Question&), double (*key)(const PairPlace&)) {
  // The mask of the scheme itself, which function pointers cannot carry: one for each.
  const ChangeEvaluation causal = SeenAs(
      concerns, [](const PairPlace& at) { return at.key <= at.query; }, key);
  const ChangeEvaluation all = SeenAs(
      concerns, [](const PairPlace&) { return true; }, key);
  return {[=](const Question& question, std::vector<double>& values) {
    if (!ActsInAttention(question.scheme)) return false;
    return (AttentionOf(question.scheme).causal ? causal : all).change(question, values);
  }};
}

bool TellsDirections(const Question& question) {
  if (question.quantity == "slopes") return false;
  const auto* rerope = std::get_if<rerope::Params>(&question.scheme);
  if (rerope != nullptr) return !rerope->trained_length;
  return IsOneOf<t5::Params, shaw::Params, transformer_xl::Params, deberta::Params, xpos::Params>(
      question.scheme);
}

bool CountsDistances(const Question& question) {
  if (question.quantity == "slopes") return false;
  const auto* alibi = std::get_if<alibi::Params>(&question.scheme);
  if (alibi != nullptr) {
    return alibi->form == alibi::Form::relative || alibi->form == alibi::Form::symmetric;
  }
  return TellsDirections(question) ||
         IsOneOf<kerple::Params, fire::Params, sandwich::Params>(question.scheme);
}

}  // namespace posgauge
