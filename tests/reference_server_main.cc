// Answers questions to the proven reference, one JSON object a line on stdin, one a line on stdout,
// so that an oracle in another language can be held against it (tests/independent_reference.py).
//
//   {"scheme": {...}, "quantity": "rotate", "dtype": "f32", "positions": ["0x1p+0"], "heads": 1,
//    "x": ["0x1.8p+0", ...]}
//   {"rotate": {"values": ["0x1.8p+0", ...], "proofs": "ep...", "distances": [0, ...]}}
//
// Inputs by quantity: table: positions. embed: positions, x. rotate, rotate_backward: positions,
// heads, x. scores: query_positions, key_positions, heads, scale, q, k. A scheme of attention: what
// ExactEquations::InputsOf names. Numbers are hex floats in strings. A proof is the first letter of
// exact, proven, undecided. A refused question answers
// {"error": "..."}.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <variant>

#include "posgauge/reference/exact_addition.h"
#include "posgauge/reference/exact_equations.h"
#include "posgauge/reference/exact_rotation.h"
#include "posgauge/schemes/base/error.h"

namespace posgauge {
namespace {

using nlohmann::json;

double Number(const json& text) {
  const auto& digits = text.get_ref<const std::string&>();
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);
  Require(!digits.empty() && end == digits.c_str() + digits.size(), "'{}' is not a number", digits);
  return number;
}

std::vector<double> Numbers(const json& list) {
  std::vector<double> numbers;
  for (const json& text : list) numbers.push_back(Number(text));
  return numbers;
}

json Answer(const RoundedValues& rounded) {
  json values = json::array();
  for (double value : rounded.values) {
    char text[32];
    std::snprintf(text, sizeof text, "%a", value);
    values.push_back(text);
  }
  std::string proofs;
  for (Proof proof : rounded.proofs) proofs += "epu"[static_cast<size_t>(proof)];
  return {{"values", values}, {"proofs", proofs}, {"distances", rounded.distances}};
}

// The last scheme asked about: questions about one scheme come in a row.
class Reference {
 public:
  using Exact = std::variant<ExactRotation, ExactAddition, ExactEquations>;

  const Exact& Of(const json& scheme) {
    if (!exact_ || scheme != scheme_) {
      exact_.reset();
      const Scheme parsed = SchemeFromJson(scheme);
      std::visit(
          [&]<class Params>(const Params&) {
            if constexpr (ByEquations<Params>) {
              exact_.emplace(ExactEquations(parsed));
            } else if constexpr (Adds<Params>) {
              exact_.emplace(ExactAddition(parsed));
            } else {
              exact_.emplace(ExactRotation(parsed));
            }
          },
          parsed);
      scheme_ = scheme;
    }
    return *exact_;
  }

 private:
  json scheme_;
  std::optional<Exact> exact_;
};

json Answer(const ExactAddition& exact, const json& question) {
  const auto quantity = question.at("quantity").get<std::string>();
  const Dtype dtype = ParseDtype(question.at("dtype").get<std::string>());
  const auto numbers = [&](const char* name) { return Numbers(question.at(name)); };
  if (quantity == "frequencies") return {{quantity, Answer(exact.Frequencies(dtype))}};
  if (quantity == "table") return {{"rows", Answer(exact.Rows(numbers("positions"), dtype))}};
  Require(quantity == "embed", "quantity '{}' is not known here", quantity);
  return {{quantity, Answer(exact.Embed(numbers("positions"), numbers("x"), dtype))}};
}

json Answer(const ExactEquations& exact, const json& question) {
  const auto name = question.at("quantity").get<std::string>();
  const auto quantity = ParseVariant<EquationQuantity>("quantity", name);
  NamedInputs inputs;
  for (const Weight& wanted : exact.InputsOf(quantity)) {
    ExactTensor tensor{wanted.shape, Numbers(question.at(std::string(wanted.name)))};
    int64_t of_one_row = 1;
    for (size_t i = 1; i < wanted.shape.size(); ++i) of_one_row *= wanted.shape[i];
    tensor.shape[0] = static_cast<int64_t>(tensor.values.size()) / of_one_row;
    inputs.tensors.emplace(wanted.name, std::move(tensor));
  }
  if (quantity != EquationQuantity::buckets) {
    const Dtype dtype = ParseDtype(question.at("dtype").get<std::string>());
    return {{name, Answer(exact.Evaluate(quantity, inputs, dtype))}};
  }
  const std::vector<int64_t> buckets = exact.Buckets(inputs);
  return {{name, Answer(RoundedValues{.values = {buckets.begin(), buckets.end()},
                                      .proofs = std::vector(buckets.size(), Proof::exact),
                                      .distances = std::vector<int32_t>(buckets.size())})}};
}

json Answer(const ExactRotation& exact, const json& question) {
  const auto quantity = question.at("quantity").get<std::string>();
  const Dtype dtype = ParseDtype(question.at("dtype").get<std::string>());
  const auto numbers = [&](const char* name) { return Numbers(question.at(name)); };
  const auto heads = [&] { return question.at("heads").get<int64_t>(); };
  if (quantity == "frequencies") return {{quantity, Answer(exact.Frequencies(dtype))}};
  if (quantity == "magnitude") return {{quantity, Answer(exact.Magnitude(dtype))}};
  if (quantity == "softmax_multiplier") {
    return {{quantity, Answer(exact.SoftmaxMultiplier(dtype))}};
  }
  if (quantity == "table") {
    const RoundedTable table = exact.Table(numbers("positions"), dtype);
    return {{"cos", Answer(table.cos)}, {"sin", Answer(table.sin)}};
  }
  if (quantity == "rotate") {
    return {{quantity, Answer(exact.Rotate(numbers("positions"), numbers("x"), heads(), dtype))}};
  }
  if (quantity == "rotate_backward") {
    return {{quantity,
             Answer(exact.RotateBackward(numbers("positions"), numbers("x"), heads(), dtype))}};
  }
  Require(quantity == "scores", "quantity '{}' is not known here", quantity);
  return {{quantity,
           Answer(exact.Scores(numbers("query_positions"), numbers("key_positions"), numbers("q"),
                               numbers("k"), heads(), Number(question.at("scale")), dtype))}};
}

void Serve() {
  Reference reference;
  for (std::string line; std::getline(std::cin, line);) {
    json answer;
    try {
      const json question = json::parse(line);
      answer = std::visit([&](const auto& exact) { return Answer(exact, question); },
                          reference.Of(question.at("scheme")));
    } catch (const ParameterError& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << answer.dump() << '\n';
  }
}

}  // namespace
}  // namespace posgauge

int main() {
  std::ios::sync_with_stdio(false);
  posgauge::Serve();
}
