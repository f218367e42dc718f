#include "posgauge/properties/fire.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/distance_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::fire {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

ExactTensor& Tensor(NamedInputs& inputs, const char* name) {
  return inputs.tensors.find(name)->second;
}

// A network that shows the normalised distance x itself, as the bias of every head.
NamedInputs Shown(NamedInputs inputs, const Params& params) {
  for (const char* name : {"w1", "b1", "w2", "b2"}) {
    std::ranges::fill(Tensor(inputs, name).values, 0);
  }
  Tensor(inputs, "w1").values[0] = 1;
  for (int64_t head = 0; head < params.attention.heads; ++head) {
    Tensor(inputs, "w2").values[static_cast<size_t>(head * params.mlp_width)] = 1;
  }
  return inputs;
}

// ln(1 + c t) in binary64: relative error below 2^-51 for the library's ulp and the product's
// rounding.
double Psi(const NamedInputs& inputs, double t) { return std::log1p(inputs["c"].At(0) * t); }

void CompareNumber(Comparisons& comparisons, const EquationAnswer& answer, EquationPlace place,
                   double want, double uncertain, double size) {
  const double got = answer.Value(place);
  comparisons.Add(answer.QueryPosition(place), std::fabs(got - want),
                  answer.Limit(place) + uncertain, size, [&] {
                    return Witness{
                        .where = answer.Text(place), .got = HexFloat(got), .want = HexFloat(want)};
                  });
}

// x is in 0..1 and grows with the distance of keys before the query.
Verdict CheckDistance(const Subject& subject, const LawCase& c) {
  const double largest = FarthestPosition(c);
  Comparisons comparisons;
  for (double query : {largest, std::floor(largest / 300)}) {
    const EquationAnswer answer(subject, ProbeOf(Shown(InputsOf(subject, c), ParamsOf(subject)),
                                                 query, TellingDistances(query)));
    const EnclosedEach truth =
        subject.equations().exact().Enclose(EquationQuantity::bias, answer.inputs);
    for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
      const double x = answer.Value(place), limit = answer.Limit(place);
      const auto add = [&](double error, double allowed, const std::string& want) {
        // An error of zero is no number that is right by accident: NaN stays NaN.
        comparisons.Add(query, error < 0 ? 0 : error, allowed, 1, [&] {
          return Witness{.where = answer.Text(place), .got = HexFloat(x), .want = want};
        });
      };
      add(-x, limit, "at least 0");
      add(x - 1, limit, "at most 1");
      if (place.last == 0) continue;
      EquationPlace nearer = place;
      --nearer.last;
      const size_t i = answer.Index(place), before = answer.Index(nearer);
      const double step = truth.values[i].high - truth.values[before].high;
      const bool tells = step * (1 - 0x1p-50) > limit + answer.Limit(nearer);
      const double fall = answer.Value(nearer) - x;
      add(fall, limit + answer.Limit(nearer), "not below that of the key after it");
      if (tells) {
        comparisons.AddExact(query, fall < 0, [&] {
          return Witness{.where = answer.Text(place),
                         .got = HexFloat(x),
                         .want = "above " + HexFloat(answer.Value(nearer))};
        });
      }
    }
  }
  return comparisons.Take();
}

// A key at the query's own position has the network's value at 0, whatever the position.
Verdict CheckAtItself(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const double largest = FarthestPosition(c);
  Comparisons comparisons;
  for (double query : {0.0, 1.0, std::floor(largest / 2), largest}) {
    const EquationAnswer answer(subject, ProbeOf(InputsOf(subject, c), query, {0}));
    for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
      double want = answer.inputs["b2"].At(place.head), sizes = std::fabs(want);
      for (int64_t unit = 0; unit < params.mlp_width; ++unit) {
        const double term =
            answer.inputs["w2"].At(place.head, unit) * std::max(answer.inputs["b1"].At(unit), 0.0);
        want += term;
        sizes += std::fabs(term);
      }
      const double roundings = static_cast<double>(params.mlp_width + 1) * 0x1p-52;
      CompareNumber(comparisons, answer, place, want, roundings * sizes,
                    std::max(std::fabs(want), answer.Size(place)));
    }
  }
  return comparisons.Take();
}

// The first key of a query beyond the threshold is at psi/(psi + epsilon): 1 in the paper.
Verdict CheckFirstKey(const Subject& subject, const LawCase& c) {
  const double largest = FarthestPosition(c), epsilon = ParamsOf(subject).epsilon;
  const NamedInputs inputs = Shown(InputsOf(subject, c), ParamsOf(subject));
  const double threshold = inputs["threshold"].At(0);
  Comparisons comparisons;
  for (double query : {std::ceil(threshold) + 1, std::floor(largest / 2), largest}) {
    if (query < threshold || query > largest) continue;
    const EquationAnswer answer(subject, ProbeOf(inputs, query, {query}));
    const double psi = Psi(inputs, query), want = psi / (psi + epsilon);
    for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
      CompareNumber(comparisons, answer, place, want, 0x1p-49, 1);
    }
  }
  return comparisons.Take();
}

// Only c times a number of tokens counts: twice the positions and threshold with half of c.
Verdict CheckScale(const Subject& subject, const LawCase& c) {
  const double largest = std::floor(FarthestPosition(c) / 2);
  Comparisons comparisons;
  for (double query : {7.0, 100.0, largest}) {
    if (query > largest) continue;
    const EquationAnswer once(subject, ProbeOf(Shown(InputsOf(subject, c), ParamsOf(subject)),
                                               query, TellingDistances(query)));
    NamedInputs scaled = once.inputs;
    for (const char* name : {"query_positions", "key_positions", "threshold"}) {
      for (double& value : Tensor(scaled, name).values) value *= 2;
    }
    Tensor(scaled, "c").values[0] /= 2;
    const EquationAnswer twice(subject, scaled);
    for (EquationPlace place : PlacesOf(once.quantity, once.out.shape())) {
      CompareWithin(comparisons, twice, place, once, place);
    }
  }
  return comparisons.Take();
}

// Up to the threshold a bias goes by the distance alone.
Verdict CheckNear(const Subject& subject, const LawCase& c) {
  NamedInputs inputs = InputsOf(subject, c);
  Tensor(inputs, "threshold").values[0] = std::exp2(std::ceil(std::log2(FarthestPosition(c) + 1)));
  const EquationAnswer before(subject, inputs);
  for (const char* name : {"query_positions", "key_positions"}) {
    for (double& position : Tensor(inputs, name).values) position += c.shifts[0];
  }
  const EquationAnswer after(subject, inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(before.quantity, before.out.shape())) {
    CompareWithin(comparisons, after, place, before, place);
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {{"distance", "the normalised distance is in 0..1 and grows with the distance", "bias",
           false, CheckDistance},
          {"at_itself", "the bias of a key at the query's position is the network's value at 0",
           "bias", false, CheckAtItself},
          {"first_key", "for queries beyond the threshold the first key is at psi/(psi + epsilon)",
           "bias", false, CheckFirstKey},
          {"scale", "twice the positions and the threshold with half of c change nothing", "bias",
           false, CheckScale},
          {"near", "up to the threshold moving all positions changes nothing", "bias scores", false,
           CheckNear}};
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, int64_t mlp_width, double epsilon) {
    return Params{.attention = attention, .mlp_width = mlp_width, .epsilon = epsilon};
  };
  return rc::gen::apply(make, AnyAttention(), rc::gen::element<int64_t>(32, 1, 2, 7, 64),
                        rc::gen::element(1e-6, 0.0, 0x1p-20, 0.5));
}

}  // namespace posgauge::fire
