#include "posgauge/properties/row_laws.h"

#include <algorithm>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/comparisons.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge {

namespace {

constexpr const char* kRows = "table embed";

// Element by element, row `of` of `want` for each row of `got`.
void CompareRows(Comparisons& comparisons, bool bits, const EquationAnswer& got,
                 const EquationAnswer& want, const std::vector<int64_t>& of) {
  for (EquationPlace place : PlacesOf(got.quantity, got.out.shape())) {
    EquationPlace other = place;
    other.query = of[static_cast<size_t>(place.query)];
    if (bits) {
      CompareBits(comparisons, got, place, want, other);
    } else {
      CompareWithin(comparisons, got, place, want, other);
    }
  }
}

std::vector<int64_t> AllOf(const EquationAnswer& answer) {
  std::vector<int64_t> all;
  for (int64_t row = 0; row < answer.out.shape()[0]; ++row) all.push_back(row);
  return all;
}

Verdict CheckDeterminism(const Subject& subject, const LawCase& c) {
  const EquationAnswer once(subject, InputsOf(subject, c)), again(subject, once.inputs);
  Comparisons comparisons;
  CompareRows(comparisons, true, again, once, AllOf(once));
  return comparisons.Take();
}

// A row alone, and among the others in another order.
Verdict CheckRows(const Subject& subject, const LawCase& c) {
  const EquationAnswer whole(subject, InputsOf(subject, c));
  const bool bits = subject.info().Declares("chunking");
  Comparisons comparisons;
  std::vector<int64_t> order = AllOf(whole);
  std::ranges::reverse(order);
  const auto compare = [&](const std::vector<int64_t>& chosen) {
    const EquationAnswer part(subject, WithPositions(whole.inputs, chosen));
    CompareRows(comparisons, bits, part, whole, chosen);
  };
  compare(order);
  for (int64_t row : order) compare({row});
  return comparisons.Take();
}

Verdict ComparePlacement(const Subject& subject, const LawCase& c, Placement placement) {
  const EquationAnswer apart(subject, InputsOf(subject, c));
  const EquationAnswer placed(subject, apart.inputs, placement);
  const bool bits = placement == Placement::in_place || subject.info().Declares("alignment");
  Comparisons comparisons;
  CompareRows(comparisons, bits, placed, apart, AllOf(apart));
  return comparisons.Take();
}

Verdict CheckInPlace(const Subject& subject, const LawCase& c) {
  return ComparePlacement(subject, c, Placement::in_place);
}

Verdict CheckStrides(const Subject& subject, const LawCase& c) {
  return CheckPlacements(
      [&](Placement placement) { return ComparePlacement(subject, c, placement); });
}

Verdict CheckZeroWeights(const Subject& subject, const LawCase& c) {
  NamedInputs inputs = InputsOf(subject, c);
  for (const Weight& weight : WeightsOf(subject.scheme())) {
    std::ranges::fill(inputs.tensors.find(weight.name)->second.values, 0);
  }
  const EquationAnswer answer(subject, inputs);
  const bool embeds = answer.quantity == EquationQuantity::embed;
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const double want = embeds ? answer.inputs["x"].values[answer.Index(place)] : 0;
    comparisons.AddExact(answer.QueryPosition(place), answer.Value(place) == want, [&] {
      return Witness{.where = answer.Text(place),
                     .got = HexFloat(answer.Value(place)),
                     .want = HexFloat(want)};
    });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> RowLaws(const Scheme& scheme) {
  std::vector<Law> laws = {
      {"determinism", "two identical runs give identical bits", kRows, false, CheckDeterminism},
      {"rows", "a row does not depend on what else is asked for, nor on the order", kRows, false,
       CheckRows},
      {"in_place", "writing over x gives what writing apart gives", "embed", false, CheckInPlace},
      {"strides", "gaps between rows and odd addresses change nothing", "embed", false,
       CheckStrides},
  };
  const bool own_content =
      std::visit([]<class Params>(const Params&) { return HasOwnContent<Params>; }, scheme);
  if (!WeightsOf(scheme).empty() && !own_content) {
    laws.push_back(
        {"zero_weights", "a table of zeros adds nothing", kRows, false, CheckZeroWeights});
  }
  return laws;
}

}  // namespace posgauge
