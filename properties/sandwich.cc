#include "posgauge/properties/sandwich.h"

#include <rapidcheck.h>

#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/distance_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/reference/exact_addition.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::sandwich {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// H / (8 h).
double FactorOf(const Params& params, int64_t head) {
  return static_cast<double>(params.attention.heads) / (8 * static_cast<double>(head + 1));
}

double Waves(const Params& params) { return static_cast<double>(params.sandwich_width / 2); }

Witness WitnessOf(const EquationAnswer& answer, EquationPlace place, double want) {
  return {
      .where = answer.Text(place), .got = HexFloat(answer.Value(place)), .want = HexFloat(want)};
}

// The inner products of the proven rows of the sinusoid.
Verdict CheckGram(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const EquationAnswer answer(subject, InputsOf(subject, c));
  const ExactAddition rows{
      Scheme(sinusoidal::Params{.width = params.sandwich_width, .base = params.base})};
  const auto width = static_cast<size_t>(params.sandwich_width);
  const auto rows_at = [&](const char* name) {
    return rows.Rows(answer.inputs[name].values, Dtype::f64).values;
  };
  const std::vector<double> of_queries = rows_at("query_positions");
  const std::vector<double> of_keys = rows_at("key_positions");
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    double gram = 0;
    for (size_t i = 0; i < width; ++i) {
      gram += of_queries[static_cast<size_t>(place.query) * width + i] *
              of_keys[static_cast<size_t>(place.last) * width + i];
    }
    if (params.centred) gram -= Waves(params);
    const double factor = FactorOf(params, place.head), want = gram * factor;
    // Entries, products and width sums, each rounded: all of size below width/2 together.
    const double allowed =
        answer.Limit(place) + static_cast<double>(width + 5) * 0x1p-53 * Waves(params) * factor;
    comparisons.Add(answer.QueryPosition(place), std::fabs(answer.Value(place) - want), allowed,
                    Waves(params) * factor, [&] { return WitnessOf(answer, place, want); });
  }
  return comparisons.Take();
}

// No bias is above that of distance 0, which is width/2 H/(8 h), nor below minus that.
Verdict CheckPeak(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const double largest = FarthestPosition(c);
  const EquationAnswer answer(subject,
                              ProbeOf(InputsOf(subject, c), largest, TellingDistances(largest)));
  const double centre = params.centred ? Waves(params) : 0;
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const double factor = FactorOf(params, place.head);
    const double peak = (Waves(params) - centre) * factor,
                 least = (-Waves(params) - centre) * factor;
    const double got = answer.Value(place);
    const double beyond =
        place.last == 0 ? std::fabs(got - peak) : std::max(0.0, std::max(got - peak, least - got));
    const double allowed = answer.Limit(place) + 0x1p-51 * Waves(params) * factor;
    comparisons.Add(answer.QueryPosition(place), std::isnan(got) ? got : beyond, allowed,
                    Waves(params) * factor, [&] { return WitnessOf(answer, place, peak); });
  }
  return comparisons.Take();
}

// Head h has 1/h of the first head's bias.
Verdict CheckHeads(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  if (params.attention.heads == 1) throw Unsupported("there is one head only");
  const EquationAnswer answer(subject, InputsOf(subject, c));
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    if (place.head == 0) continue;
    EquationPlace first = place;
    first.head = 0;
    const double count = static_cast<double>(place.head + 1);
    const double want = answer.Value(first) / count;
    const double allowed =
        answer.Limit(place) + answer.Limit(first) / count + 0x1p-53 * std::fabs(want);
    comparisons.Add(answer.QueryPosition(place), std::fabs(answer.Value(place) - want), allowed,
                    Waves(params) * FactorOf(params, place.head),
                    [&] { return WitnessOf(answer, place, want); });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"peak", "the bias of distance 0 is the sum of ones, and none is larger", "bias", false,
       CheckPeak},
      {"head_ratio", "head h has 1/h of the first head's bias", "bias", false, CheckHeads},
      SymmetryLaw(),
      TranslationLaw()};
  if (params.first_index == 0) {
    laws.push_back({"gram", "a bias is the inner product of two rows of the sinusoid", "bias",
                    false, CheckGram});
  }
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, int64_t width, int64_t first_index, bool centred,
                       double base) {
    return Params{.attention = attention,
                  .sandwich_width = width,
                  .first_index = first_index,
                  .centred = centred,
                  .base = base};
  };
  return rc::gen::apply(make, AnyAttention(), rc::gen::element<int64_t>(128, 2, 4, 16, 34),
                        rc::gen::element<int64_t>(0, 1), rc::gen::element(false, true),
                        rc::gen::element(10000.0, 100.0, 500000.0, 1.5));
}

}  // namespace posgauge::sandwich
