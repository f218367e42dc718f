#include "posgauge/properties/rope_scores.h"

#include <cmath>

#include "posgauge/reference/exact_rotation.h"
#include "posgauge/schemes/rope.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge {

void CompareWithRope(Comparisons& comparisons, const Attention& attention,
                     const EquationAnswer& answer, const RopeScores& rope) {
  const ExactRotation exact(Scheme(rope::Params{.rotary = rope.turning.Of(attention)}));
  const NamedInputs& in = answer.inputs;
  const std::vector<double> products =
      exact
          .Scores(in["query_positions"].values, in["key_positions"].values, in["q"].values,
                  in["k"].values, attention.heads, 1, Dtype::f64)
          .values;
  const double root =
      attention.scale == ScoreScale::one ? 1 : std::sqrt(static_cast<double>(attention.head_dim));
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const double query = in["query_positions"].At(place.query);
    const double key = in["key_positions"].At(place.last);
    if (!attention.Visible(query, key) || !rope.where(query, key)) continue;
    const double got = answer.Value(place);
    const double want = products[answer.Index(place)] * rope.factor(query) / root;
    // The product's rounding, the root's, and those of a product and a quotient, in binary64.
    const double own = (4 * 0x1p-53 + rope.factor_error) * std::fabs(want) + 0x1p-1074;
    comparisons.Add(query, std::fabs(got - want), answer.Limit(place) + own, answer.Size(place),
                    [&] {
                      return Witness{.where = answer.Text(place) + ", against RoPE",
                                     .got = HexFloat(got),
                                     .want = HexFloat(want)};
                    });
  }
}

}  // namespace posgauge
