#include "posgauge/properties/attention_laws.h"

#include <algorithm>
#include <cmath>

#include "posgauge/verify/hex_float.h"

namespace posgauge {

namespace {

constexpr const char* kAllQuantities = "slopes buckets bias scores attention";
constexpr const char* kOfPositions = "buckets bias scores attention";

// Rows of the first axis of one tensor.
ExactTensor RowsOf(const ExactTensor& tensor, const std::vector<int64_t>& chosen) {
  ExactTensor rows{tensor.shape, {}};
  rows.shape[0] = static_cast<int64_t>(chosen.size());
  const size_t length =
      tensor.shape[0] == 0 ? 0 : tensor.values.size() / static_cast<size_t>(tensor.shape[0]);
  for (int64_t row : chosen) {
    const auto begin =
        tensor.values.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(row) * length);
    rows.values.insert(rows.values.end(), begin, begin + static_cast<std::ptrdiff_t>(length));
  }
  return rows;
}

NamedInputs WithRows(const NamedInputs& inputs, std::initializer_list<std::string_view> names,
                     const std::vector<int64_t>& chosen) {
  NamedInputs some = inputs;
  for (std::string_view name : names) {
    const auto found = some.tensors.find(name);
    if (found != some.tensors.end()) found->second = RowsOf(found->second, chosen);
  }
  return some;
}

std::vector<int64_t> AllUpTo(int64_t count) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

int64_t Queries(const NamedInputs& inputs) { return inputs["query_positions"].shape[0]; }
int64_t Keys(const NamedInputs& inputs) { return inputs["key_positions"].shape[0]; }

bool Sees(const Subject& subject, const NamedInputs& inputs, int64_t query, int64_t key) {
  return AttentionOf(subject.scheme())
      .Visible(inputs["query_positions"].At(query), inputs["key_positions"].At(key));
}

// Whether `last` of a place is a key.
bool ByKey(EquationQuantity quantity) {
  return quantity == EquationQuantity::buckets || quantity == EquationQuantity::bias ||
         quantity == EquationQuantity::scores;
}

// A result whose promise may be of bits.
void Compare(Comparisons& comparisons, bool bits, const EquationAnswer& got, EquationPlace at,
             const EquationAnswer& want, EquationPlace of) {
  if (bits) {
    CompareBits(comparisons, got, at, want, of);
  } else {
    CompareWithin(comparisons, got, at, want, of);
  }
}

Verdict CheckDeterminism(const Subject& subject, const LawCase& c) {
  const EquationAnswer once(subject, InputsOf(subject, c)), again(subject, once.inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(once.quantity, once.out.shape())) {
    CompareBits(comparisons, again, place, once, place);
  }
  return comparisons.Take();
}

// A query alone, as a step of decoding asks for it, and among the others in another order.
Verdict CheckRows(const Subject& subject, const LawCase& c) {
  const EquationAnswer whole(subject, InputsOf(subject, c));
  const bool bits = subject.info().Declares("chunking");
  Comparisons comparisons;
  const auto compare = [&](const std::vector<int64_t>& chosen) {
    const EquationAnswer part(subject, WithQueries(whole.inputs, chosen));
    for (EquationPlace place : PlacesOf(part.quantity, part.out.shape())) {
      EquationPlace of = place;
      of.query = chosen[static_cast<size_t>(place.query)];
      Compare(comparisons, bits, part, place, whole, of);
    }
  };
  std::vector<int64_t> reversed = AllUpTo(Queries(whole.inputs));
  std::ranges::reverse(reversed);
  compare(reversed);
  for (int64_t query : reversed) compare({query});
  return comparisons.Take();
}

// The keys that a query does not see may be left out; the last one is kept, as a scheme may count
// from there.
Verdict CheckPrefix(const Subject& subject, const LawCase& c) {
  const EquationAnswer whole(subject, InputsOf(subject, c));
  Comparisons comparisons;
  const int64_t keys = Keys(whole.inputs);
  for (int64_t query = 0; query < Queries(whole.inputs); ++query) {
    std::vector<int64_t> kept;
    for (int64_t key = 0; key < keys; ++key) {
      if (Sees(subject, whole.inputs, query, key) || key + 1 == keys) kept.push_back(key);
    }
    const EquationAnswer part(subject, WithKeys(WithQueries(whole.inputs, {query}), kept));
    for (EquationPlace place : PlacesOf(part.quantity, part.out.shape())) {
      EquationPlace of = place;
      of.query = query;
      if (ByKey(part.quantity)) of.last = kept[static_cast<size_t>(place.last)];
      CompareWithin(comparisons, part, place, whole, of);
    }
  }
  return comparisons.Take();
}

// NaN where a query does not see.
Verdict CheckMaskedLast(const Subject& subject, const LawCase& c) {
  const NamedInputs all = InputsOf(subject, c);
  Comparisons comparisons;
  for (int64_t query = 0; query < Queries(all); ++query) {
    const EquationAnswer clean(subject, WithQueries(all, {query}));
    NamedInputs poisoned = clean.inputs;
    for (const char* name : {"k", "v"}) {
      const auto found = poisoned.tensors.find(name);
      if (found == poisoned.tensors.end()) continue;
      ExactTensor& tensor = found->second;
      const size_t length = tensor.values.size() / static_cast<size_t>(tensor.shape[0]);
      for (size_t i = 0; i < tensor.values.size(); ++i) {
        if (!Sees(subject, all, query, static_cast<int64_t>(i / length))) {
          tensor.values[i] = std::nan("");
        }
      }
    }
    const Tensor out = subject.Evaluate(poisoned);
    for (EquationPlace place : PlacesOf(clean.quantity, out.shape())) {
      const bool masked =
          clean.quantity == EquationQuantity::scores && !Sees(subject, all, query, place.last);
      const size_t i = clean.Index(place);
      const bool holds = masked ? out.Value(i) == -HUGE_VAL : out.Bits(i) == clean.out.Bits(i);
      comparisons.AddExact(clean.QueryPosition(place), holds, [&] {
        return Witness{.where = clean.Text(place) + ", with NaN in keys and values out of sight",
                       .got = HexFloat(out.Value(i)),
                       .want = masked ? "-inf" : HexFloat(clean.Value(place))};
      });
    }
  }
  return comparisons.Take();
}

// Other heads' vectors say nothing here.
Verdict CheckHeads(const Subject& subject, const LawCase& c) {
  const EquationAnswer before(subject, InputsOf(subject, c));
  const int64_t heads = AttentionOf(subject.scheme()).heads;
  if (heads == 1) throw Unsupported("there is one head only");
  const auto kept = static_cast<int64_t>(c.seed % static_cast<uint64_t>(heads));
  NamedInputs changed = before.inputs;
  for (const char* name : {"q", "k", "v"}) {
    const auto found = changed.tensors.find(name);
    if (found == changed.tensors.end()) continue;
    const int64_t width = found->second.shape[2];
    for (size_t i = 0; i < found->second.values.size(); ++i) {
      if (static_cast<int64_t>(i) / width % heads != kept) found->second.values[i] = 1;
    }
  }
  const EquationAnswer after(subject, changed);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(before.quantity, before.out.shape())) {
    if (place.head == kept) CompareBits(comparisons, after, place, before, place);
  }
  return comparisons.Take();
}

// With all weights zero a scheme adds nothing.
Verdict CheckZeroWeights(const Subject& subject, const LawCase& c) {
  NamedInputs inputs = InputsOf(subject, c), plain = inputs;
  for (const Weight& weight : WeightsOf(subject.scheme())) {
    const auto found = inputs.tensors.find(weight.name);
    if (found == inputs.tensors.end()) continue;
    std::ranges::fill(found->second.values, 0);
    plain.tensors.erase(found->first);
  }
  const EquationAnswer answer(subject, inputs);
  const ExactEquations none{Scheme(none::Params{.attention = AttentionOf(subject.scheme())})};
  EnclosedEach truth;
  if (answer.quantity == EquationQuantity::bias) {
    truth.values.resize(answer.out.size());
    truth.radii.resize(answer.out.size());
  } else {
    truth = none.Enclose(answer.quantity, plain);
  }
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const size_t i = answer.Index(place);
    const double want = truth.values[i].high, got = answer.Value(place);
    const auto describe = [&] {
      return Witness{.where = answer.Text(place), .got = HexFloat(got), .want = HexFloat(want)};
    };
    // Products with zeros and their sums are zeros in any arithmetic.
    if (std::isinf(want) || answer.quantity == EquationQuantity::bias) {
      comparisons.AddExact(answer.QueryPosition(place), got == want, describe);
    } else {
      const double error = std::fabs((got - want) - truth.values[i].low) - truth.radii[i];
      comparisons.Add(answer.QueryPosition(place), error, answer.Limit(place), answer.Size(place),
                      describe);
    }
  }
  return comparisons.Take();
}

// Of a kernel whose rows may be off by a number of their own: the differences within a row. Each
// value was rounded where the row stands, once in its arithmetic and once to its dtype.
void CompareWithinRows(Comparisons& comparisons, const Contract& contract,
                       const EquationAnswer& got, const EquationAnswer& want) {
  const double u =
      UnitRoundoff(contract.rotate) + UnitRoundoff(ArithmeticOf(contract.store)) + 0x1p-52;
  for (EquationPlace place : PlacesOf(want.quantity, want.out.shape())) {
    EquationPlace first = place;
    first.last = 0;
    const double a = got.Value(place), b = want.Value(place);
    const double a_first = got.Value(first), b_first = want.Value(first);
    const auto describe = [&] {
      return Witness{.where = got.Text(place) + " less the row's first key",
                     .got = HexFloat(a - a_first),
                     .want = HexFloat(b - b_first)};
    };
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(a_first + b_first)) {
      comparisons.AddExact(want.QueryPosition(place), a == b, describe);
      continue;
    }
    double allowed = 0, size = 0;
    for (const EquationAnswer* answer : {&got, &want}) {
      for (const EquationPlace at : {place, first}) {
        allowed += answer->Limit(at) + u * std::fabs(answer->Value(at));
        size = std::max(size, answer->Size(at));
      }
    }
    comparisons.Add(want.QueryPosition(place), std::fabs((a - a_first) - (b - b_first)), allowed,
                    size, describe);
  }
}

Verdict CheckTranslation(const Subject& subject, const LawCase& c) {
  const EquationAnswer before(subject, InputsOf(subject, c));
  NamedInputs moved = before.inputs;
  for (const char* name : {"query_positions", "key_positions"}) {
    for (double& position : moved.tensors.find(name)->second.values) position += c.shifts[0];
  }
  const EquationAnswer after(subject, moved);
  Comparisons comparisons;
  const bool has_rows =
      before.quantity == EquationQuantity::bias || before.quantity == EquationQuantity::scores;
  if (has_rows && subject.info().Declares("rowshift")) {
    CompareWithinRows(comparisons, subject.info().contract, after, before);
    return comparisons.Take();
  }
  CompareAll(comparisons, after, before);
  return comparisons.Take();
}

Verdict CheckScale(const Subject& subject, const LawCase& c) {
  Scheme unscaled = subject.scheme();
  std::visit(
      [](auto& params) {
        if constexpr (requires { params.attention; }) params.attention.scale = ScoreScale::one;
      },
      unscaled);
  if (!subject.info().Serves(unscaled)) throw Unsupported("the kernel does not serve scale=one");
  const EquationAnswer scaled(subject, InputsOf(subject, c));
  const EquationAnswer whole(Subject(subject.info(), unscaled), scaled.inputs);
  const double root = std::sqrt(static_cast<double>(AttentionOf(unscaled).head_dim));
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(scaled.quantity, scaled.out.shape())) {
    const double got = scaled.Value(place) * root, want = whole.Value(place);
    const auto describe = [&] {
      return Witness{.where = scaled.Text(place) + " times sqrt(head_dim), against scale=one",
                     .got = HexFloat(got),
                     .want = HexFloat(want)};
    };
    if (std::isinf(want)) {
      comparisons.AddExact(scaled.QueryPosition(place), got == want, describe);
      continue;
    }
    // The root and the product, in binary64.
    const double own = 2 * 0x1p-53 * std::fabs(got);
    comparisons.Add(scaled.QueryPosition(place), std::fabs(got - want),
                    scaled.Limit(place) * root + whole.Limit(place) + own, whole.Size(place),
                    describe);
  }
  return comparisons.Take();
}

}  // namespace

NamedInputs InputsOf(const Subject& subject, const LawCase& law_case) {
  NamedInputs inputs;
  const EquationTruth& truth = subject.equations();
  for (const Weight& input : truth.exact().InputsOf(truth.quantity())) {
    inputs.tensors[std::string(input.name)] = law_case.inputs[input.name];
  }
  return inputs;
}

size_t IndexOf(EquationQuantity quantity, const std::vector<int64_t>& shape, EquationPlace place) {
  switch (quantity) {
    case EquationQuantity::slopes:
      return static_cast<size_t>(place.head);
    case EquationQuantity::buckets:
    case EquationQuantity::table:
    case EquationQuantity::embed:
      return static_cast<size_t>(place.query * shape[1] + place.last);
    case EquationQuantity::attention:
      return static_cast<size_t>((place.query * shape[1] + place.head) * shape[2] + place.last);
    default:
      return static_cast<size_t>((place.head * shape[1] + place.query) * shape[2] + place.last);
  }
}

void CompareAll(Comparisons& comparisons, const EquationAnswer& got, const EquationAnswer& want) {
  for (EquationPlace place : PlacesOf(want.quantity, want.out.shape())) {
    CompareWithin(comparisons, got, place, want, place);
  }
}

std::vector<EquationPlace> PlacesOf(EquationQuantity quantity, const std::vector<int64_t>& shape) {
  int64_t heads = 1, queries = 1, last = 1;
  switch (quantity) {
    case EquationQuantity::slopes:
      heads = shape[0];
      break;
    case EquationQuantity::buckets:
    case EquationQuantity::table:
    case EquationQuantity::embed:
      queries = shape[0];
      last = shape[1];
      break;
    case EquationQuantity::attention:
      queries = shape[0];
      heads = shape[1];
      last = shape[2];
      break;
    default:
      heads = shape[0];
      queries = shape[1];
      last = shape[2];
  }
  std::vector<EquationPlace> places;
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t query = 0; query < queries; ++query) {
      for (int64_t i = 0; i < last; ++i) places.push_back({head, query, i});
    }
  }
  return places;
}

EquationAnswer::EquationAnswer(const Subject& subject, NamedInputs asked, Placement placement)
    : quantity(subject.equations().quantity()),
      inputs(std::move(asked)),
      out(subject.Evaluate(inputs, placement)),
      limits(subject.equations().bound().Limits(quantity, inputs, out.shape())) {}

double EquationAnswer::QueryPosition(EquationPlace place) const {
  const ExactTensor* positions = inputs.Find(IsOfRows(quantity) ? "positions" : "query_positions");
  return positions == nullptr ? 0 : positions->At(place.query);
}

std::string EquationAnswer::Text(EquationPlace place) const {
  if (IsOfRows(quantity)) {
    return fmt::format("row at {}, channel {}", QueryPosition(place), place.last);
  }
  std::string text = fmt::format("head {}", place.head);
  if (quantity == EquationQuantity::slopes) return text;
  text += fmt::format(", query at {}", QueryPosition(place));
  if (!ByKey(quantity)) return text + fmt::format(", channel {}", place.last);
  return text + fmt::format(", key at {}", inputs["key_positions"].At(place.last));
}

namespace {

Witness WitnessOf(const EquationAnswer& got, EquationPlace at, const EquationAnswer& want,
                  EquationPlace of) {
  return {.where = fmt::format("{} of a call of {} values", got.Text(at), got.out.size()),
          .got = HexFloat(got.Value(at)),
          .want = HexFloat(want.Value(of))};
}

}  // namespace

void CompareBits(Comparisons& comparisons, const EquationAnswer& got, EquationPlace at,
                 const EquationAnswer& want, EquationPlace of) {
  comparisons.AddExact(want.QueryPosition(of),
                       got.out.Bits(got.Index(at)) == want.out.Bits(want.Index(of)),
                       [&] { return WitnessOf(got, at, want, of); });
}

void CompareWithin(Comparisons& comparisons, const EquationAnswer& got, EquationPlace at,
                   const EquationAnswer& want, EquationPlace of) {
  const double a = got.Value(at), b = want.Value(of);
  const auto describe = [&] { return WitnessOf(got, at, want, of); };
  if (got.quantity == EquationQuantity::buckets || std::isinf(a) || std::isinf(b)) {
    comparisons.AddExact(want.QueryPosition(of), a == b, describe);
    return;
  }
  comparisons.Add(want.QueryPosition(of), std::fabs(a - b) * (1 - 0x1p-51),
                  got.Limit(at) + want.Limit(of), std::max(got.Size(at), want.Size(of)), describe);
}

NamedInputs WithPositions(const NamedInputs& inputs, const std::vector<int64_t>& chosen) {
  return WithRows(inputs, {"positions", "x"}, chosen);
}

NamedInputs WithQueries(const NamedInputs& inputs, const std::vector<int64_t>& chosen) {
  return WithRows(inputs, {"query_positions", "q"}, chosen);
}

NamedInputs WithKeys(const NamedInputs& inputs, const std::vector<int64_t>& chosen) {
  return WithRows(inputs, {"key_positions", "k", "v"}, chosen);
}

Law TranslationLaw() {
  return {"translation", "moving all positions by as many tokens changes nothing", kOfPositions,
          false, CheckTranslation};
}

Law ScaleLaw() {
  return {"scale", "the scale counts for all that a score is made of", "scores", false, CheckScale};
}

std::vector<Law> AttentionLaws(const Scheme& scheme) {
  std::vector<Law> laws = {
      {"determinism", "two identical runs give identical bits", kAllQuantities, false,
       CheckDeterminism},
      {"rows",
       "a query's row does not depend on the other queries: decoding gives what the long "
       "run gives",
       kOfPositions, false, CheckRows},
      {"heads", "other heads' vectors change no bit of a head", "scores attention", false,
       CheckHeads},
  };
  if (AttentionOf(scheme).causal) {
    laws.push_back({"prefix", "keys that a query does not see may be left out", kOfPositions, false,
                    CheckPrefix});
    laws.push_back({"masked_last",
                    "keys and values out of sight may hold NaN, and their scores are -infinity",
                    "scores attention", false, CheckMaskedLast});
  }
  const std::vector<Weight> weights = WeightsOf(scheme);
  const bool may_be_zero =
      std::ranges::all_of(weights, [](const Weight& weight) { return weight.lowest <= 0; });
  const bool own_content =
      std::visit([]<class Params>(const Params&) { return HasOwnContent<Params>; }, scheme);
  if (!weights.empty() && may_be_zero && !own_content) {
    laws.push_back({"zero_weights", "weights of zero add nothing: scores are those of none",
                    "bias scores attention", false, CheckZeroWeights});
  }
  return laws;
}

}  // namespace posgauge
