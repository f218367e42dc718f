#include "posgauge/properties/cape.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/pairs.h"
#include "posgauge/reference/exact_addition.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::cape {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

std::vector<double>& ValuesOf(NamedInputs& inputs, std::string_view name) {
  return inputs.tensors.find(name)->second.values;
}

size_t ShiftAt(double position) { return static_cast<size_t>(position); }

// The rows of the same kernel for other parameters.
EquationAnswer With(const Subject& subject, const Params& params, const NamedInputs& inputs) {
  return {Subject(subject.info(), params), inputs};
}

// Not augmented, but for the frequencies.
Params Plain(const Params& params) {
  return {.width = params.width,
          .length = params.length,
          .frequency_scale = params.frequency_scale,
          .base = params.base};
}

NamedInputs WithoutLocalShifts(NamedInputs inputs) {
  std::ranges::fill(ValuesOf(inputs, "local_shift"), 0);
  return inputs;
}

// Of both channels of a pair.
double PairLimit(const EquationAnswer& rows, EquationPlace sine) {
  EquationPlace cosine = sine;
  ++cosine.last;
  return std::hypot(rows.Limit(sine), rows.Limit(cosine)) * (1 + 0x1p-50);
}

PairValue PairAt(const EquationAnswer& rows, EquationPlace sine) {
  EquationPlace cosine = sine;
  ++cosine.last;
  return {rows.Value(cosine), rows.Value(sine)};
}

// Calls visit(place of the sine) for every pair.
template <class Visit>
void ForEachPairOf(const EquationAnswer& rows, const Visit& visit) {
  for (int64_t row = 0; row < rows.out.shape()[0]; ++row) {
    for (int64_t channel = 0; channel + 1 < rows.out.shape()[1]; channel += 2) {
      visit(EquationPlace{0, row, channel});
    }
  }
}

Verdict CheckSinusoidal(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const EquationAnswer rows =
      With(subject, Plain(params), WithoutLocalShifts(InputsOf(subject, c)));
  const ExactAddition sinusoidal(Scheme(
      sinusoidal::Params{.width = params.width,
                         .odd_width = params.width % 2 == 1 ? sinusoidal::OddWidth::extra_sine
                                                            : sinusoidal::OddWidth::refuse,
                         .base = params.base,
                         .scale = params.frequency_scale}));
  const EnclosedRows truth = sinusoidal.EncloseRows(rows.inputs["positions"].values);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(rows.quantity, rows.out.shape())) {
    const DoubleDouble want = truth.values[rows.Index(place)];
    const double got = rows.Value(place);
    // The difference and the bound are each rounded.
    const double error = std::fabs((got - want.high) - want.low) * (1 - 0x1p-50);
    comparisons.Add(rows.QueryPosition(place), error, rows.Limit(place) + truth.radius, 1, [&] {
      return Witness{.where = rows.Text(place), .got = HexFloat(got), .want = HexFloat(want.high)};
    });
  }
  return comparisons.Take();
}

// Two rows z of one pair, z' where the global shift is another: z' conj(z) is the turn between
// them, off by b' + b + b b' at most, whatever the frequencies.
Verdict CheckTurn(const Subject& subject, const LawCase& c) {
  Params moved = ParamsOf(subject);
  const double by = std::ldexp(1.0, static_cast<int>(c.seed % 5) - 2);
  moved.global_shift += moved.global_shift > 0 ? -by : by;
  const EquationAnswer before(subject, InputsOf(subject, c));
  const EquationAnswer after = With(subject, moved, before.inputs);
  const auto turn = [&](EquationPlace place) -> PairValue {
    const PairValue z = PairAt(before, place), w = PairAt(after, place);
    return {w.u * z.u + w.v * z.v, w.v * z.u - w.u * z.v};
  };
  const auto limit = [&](EquationPlace place) {
    const double b = PairLimit(before, place), d = PairLimit(after, place);
    return b + d + b * d + 0x1p-50;  // and four roundings of numbers about 1
  };
  Comparisons comparisons;
  ForEachPairOf(before, [&](EquationPlace place) {
    if (place.query == 0) return;
    EquationPlace first = place;
    first.query = 0;
    const PairValue got = turn(place), want = turn(first);
    comparisons.Add(before.QueryPosition(place), std::hypot(got.u - want.u, got.v - want.v),
                    limit(place) + limit(first), 1, [&] {
                      return Witness{.where = before.Text(place) + " and its cosine, moved by " +
                                              HexFloat(moved.global_shift),
                                     .got = fmt::format("{:.17g}, {:.17g}", got.u, got.v),
                                     .want = fmt::format("{:.17g}, {:.17g}", want.u, want.v)};
                    });
  });
  return comparisons.Take();
}

// sin^2 + cos^2 = 1: within 2 b + b^2, and what is computed in doubles.
Verdict CheckUnit(const Subject& subject, const LawCase& c) {
  const EquationAnswer rows(subject, InputsOf(subject, c));
  Comparisons comparisons;
  ForEachPairOf(rows, [&](EquationPlace place) {
    const PairValue z = PairAt(rows, place);
    const double b = PairLimit(rows, place), square = z.u * z.u + z.v * z.v;
    comparisons.Add(
        rows.QueryPosition(place), std::fabs(square - 1), 2 * b + b * b + 0x1p-51, 1, [&] {
          return Witness{
              .where = rows.Text(place) + " and its cosine", .got = HexFloat(square), .want = "1"};
        });
  });
  return comparisons.Take();
}

// Everything that is added up to a position half as large or twice, the frequencies the other way.
Verdict CheckRescaled(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const bool halves =
      params.frequency_scale * 2 <= kLargestScale && params.position_scale / 2 >= kSmallestScale;
  const double by = halves ? 0.5 : 2;
  Params other = params;
  for (double* length : {&other.position_scale, &other.mean, &other.global_shift}) *length *= by;
  other.frequency_scale /= by;
  const EquationAnswer own(subject, InputsOf(subject, c));
  NamedInputs inputs = own.inputs;
  for (double& shift : ValuesOf(inputs, "local_shift")) {
    shift *= by;
    if (RoundTo(FormatOf(subject.io()), shift) != shift) throw Unsupported("a shift has no half");
  }
  Comparisons comparisons;
  CompareAll(comparisons, With(subject, other, inputs), own);
  return comparisons.Take();
}

// One number as a global shift, as a mean the other way, and as the local shift of all that is
// asked for.
Verdict CheckShifts(const Subject& subject, const LawCase& c) {
  const double by = std::ldexp(c.seed % 2 == 0 ? 1.0 : -1.0, static_cast<int>(c.seed / 2 % 4) - 2);
  Params still = ParamsOf(subject);
  still.mean = still.global_shift = 0;
  Params shifted = still, centred = still;
  shifted.global_shift = by;
  centred.mean = -by;
  const NamedInputs none = WithoutLocalShifts(InputsOf(subject, c));
  NamedInputs local = InputsOf(subject, c);  // neighbours keep theirs
  for (double position : local["positions"].values) {
    ValuesOf(local, "local_shift")[ShiftAt(position)] = by;
  }
  const EquationAnswer want = With(subject, shifted, none);
  Comparisons comparisons;
  CompareAll(comparisons, With(subject, centred, none), want);
  CompareAll(comparisons, With(subject, still, local), want);
  return comparisons.Take();
}

Verdict CheckLocal(const Subject& subject, const LawCase& c) {
  const EquationAnswer before(subject, InputsOf(subject, c));
  NamedInputs inputs = before.inputs;
  const double moved = inputs["positions"].At(0);
  double& shift = ValuesOf(inputs, "local_shift")[ShiftAt(moved)];
  shift = shift == 0.5 ? -0.5 : 0.5;
  const EquationAnswer after(subject, inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(before.quantity, before.out.shape())) {
    if (before.QueryPosition(place) != moved) CompareBits(comparisons, after, place, before, place);
  }
  return comparisons.Take();
}

// The mean is where the token stands, and nothing moves it.
Verdict CheckOrigin(const Subject& subject, const LawCase& c) {
  Params params = ParamsOf(subject);
  NamedInputs inputs = WithPositions(WithoutLocalShifts(InputsOf(subject, c)), {0});
  double& position = ValuesOf(inputs, "positions")[0];
  params.mean = params.position_scale * position;
  if (std::fma(params.position_scale, position, -params.mean) != 0) params.mean = position = 0;
  params.global_shift = 0;
  const EquationAnswer rows = With(subject, params, inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(rows.quantity, rows.out.shape())) {
    const double want = static_cast<double>(place.last % 2), got = rows.Value(place);
    comparisons.AddExact(position, got == want, [&] {
      return Witness{.where = rows.Text(place), .got = HexFloat(got), .want = HexFloat(want)};
    });
  }
  return comparisons.Take();
}

// One position beyond either end.
Verdict CheckRefusal(const Subject& subject, const LawCase& c) {
  NamedInputs inputs = WithPositions(InputsOf(subject, c), {0});
  Comparisons comparisons;
  for (double position : {-1.0, static_cast<double>(ParamsOf(subject).length)}) {
    ValuesOf(inputs, "positions")[0] = position;
    bool refused = false;
    try {
      subject.Evaluate(inputs);
    } catch (const Unsupported&) {
      refused = true;
    } catch (const KernelFailure&) {
      refused = true;
    }
    comparisons.AddExact(position, refused, [&] {
      return Witness{
          .where = "a position that has no local shift", .got = "a row", .want = "an error"};
    });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"shifts", "a global shift, a mean the other way and the same local shifts are one", "table",
       false, CheckShifts},
      {"local", "the local shift of one token moves no other row", "table embed", false,
       CheckLocal},
      {"rescaled", "positions half as far apart at twice the frequencies are the same", "table",
       false, CheckRescaled},
      {"origin", "where the mean is, sines are 0 and cosines 1", "table", false, CheckOrigin},
      {"refusal", "a position without a local shift is refused", "table embed", false,
       CheckRefusal},
  };
  if (params.width == 1) return laws;
  laws.push_back({"sinusoidal", "rows that are not augmented are those of sinusoidal", "table",
                  false, CheckSinusoidal});
  laws.push_back({"turn", "a global shift turns every pair by one angle, wherever its row stands",
                  "table", false, CheckTurn});
  laws.push_back(
      {"unit", "the squares of a sine and its cosine add up to 1", "table", false, CheckUnit});
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](int64_t width, int64_t length, double position_scale, double mean,
                       double global_shift, double log_scale, double frequency_scale, double base) {
    return Params{.width = width,
                  .length = length,
                  .position_scale = position_scale,
                  .mean = mean,
                  .global_shift = global_shift,
                  .log_scale = log_scale,
                  .frequency_scale = frequency_scale,
                  .base = base};
  };
  return rc::gen::apply(make, rc::gen::element<int64_t>(4, 2, 1, 3, 16, 33, 64),
                        rc::gen::inRange<int64_t>(1, 60), rc::gen::element(1.0, 2.0, 0.03),
                        rc::gen::element(0.0, 15.5, -0.3), rc::gen::element(0.0, 5.0, -12.7),
                        rc::gen::element(0.0, 0.1, -0.33), rc::gen::element(1.0, 30.0, 0.7),
                        rc::gen::element(10000.0, 100.0, 1.0));
}

}  // namespace posgauge::cape
