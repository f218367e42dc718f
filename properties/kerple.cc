#include "posgauge/properties/kerple.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/distance_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::kerple {

namespace {

ExactTensor& Tensor(NamedInputs& inputs, const char* name) {
  return inputs.tensors.find(name)->second;
}

NamedInputs ProbeAtTheEnd(const Subject& subject, const LawCase& c) {
  const double largest = FarthestPosition(c);
  return ProbeOf(InputsOf(subject, c), largest, TellingDistances(largest));
}

double DistanceAt(const EquationAnswer& answer, EquationPlace place) {
  return answer.QueryPosition(place) - answer.inputs["key_positions"].At(place.last);
}

// Within the contract and `uncertain` of a number.
void CompareNumber(Comparisons& comparisons, const EquationAnswer& answer, EquationPlace place,
                   double want, double uncertain) {
  const double got = answer.Value(place);
  comparisons.Add(answer.QueryPosition(place), std::fabs(got - want),
                  answer.Limit(place) + uncertain, std::fabs(want), [&] {
                    return Witness{
                        .where = answer.Text(place), .got = HexFloat(got), .want = HexFloat(want)};
                  });
}

Verdict CheckAtItself(const Subject& subject, const LawCase& c) {
  const double largest = FarthestPosition(c);
  Comparisons comparisons;
  for (double query : {0.0, 1.0, largest}) {
    const EquationAnswer answer(subject, ProbeOf(InputsOf(subject, c), query, {0}));
    for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
      comparisons.AddExact(query, answer.Value(place) == 0, [&] {
        return Witness{
            .where = answer.Text(place), .got = HexFloat(answer.Value(place)), .want = "0"};
      });
    }
  }
  return comparisons.Take();
}

// -D r1 r2 + rest, 0 <= rest <= D r1 r2 (D r2)/2, where r2 is small: ALiBi with slope r1 r2. One
// that forms 1 + r2 D first has few digits of r2 D left.
Verdict CheckSmallRates(const Subject& subject, const LawCase& c) {
  constexpr double kRate = 0x1p-20;
  NamedInputs inputs = ProbeAtTheEnd(subject, c);
  std::ranges::fill(Tensor(inputs, "r2").values, kRate);
  const EquationAnswer answer(subject, inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const double x = kRate * DistanceAt(answer, place);
    if (x > 0.125) continue;
    const double linear = -answer.inputs["r1"].At(place.head) * x;
    CompareNumber(comparisons, answer, place, linear, std::fabs(linear) * (x / 2 + 0x1p-50));
  }
  return comparisons.Take();
}

// Only r2 times the distance counts: twice the positions with half of r2.
Verdict CheckRates(const Subject& subject, const LawCase& c) {
  const double largest = std::floor(FarthestPosition(c) / 2);
  const EquationAnswer once(subject,
                            ProbeOf(InputsOf(subject, c), largest, TellingDistances(largest)));
  NamedInputs scaled = once.inputs;
  for (const char* name : {"query_positions", "key_positions"}) {
    for (double& position : Tensor(scaled, name).values) position *= 2;
  }
  for (double& rate : Tensor(scaled, "r2").values) rate /= 2;
  const EquationAnswer twice(subject, scaled);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(once.quantity, once.out.shape())) {
    CompareWithin(comparisons, twice, place, once, place);
  }
  return comparisons.Take();
}

// Exponent 1: ALiBi with slope r1.
Verdict CheckLinear(const Subject& subject, const LawCase& c) {
  NamedInputs inputs = ProbeAtTheEnd(subject, c);
  std::ranges::fill(Tensor(inputs, "r2").values, 1);
  const EquationAnswer answer(subject, inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const double want = -answer.inputs["r1"].At(place.head) * DistanceAt(answer, place);
    CompareNumber(comparisons, answer, place, want, std::fabs(want) * 0x1p-52);
  }
  return comparisons.Take();
}

// Twice the distance has 2^r2 times the bias.
Verdict CheckDoubling(const Subject& subject, const LawCase& c) {
  const double largest = std::floor(FarthestPosition(c) / 2);
  const EquationAnswer once(subject,
                            ProbeOf(InputsOf(subject, c), largest, TellingDistances(largest)));
  NamedInputs scaled = once.inputs;
  for (const char* name : {"query_positions", "key_positions"}) {
    for (double& position : Tensor(scaled, name).values) position *= 2;
  }
  const EquationAnswer twice(subject, scaled);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(once.quantity, once.out.shape())) {
    // The power within an ulp, its product a rounding.
    const double ratio = std::exp2(once.inputs["r2"].At(place.head));
    const double want = once.Value(place) * ratio;
    CompareNumber(comparisons, twice, place, want,
                  once.Limit(place) * ratio + std::fabs(want) * 0x1p-50);
  }
  return comparisons.Take();
}

// With queries of zeros a score is the bias: the factor is not its own.
Verdict CheckFactor(const Subject& subject, const LawCase& c) {
  NamedInputs inputs = InputsOf(subject, c);
  std::ranges::fill(Tensor(inputs, "q").values, 0);
  const EquationAnswer answer(subject, inputs);
  const Params& params = std::get<Params>(subject.scheme());
  const ExactTensor &queries = inputs["query_positions"], &keys = inputs["key_positions"];
  Params plain = params;
  plain.weighted = false;
  NamedInputs of_bias = inputs;
  for (const char* name : {"q", "k", "w1", "w2"}) of_bias.tensors.erase(name);
  const EnclosedEach bias = ExactEquations(plain).Enclose(EquationQuantity::bias, of_bias);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    if (!params.attention.Visible(queries.At(place.query), keys.At(place.last))) continue;
    const double want = bias.values[answer.Index(place)].high;
    CompareNumber(comparisons, answer, place, want, std::fabs(want) * 0x1p-52);
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"at_itself", "the bias of a key at the query's position is 0", "bias", false, CheckAtItself},
      NearestLaw(),
      SymmetryLaw(),
      TranslationLaw()};
  if (params.kernel == Kernel::log) {
    laws.push_back({"small_rates", "as r2 falls the bias nears -r1 r2 times the distance", "bias",
                    false, CheckSmallRates});
    laws.push_back(
        {"rates", "twice the positions with half of r2 change nothing", "bias", false, CheckRates});
  } else {
    laws.push_back({"linear", "with exponent 1 the bias is -r1 times the distance", "bias", false,
                    CheckLinear});
    laws.push_back(
        {"doubling", "twice the distance has 2^r2 times the bias", "bias", false, CheckDoubling});
  }
  if (params.weighted) {
    laws.push_back(
        {"factor", "with queries of zeros a score is the bias", "scores", false, CheckFactor});
  }
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, Kernel kernel, bool weighted) {
    return Params{.attention = attention, .kernel = kernel, .weighted = weighted};
  };
  return rc::gen::apply(make, AnyAttention(), rc::gen::element(Kernel::log, Kernel::power),
                        rc::gen::element(false, true));
}

}  // namespace posgauge::kerple
