#include "posgauge/properties/shaw.h"

#include <rapidcheck.h>

#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::shaw {

namespace {

constexpr std::array<const char*, 2> kTables = {"key_table", "value_table"};

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// The same kernel for other parameters.
Subject With(const Subject& subject, const Params& params) {
  if (!subject.info().Serves(params)) throw Unsupported("the kernel does not serve those tables");
  return {subject.info(), params};
}

// The rows of every table, in another order or number: row i comes from row from(i), or is zeros
// where that is negative.
template <class From>
NamedInputs WithTableRows(const NamedInputs& inputs, int64_t rows, const From& from) {
  NamedInputs changed = inputs;
  for (const char* name : kTables) {
    const auto found = changed.tensors.find(name);
    if (found == changed.tensors.end()) continue;
    const ExactTensor before = found->second;
    ExactTensor& table = found->second;
    table = {{before.shape[0], rows, before.shape[2]}, {}};
    for (int64_t head = 0; head < before.shape[0]; ++head) {
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t of = from(row);
        for (int64_t channel = 0; channel < before.shape[2]; ++channel) {
          table.values.push_back(of < 0 ? 0 : before.At(head, of, channel));
        }
      }
    }
  }
  return changed;
}

// Keys farther away than the table reaches are moved to where it ends.
Verdict CheckBeyond(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const NamedInputs all = InputsOf(subject, c);
  const auto end = static_cast<double>(params.clip + (params.outside == Outside::zero ? 1 : 0));
  Comparisons comparisons;
  for (int64_t query = 0; query < all["query_positions"].shape[0]; ++query) {
    const EquationAnswer far(subject, WithQueries(all, {query}));
    const double at = far.inputs["query_positions"].At(0);
    NamedInputs moved = far.inputs;
    for (double& key : moved.tensors.find("key_positions")->second.values) {
      key = at + std::min(std::max(key - at, -end), end);
    }
    const EquationAnswer near(subject, moved);
    CompareAll(comparisons, near, far);
  }
  return comparisons.Take();
}

// The tables reversed, and their rows counted the other way.
Verdict CheckReversal(const Subject& subject, const LawCase& c) {
  Params params = ParamsOf(subject);
  const EquationAnswer before(subject, InputsOf(subject, c));
  params.index =
      params.index == Index::key_minus_query ? Index::query_minus_key : Index::key_minus_query;
  const int64_t rows = 2 * params.clip + 1;
  const EquationAnswer after(
      With(subject, params),
      WithTableRows(before.inputs, rows, [&](int64_t row) { return rows - 1 - row; }));
  Comparisons comparisons;
  CompareAll(comparisons, after, before);
  return comparisons.Take();
}

// A table of twice the reach that goes on as the rule beyond the smaller one says.
Verdict CheckWideTable(const Subject& subject, const LawCase& c) {
  Params params = ParamsOf(subject);
  const int64_t clip = params.clip;
  if (clip > 1 << 12) throw Unsupported("a law of tables that reach 4096 tokens at most");
  const EquationAnswer before(subject, InputsOf(subject, c));
  params.clip = 2 * clip;
  const auto from = [&](int64_t row) {
    const int64_t relative = row - 2 * clip;
    if (params.outside == Outside::zero && std::abs(relative) > clip) return int64_t{-1};
    return std::clamp(relative, -clip, clip) + clip;
  };
  const EquationAnswer after(With(subject, params),
                             WithTableRows(before.inputs, 4 * clip + 1, from));
  Comparisons comparisons;
  CompareAll(comparisons, after, before);
  return comparisons.Take();
}

// Rows that are all one vector c say nothing of position: scores of a query move by scale <q, c>
// against those of zeros, which softmax does not see, and outputs by the c of the values, since
// weights add up to 1.
Verdict CheckConstantTables(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const NamedInputs given = InputsOf(subject, c);
  const int64_t rows = 2 * params.clip + 1;
  const EquationAnswer with(subject, WithTableRows(given, rows, [](int64_t) { return 0; }));
  const EquationAnswer without(subject, WithTableRows(given, rows, [](int64_t) { return -1; }));
  const ExactTensor
      &table = given[with.quantity == EquationQuantity::scores ? "key_table" : "value_table"],
      &q = given["q"];
  const int64_t width = params.attention.head_dim;
  const double scale =
      params.attention.scale == ScoreScale::one ? 1 : 1 / std::sqrt(static_cast<double>(width));
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(with.quantity, with.out.shape())) {
    const int64_t of_head = params.per_head ? place.head : 0;
    double moved = 0, size = 0;
    if (with.quantity == EquationQuantity::scores) {
      for (int64_t channel = 0; channel < width; ++channel) {
        const double product =
            q.At(place.query, place.head, channel) * table.At(of_head, 0, channel) * scale;
        moved += product;
        size += std::fabs(product);
      }
    } else {
      moved = table.At(of_head, 0, place.last);
      size = std::fabs(moved);
    }
    const double got = with.Value(place), want = without.Value(place) + moved;
    if (std::isinf(want)) {
      comparisons.AddExact(with.QueryPosition(place), got == want, [&] {
        return Witness{.where = with.Text(place), .got = HexFloat(got), .want = HexFloat(want)};
      });
      continue;
    }
    // Sum, products and scale of this very law, in binary64.
    const double own =
        (static_cast<double>(width) + 4) * 0x1p-53 * (size + std::fabs(without.Value(place)));
    comparisons.Add(with.QueryPosition(place), std::fabs(got - want),
                    with.Limit(place) + without.Limit(place) + own,
                    std::max(with.Size(place), without.Size(place)), [&] {
                      return Witness{.where = with.Text(place) + ", against tables of zeros",
                                     .got = HexFloat(got),
                                     .want = HexFloat(want)};
                    });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      TranslationLaw(),
      {"beyond", "keys farther away than the table reaches may lie anywhere", "scores attention",
       false, CheckBeyond},
      {"reversal", "reversed tables with the other sign of the index are the same",
       "scores attention", false, CheckReversal},
      {"wide_table", "a longer table that goes on as the clip says is the same", "scores attention",
       false, CheckWideTable},
  };
  if (params.outside == Outside::clip) {
    laws.push_back({"constant_tables",
                    "one vector in all rows moves scores by scale <q, c>, or outputs by c",
                    params.values ? "scores attention" : "scores", false, CheckConstantTables});
  }
  if (params.attention.scale == ScoreScale::inverse_sqrt) laws.push_back(ScaleLaw());
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, int64_t clip, bool values, bool per_head, Index index,
                       Outside outside) {
    return Params{.attention = attention,
                  .clip = clip,
                  .values = values,
                  .per_head = per_head,
                  .index = index,
                  .outside = outside};
  };
  return rc::gen::apply(make, AnyAttention(), rc::gen::element<int64_t>(1, 2, 3, 16),
                        rc::gen::element(true, false), rc::gen::element(false, true),
                        rc::gen::element(Index::key_minus_query, Index::query_minus_key),
                        rc::gen::element(Outside::clip, Outside::zero));
}

}  // namespace posgauge::shaw
