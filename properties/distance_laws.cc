#include "posgauge/properties/distance_laws.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge {

namespace {

// Rounding is monotone, so no contract excuses a fall that the true step makes plain; two keys may
// round to one number.
Verdict CheckNearest(const Subject& subject, const LawCase& c) {
  const EquationAnswer answer(subject, InputsOf(subject, c));
  const ExactTensor &queries = answer.inputs["query_positions"],
                    &keys = answer.inputs["key_positions"];
  const EnclosedEach truth =
      subject.equations().exact().Enclose(EquationQuantity::bias, answer.inputs);
  Comparisons comparisons;
  uint64_t plateaus = 0, steps = 0;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    if (place.last == 0 || keys.At(place.last) > queries.At(place.query)) continue;
    EquationPlace farther = place;
    --farther.last;
    const double near = answer.Value(place), far = answer.Value(farther);
    const double step =
        truth.values[answer.Index(place)].high - truth.values[answer.Index(farther)].high;
    const bool tells = step * (1 - 0x1p-50) > answer.Limit(place) + answer.Limit(farther);
    // Two roundings of one number, or nearly, may be in either order.
    const double allowed = tells ? 0 : answer.Limit(place) + answer.Limit(farther);
    ++steps;
    if (near == far) ++plateaus;
    const bool holds = tells ? far < near : far <= near + allowed;
    comparisons.AddExact(queries.At(place.query), holds, [&] {
      return Witness{.where = answer.Text(place) +
                              fmt::format(", against the key at {}", keys.At(farther.last)),
                     .got = HexFloat(near),
                     .want = fmt::format("{} {}", tells ? "above" : "not below", HexFloat(far))};
    });
  }
  return comparisons.Take(
      plateaus == 0 ? "" : fmt::format("{} of {} steps are rounded away", plateaus, steps));
}

Verdict CheckSymmetry(const Subject& subject, const LawCase& c) {
  const EquationAnswer answer(subject, InputsOf(subject, c));
  NamedInputs inputs = answer.inputs;
  std::swap(inputs.tensors.find("query_positions")->second,
            inputs.tensors.find("key_positions")->second);
  const EquationAnswer exchanged(subject, inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    CompareWithin(comparisons, exchanged, {place.head, place.last, place.query}, answer, place);
  }
  return comparisons.Take();
}

}  // namespace

Law NearestLaw() {
  return {"monotone", "the bias of a key never falls as its distance shrinks", "bias", false,
          CheckNearest};
}

Law SymmetryLaw() {
  return {"symmetric", "a bias is the same with query and key exchanged", "bias", false,
          CheckSymmetry};
}

double FarthestPosition(const LawCase& law_case) {
  double largest = 0;
  for (const char* name : {"query_positions", "key_positions"}) {
    for (double position : law_case.inputs[name].values) largest = std::max(largest, position);
  }
  return largest;
}

std::vector<double> TellingDistances(double largest) {
  std::set<double> distances;
  for (double n = 0; n <= 16; ++n) distances.insert(n);
  for (double power = 32; power <= largest; power *= 2) {
    distances.insert({power - 1, power, power + 1, std::floor(power * 1.4)});
  }
  distances.insert(largest);
  distances.erase(distances.upper_bound(largest), distances.end());
  return {distances.begin(), distances.end()};
}

NamedInputs ProbeOf(const NamedInputs& weights, double query, const std::vector<double>& distances,
                    bool after) {
  NamedInputs inputs = weights;
  for (const char* name : {"q", "k", "v"}) inputs.tensors.erase(name);
  inputs.tensors["query_positions"] = {{1}, {query}};
  ExactTensor& keys = inputs.tensors["key_positions"];
  keys = {{static_cast<int64_t>(distances.size())}, {}};
  for (double distance : distances) keys.values.push_back(query + (after ? distance : -distance));
  return inputs;
}

}  // namespace posgauge
