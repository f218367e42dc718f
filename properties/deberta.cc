#include "posgauge/properties/deberta.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/bucket_side.h"
#include "posgauge/properties/distance_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::deberta {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// From the farthest key after the query to the farthest one before it.
Verdict CheckRising(const Subject& subject, const LawCase& c) {
  const BucketSide before(subject, c, false), after(subject, c, true);
  const auto last = static_cast<double>(2 * ParamsOf(subject).Span() - 1);
  Comparisons comparisons;
  for (size_t i = 0; i < before.buckets.size(); ++i) {
    const double least = i == 0 ? after.buckets[0] : before.buckets[i - 1];
    before.Hold(comparisons, i, before.buckets[i] >= least && before.buckets[i] <= last,
                fmt::format("in {}..{}", least, last));
    const double most = i == 0 ? before.buckets[0] : after.buckets[i - 1];
    after.Hold(comparisons, i, after.buckets[i] <= most && after.buckets[i] >= 0,
               fmt::format("in 0..{}", most));
  }
  return comparisons.Take();
}

Verdict CheckExact(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const auto exact = static_cast<double>(params.position_buckets > 0 ? params.position_buckets / 2
                                                                     : params.max_position - 1);
  const auto span = static_cast<double>(params.Span());
  Comparisons comparisons;
  for (const bool after : {false, true}) {
    const BucketSide side(subject, c, after);
    for (size_t i = 0; i < side.buckets.size() && side.distances[i] <= exact; ++i) {
      const double want = span + (after ? -side.distances[i] : side.distances[i]);
      side.Hold(comparisons, i, side.buckets[i] == want, fmt::format("{}", want));
    }
  }
  return comparisons.Take();
}

// Every distance where a row starts and the one before it: where the logarithm is a whole number of
// steps, one that is an ulp high takes the next row.
Verdict CheckThresholds(const Subject& subject, const LawCase& c) {
  const std::vector<double> first = FirstDistances(subject);
  const auto span = static_cast<double>(ParamsOf(subject).Span());
  Comparisons comparisons;
  for (const bool after : {false, true}) {
    const BucketSide side(subject, c, after);
    for (size_t i = 0; i < side.buckets.size(); ++i) {
      const auto above = std::ranges::upper_bound(first, side.distances[i]);
      const auto beside = static_cast<double>(above - first.begin() - 1);
      const double want = std::clamp(after ? span - beside : span + beside, 0.0, 2 * span - 1);
      side.Hold(comparisons, i, side.buckets[i] == want, fmt::format("{}", want));
    }
  }
  return comparisons.Take();
}

// b is odd: the rows of a distance on both sides are as far from that of distance 0, but for the
// last one before the query, which the clamp to 2 span - 1 shares with the one below.
Verdict CheckSides(const Subject& subject, const LawCase& c) {
  const auto span = static_cast<double>(ParamsOf(subject).Span());
  const BucketSide before(subject, c, false), after(subject, c, true);
  Comparisons comparisons;
  for (size_t i = 0; i < after.buckets.size(); ++i) {
    const double want = std::min(2 * span - after.buckets[i], 2 * span - 1);
    before.Hold(comparisons, i, before.buckets[i] == want, fmt::format("{}", want));
  }
  return comparisons.Take();
}

// The same inputs with every table changed by change(name, table).
template <class Change>
NamedInputs WithTables(const NamedInputs& inputs, const Change& change) {
  NamedInputs changed = inputs;
  for (const char* name : {"position_keys", "position_queries"}) {
    const auto found = changed.tensors.find(name);
    if (found != changed.tensors.end()) change(name, found->second);
  }
  return changed;
}

NamedInputs WithTablesTimes(const NamedInputs& inputs, double factor) {
  return WithTables(inputs, [&](const char*, ExactTensor& table) {
    for (double& value : table.values) value *= factor;
  });
}

// Tables of zeros leave <q, k>/sqrt(terms head_dim).
Verdict CheckContent(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const EquationAnswer answer(subject, WithTablesTimes(InputsOf(subject, c), 0));
  NamedInputs plain = answer.inputs;
  for (const char* name : {"position_keys", "position_queries"}) plain.tensors.erase(name);
  none::Params none{.attention = params.attention};
  none.attention.scale = ScoreScale::one;
  const EnclosedEach dots = ExactEquations(Scheme(none)).Enclose(answer.quantity, plain);
  const double root =
      params.attention.scale == ScoreScale::one
          ? 1
          : std::sqrt(static_cast<double>(params.Terms() * params.attention.head_dim));
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const double want = dots.values[answer.Index(place)].high / root, got = answer.Value(place);
    const auto describe = [&] {
      return Witness{.where = answer.Text(place), .got = HexFloat(got), .want = HexFloat(want)};
    };
    if (std::isinf(want)) {
      comparisons.AddExact(answer.QueryPosition(place), got == want, describe);
      continue;
    }
    // The root, the quotient and the sum's own rounding, in binary64.
    const double own = 4 * 0x1p-53 * std::fabs(want) + dots.radii[answer.Index(place)];
    comparisons.Add(answer.QueryPosition(place), std::fabs(got - want), answer.Limit(place) + own,
                    answer.Size(place), describe);
  }
  return comparisons.Take();
}

// s(2 P) + s(0) = 2 s(P).
Verdict CheckLinear(const Subject& subject, const LawCase& c) {
  const NamedInputs inputs = InputsOf(subject, c);
  const EquationAnswer once(subject, inputs), twice(subject, WithTablesTimes(inputs, 2)),
      never(subject, WithTablesTimes(inputs, 0));
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(once.quantity, once.out.shape())) {
    const double got = twice.Value(place) + never.Value(place), want = 2 * once.Value(place);
    const auto describe = [&] {
      return Witness{.where = once.Text(place) + ", tables doubled plus tables of zeros",
                     .got = HexFloat(got),
                     .want = HexFloat(want)};
    };
    if (std::isinf(want)) {
      comparisons.AddExact(once.QueryPosition(place), got == want, describe);
      continue;
    }
    const double own = 0x1p-52 * (std::fabs(got) + std::fabs(want));
    comparisons.Add(once.QueryPosition(place), std::fabs(got - want),
                    twice.Limit(place) + never.Limit(place) + 2 * once.Limit(place) + own,
                    std::max(twice.Size(place), 2 * once.Size(place)), describe);
  }
  return comparisons.Take();
}

// Keys' rows reversed, and their positions too. Rows 0 and 1 of the one are as the last of the
// other, since the clamp has no opposite of row 0.
Verdict CheckReversal(const Subject& subject, const LawCase& c) {
  Params other = ParamsOf(subject);
  other.p2c_index = other.p2c_index == P2cIndex::same ? P2cIndex::reversed : P2cIndex::same;
  if (!subject.info().Serves(other)) throw Unsupported("the kernel does not serve that index");
  const auto with_rows = [&](const NamedInputs& inputs, const auto& from) {
    return WithTables(inputs, [&](std::string_view name, ExactTensor& table) {
      if (name != "position_queries") return;
      const ExactTensor before = table;
      const int64_t rows = table.shape[1], width = table.shape[2];
      for (size_t i = 0; i < table.values.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        table.values[i] = before.At(at / (rows * width), from(at / width % rows, rows), at % width);
      }
    });
  };
  const NamedInputs inputs =
      with_rows(InputsOf(subject, c), [](int64_t row, int64_t) { return row == 0 ? 1 : row; });
  const EquationAnswer plain(subject, inputs);
  const EquationAnswer reversed(Subject(subject.info(), other),
                                with_rows(inputs, [](int64_t row, int64_t rows) {
                                  return row == 0 ? rows - 1 : rows - row;
                                }));
  Comparisons comparisons;
  CompareAll(comparisons, reversed, plain);
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"rising", "rows never fall as the key moves back from after the query, and all are in range",
       "buckets", true, CheckRising},
      {"exact_distances", "the first distances to either side have a row each", "buckets", true,
       CheckExact},
      {"thresholds", "a row begins where powers of whole numbers say, ties included", "buckets",
       true, CheckThresholds},
      {"sides", "a distance's rows before and after the query are as far from that of distance 0",
       "buckets", true, CheckSides},
      {"content", "tables of zeros leave <q, k>/sqrt(terms head_dim)", "scores", false,
       CheckContent}};
  if (params.c2p || params.p2c) {
    laws.push_back({"linear", "scores are linear in the tables", "scores", false, CheckLinear});
  }
  if (params.p2c) {
    laws.push_back({"reversal", "keys' rows reversed, read by the other index, give the same",
                    "scores", false, CheckReversal});
  }
  laws.push_back(TranslationLaw());
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, int64_t buckets, int64_t stretch, bool c2p, bool p2c,
                       bool reversed, bool clamp) {
    Params params{.attention = attention,
                  .position_buckets = buckets,
                  .max_position = buckets / 2 + 1 + stretch,
                  .c2p = c2p,
                  .p2c = p2c};
    if (reversed) params.p2c_index = P2cIndex::reversed;
    if (!clamp) params.far = Far::bucket;
    if (buckets == 0) params.max_position = std::min<int64_t>(params.max_position, 256);
    return params;
  };
  return rc::gen::apply(make, AnyAttention(), rc::gen::element<int64_t>(32, 4, 6, 48, 64, 0),
                        rc::gen::element<int64_t>(111, 1, 2, 15, 256, 1000, 65536),
                        rc::gen::element(true, true, false), rc::gen::element(true, true, false),
                        rc::gen::arbitrary<bool>(), rc::gen::arbitrary<bool>());
}

}  // namespace posgauge::deberta
