#pragma once

#include <vector>

#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/law.h"

namespace posgauge {

/// What every kernel of a scheme that acts in attention must do, whatever the scheme: those that
/// these parameters come under.
std::vector<Law> AttentionLaws(const Scheme& scheme);

/// Moving all positions by one number of tokens changes nothing; of schemes that know distances
/// only.
Law TranslationLaw();

/// The scale counts for all that a score is made of; of schemes with scale inverse_sqrt whose
/// scores are scale times a sum.
Law ScaleLaw();

// For laws of a scheme's own.

/// The inputs of a case that the subject's quantity takes.
NamedInputs InputsOf(const Subject& subject, const LawCase& law_case);

/// Where an element of a result stands. `last` is a key or a channel, `query` 0 of slopes, and the
/// row of a position where rows are added.
struct EquationPlace {
  int64_t head = 0, query = 0, last = 0;
};
size_t IndexOf(EquationQuantity quantity, const std::vector<int64_t>& shape, EquationPlace place);
std::vector<EquationPlace> PlacesOf(EquationQuantity quantity, const std::vector<int64_t>& shape);

/// A result of the subject with what it was asked and what its contract allows.
struct EquationAnswer {
  EquationAnswer(const Subject& subject, NamedInputs inputs,
                 Placement placement = Placement::apart);

  EquationQuantity quantity;
  NamedInputs inputs;
  Tensor out;
  std::vector<EquationLimit> limits;

  double Value(EquationPlace place) const { return out.Value(Index(place)); }
  double Limit(EquationPlace place) const { return limits[Index(place)].stored; }
  double Size(EquationPlace place) const { return limits[Index(place)].size; }
  size_t Index(EquationPlace place) const { return IndexOf(quantity, out.shape(), place); }
  double QueryPosition(EquationPlace place) const;
  std::string Text(EquationPlace place) const;
};

/// One element of each: bit for bit, or each within its contract of one number.
void CompareBits(Comparisons& comparisons, const EquationAnswer& got, EquationPlace at,
                 const EquationAnswer& want, EquationPlace of);
void CompareWithin(Comparisons& comparisons, const EquationAnswer& got, EquationPlace at,
                   const EquationAnswer& want, EquationPlace of);

/// Every element of one result within its contract of the same of another.
void CompareAll(Comparisons& comparisons, const EquationAnswer& got, const EquationAnswer& want);

/// The inputs with some positions, queries or keys only, by index; tensors of theirs are cut too.
NamedInputs WithPositions(const NamedInputs& inputs, const std::vector<int64_t>& chosen);
NamedInputs WithQueries(const NamedInputs& inputs, const std::vector<int64_t>& chosen);
NamedInputs WithKeys(const NamedInputs& inputs, const std::vector<int64_t>& chosen);

}  // namespace posgauge
