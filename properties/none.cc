#include "posgauge/properties/none.h"

#include <rapidcheck.h>

#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::none {

namespace {

std::vector<int64_t> VisibleKeys(const Subject& subject, const NamedInputs& inputs, int64_t query) {
  const ExactTensor& keys = inputs["key_positions"];
  std::vector<int64_t> visible;
  for (int64_t key = 0; key < keys.shape[0]; ++key) {
    if (AttentionOf(subject.scheme()).Visible(inputs["query_positions"].At(query), keys.At(key))) {
      visible.push_back(key);
    }
  }
  return visible;
}

// Keys and values change places, positions stay where they are.
Verdict CheckOrder(const Subject& subject, const LawCase& c) {
  const NamedInputs all = InputsOf(subject, c);
  Comparisons comparisons;
  for (int64_t query = 0; query < all["query_positions"].shape[0]; ++query) {
    const std::vector<int64_t> visible = VisibleKeys(subject, all, query);
    const std::vector<int64_t> reversed(visible.rbegin(), visible.rend());
    const NamedInputs of_query = WithQueries(all, {query});
    const EquationAnswer before(subject, WithKeys(of_query, visible));
    NamedInputs turned = WithKeys(of_query, reversed);
    turned.tensors["key_positions"] = before.inputs["key_positions"];
    const EquationAnswer after(subject, turned);
    for (EquationPlace place : PlacesOf(before.quantity, before.out.shape())) {
      EquationPlace of = place;
      if (before.quantity == EquationQuantity::scores) {
        of.last = static_cast<int64_t>(visible.size()) - 1 - place.last;
      }
      CompareWithin(comparisons, after, place, before, of);
    }
  }
  return comparisons.Take();
}

// A query of zeros scores every key alike: each visible one weighs 1/n, whatever else there is.
Verdict CheckEqualScores(const Subject& subject, const LawCase& c) {
  NamedInputs inputs = InputsOf(subject, c);
  for (double& q : inputs.tensors.find("q")->second.values) q = 0;
  const EquationAnswer answer(subject, inputs);
  const ExactTensor& v = answer.inputs["v"];
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const std::vector<int64_t> visible = VisibleKeys(subject, answer.inputs, place.query);
    const auto count = static_cast<double>(visible.size());
    double sum = 0, size = 0;
    for (int64_t key : visible) {
      sum += v.At(key, place.head, place.last);
      size += std::fabs(v.At(key, place.head, place.last));
    }
    const double got = answer.Value(place), want = sum / count;
    // count roundings of the sum and its quotient, in binary64.
    const double allowed = answer.Limit(place) + 0x1p-52 * count * size / count;
    comparisons.Add(answer.QueryPosition(place), std::fabs(got - want), allowed, size / count, [&] {
      return Witness{
          .where = answer.Text(place) + fmt::format(", the mean of {} values", visible.size()),
          .got = HexFloat(got),
          .want = HexFloat(want)};
    });
  }
  return comparisons.Take();
}

// Scores are those without a temperature, times it.
Verdict CheckTemperature(const Subject& subject, const LawCase& c) {
  const Params& params = std::get<Params>(subject.scheme());
  const Params plain{.attention = params.attention};
  if (!subject.info().Serves(plain)) throw Unsupported("the kernel needs a temperature");
  const EquationAnswer sharp(subject, InputsOf(subject, c));
  const EquationAnswer without(Subject(subject.info(), plain), sharp.inputs);
  const auto floor_scale = static_cast<double>(*params.temperature_floor_scale);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(sharp.quantity, sharp.out.shape())) {
    const double position = sharp.inputs["query_positions"].At(place.query);
    const double steps = std::floor((position + 1) / floor_scale) + 1;
    const double temperature = std::log(steps) * *params.temperature_scale + 1;
    const double got = sharp.Value(place), want = without.Value(place) * temperature;
    const auto describe = [&] {
      return Witness{.where = sharp.Text(place) + ", against none times the temperature",
                     .got = HexFloat(got),
                     .want = HexFloat(want)};
    };
    if (std::isinf(want)) {
      comparisons.AddExact(position, got == want, describe);
      continue;
    }
    // A logarithm within an ulp of glibc, two products and a sum, in binary64.
    const double own = 5 * 0x1p-53 * std::fabs(want);
    comparisons.Add(position, std::fabs(got - want),
                    sharp.Limit(place) + without.Limit(place) * temperature + own,
                    std::max(sharp.Size(place), without.Size(place) * temperature), describe);
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"order", "the keys that a query sees may come in any order", "scores attention", false,
       CheckOrder},
      {"equal_scores", "a query of zeros yields the mean of the values that it sees", "attention",
       false, CheckEqualScores},
  };
  if (params.temperature_scale) {
    laws.push_back({"temperature", "scores are those without a temperature, times the query's",
                    "scores", false, CheckTemperature});
  }
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, std::optional<int64_t> floor_scale, double scale) {
    Params params{.attention = attention};
    if (floor_scale) {
      params.temperature_floor_scale = floor_scale;
      params.temperature_scale = scale;
    }
    return params;
  };
  return rc::gen::apply(
      make, AnyAttention(),
      rc::gen::element<std::optional<int64_t>>(std::nullopt, std::nullopt, 8192, 1, 7),
      rc::gen::element(0.1, 0.0, 1.0, 3.5));
}

}  // namespace posgauge::none
