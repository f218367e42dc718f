#include "posgauge/properties/sincos2d.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::sincos2d {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// The rows of these positions; `inputs` give embeddings, one for every row, where x is taken.
EquationAnswer AnswerAt(const Subject& subject, const LawCase& c,
                        const std::vector<double>& positions) {
  std::vector<int64_t> same(positions.size(), 0);
  NamedInputs inputs = WithPositions(InputsOf(subject, c), same);
  inputs.tensors.find("positions")->second.values = positions;
  return {subject, inputs};
}

// Half `half` of row `i` against half `of_half` of row `j`.
void CompareHalves(Comparisons& comparisons, const EquationAnswer& got, int64_t i, int64_t half,
                   const EquationAnswer& want, int64_t j, int64_t of_half) {
  const int64_t width = got.out.shape()[1] / 2;
  for (int64_t channel = 0; channel < width; ++channel) {
    CompareWithin(comparisons, got, {0, i, half * width + channel}, want,
                  {0, j, of_half * width + channel});
  }
}

// Patches of one column share the column's half, those of one row the row's.
Verdict CheckAxes(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const auto at = [&](int64_t row, int64_t column) {
    return static_cast<double>(params.prefix + row * params.grid_w + column);
  };
  const auto row = static_cast<int64_t>(c.seed % static_cast<uint64_t>(params.grid_h));
  const auto column = static_cast<int64_t>(c.seed / 7 % static_cast<uint64_t>(params.grid_w));
  const EquationAnswer rows = AnswerAt(
      subject, c,
      {at(row, column), at(params.grid_h - 1, column), at(row, params.grid_w - 1), at(0, column)});
  const int64_t of_column = params.first_axis == FirstAxis::column ? 0 : 1;
  Comparisons comparisons;
  CompareHalves(comparisons, rows, 1, of_column, rows, 0, of_column);
  CompareHalves(comparisons, rows, 3, of_column, rows, 0, of_column);
  CompareHalves(comparisons, rows, 2, 1 - of_column, rows, 0, 1 - of_column);
  return comparisons.Take();
}

// With the other axis first the halves change places.
Verdict CheckSwap(const Subject& subject, const LawCase& c) {
  Params other = ParamsOf(subject);
  other.first_axis = other.first_axis == FirstAxis::column ? FirstAxis::row : FirstAxis::column;
  const EquationAnswer own(subject, InputsOf(subject, c));
  const EquationAnswer swapped(Subject(subject.info(), other), own.inputs);
  Comparisons comparisons;
  for (int64_t row = 0; row < own.out.shape()[0]; ++row) {
    CompareHalves(comparisons, swapped, row, 0, own, row, 1);
    CompareHalves(comparisons, swapped, row, 1, own, row, 0);
  }
  return comparisons.Take();
}

// sin^2 + cos^2 = 1: off by 2 (|s| e_s + |c| e_c) + e_s^2 + e_c^2 at most, computed in doubles.
Verdict CheckUnit(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const EquationAnswer rows(subject, InputsOf(subject, c));
  const int64_t waves = params.AxisWaves();
  Comparisons comparisons;
  for (int64_t row = 0; row < rows.out.shape()[0]; ++row) {
    const double position = rows.QueryPosition({0, row, 0});
    if (position < static_cast<double>(params.prefix)) continue;
    for (int64_t wave = 0; wave < 2 * waves; ++wave) {
      const EquationPlace sine{0, row, wave / waves * 2 * waves + wave % waves};
      EquationPlace cosine = sine;
      cosine.last += waves;
      const double s = rows.Value(sine), k = rows.Value(cosine);
      const double e = rows.Limit(sine), f = rows.Limit(cosine);
      const double allowed = 2 * (std::fabs(s) + e) * e + 2 * (std::fabs(k) + f) * f + 0x1p-51;
      comparisons.Add(position, std::fabs(s * s + k * k - 1), allowed, 1, [&] {
        return Witness{.where = rows.Text(sine) + " and its cosine",
                       .got = HexFloat(s * s + k * k),
                       .want = "1"};
      });
    }
  }
  return comparisons.Take();
}

// The prefix and the first patch, whose sines are 0 and whose cosines 1.
Verdict CheckOrigin(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  std::vector<double> positions;
  for (int64_t row = 0; row <= params.prefix; ++row) positions.push_back(static_cast<double>(row));
  const EquationAnswer rows = AnswerAt(subject, c, positions);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(rows.quantity, rows.out.shape())) {
    const bool cosine = place.last / params.AxisWaves() % 2 == 1;
    const double want = place.query == params.prefix && cosine ? 1 : 0;
    comparisons.AddExact(rows.QueryPosition(place), rows.Value(place) == want, [&] {
      return Witness{
          .where = rows.Text(place), .got = HexFloat(rows.Value(place)), .want = HexFloat(want)};
    });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {
      {"axes", "patches of one column share its half of the channels, those of one row theirs",
       "table", false, CheckAxes},
      {"swap", "with the other axis first the halves change places", "table", false, CheckSwap},
      {"unit", "the squares of a sine and its cosine add up to 1", "table", false, CheckUnit},
      {"origin", "the prefix is zeros, and the first patch zeros and ones", "table", true,
       CheckOrigin},
  };
}

rc::Gen<Params> AnyParams() {
  const auto make = [](int64_t quarter, int64_t h, int64_t w, FirstAxis first, int64_t prefix,
                       int64_t base_size, double scale) {
    Params params{.width = 4 * quarter,
                  .grid_h = h,
                  .grid_w = w,
                  .first_axis = first,
                  .prefix = prefix,
                  .interpolation_scale = scale};
    if (base_size > 0) params.base_size = base_size;
    return params;
  };
  return rc::gen::apply(make, rc::gen::element<int64_t>(1, 2, 3, 8, 17),
                        rc::gen::inRange<int64_t>(1, 20), rc::gen::inRange<int64_t>(1, 20),
                        rc::gen::element(FirstAxis::column, FirstAxis::row),
                        rc::gen::inRange<int64_t>(0, 3), rc::gen::element<int64_t>(0, 16, 7),
                        rc::gen::element(1.0, 2.0, 0.3));
}

}  // namespace posgauge::sincos2d
