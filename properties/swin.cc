#include "posgauge/properties/swin.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/properties/window_laws.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::swin {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// Two pairs of tokens have one number if and only if they are as many rows and columns apart, and
// the numbers of an offset and its opposite add up to that of the last offset.
Verdict CheckOffsets(const Subject& subject, const LawCase& c) {
  const Window& window = ParamsOf(subject).window;
  const std::vector<double> tokens = SomeTokens(window, 16, c.seed);
  const EquationAnswer answer(subject, AmongTokens(InputsOf(subject, c), tokens));
  const auto offset = [&](EquationPlace place) {
    const auto query = static_cast<int64_t>(tokens[static_cast<size_t>(place.query)]);
    const auto key = static_cast<int64_t>(tokens[static_cast<size_t>(place.last)]);
    return std::pair(query / window.w - key / window.w, query % window.w - key % window.w);
  };
  const auto last = static_cast<double>(window.Offsets() - 1);
  const std::vector<EquationPlace> places = PlacesOf(answer.quantity, answer.out.shape());
  Comparisons comparisons;
  for (EquationPlace place : places) {
    const double got = answer.Value(place), opposite = answer.Value({0, place.last, place.query});
    comparisons.AddExact(answer.QueryPosition(place),
                         got >= 0 && got <= last && got + opposite == last, [&] {
                           return Witness{.where = answer.Text(place),
                                          .got = fmt::format("{}", got),
                                          .want = fmt::format("{}", last - opposite)};
                         });
    // Against the first row and a column of its own: all pairs would be many.
    for (EquationPlace other : places) {
      if (other.query != 0) break;
      const bool same = offset(place) == offset(other);
      comparisons.AddExact(answer.QueryPosition(place), (got == answer.Value(other)) == same, [&] {
        return Witness{.where = answer.Text(place) + ", against " + answer.Text(other),
                       .got = fmt::format("{}", got),
                       .want = fmt::format("{} {}", same ? "" : "not", answer.Value(other))};
      });
    }
  }
  return comparisons.Take();
}

// The table reversed is query and key exchanged.
Verdict CheckFlip(const Subject& subject, const LawCase& c) {
  const NamedInputs inputs =
      AmongTokens(InputsOf(subject, c), SomeTokens(ParamsOf(subject).window, 12, c.seed));
  NamedInputs reversed = inputs;
  ExactTensor& table = reversed.tensors.find("table")->second;
  for (int64_t row = 0; row < table.shape[0]; ++row) {
    for (int64_t head = 0; head < table.shape[1]; ++head) {
      table.values[static_cast<size_t>(row * table.shape[1] + head)] =
          inputs["table"].At(table.shape[0] - 1 - row, head);
    }
  }
  const EquationAnswer plain(subject, inputs), flipped(subject, reversed);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(plain.quantity, plain.out.shape())) {
    CompareWithin(comparisons, flipped, {place.head, place.last, place.query}, plain, place);
  }
  return comparisons.Take();
}

Verdict CheckEntries(const Subject& subject, const LawCase& c) {
  const EquationAnswer answer(
      subject, AmongTokens(InputsOf(subject, c), SomeTokens(ParamsOf(subject).window, 12, c.seed)));
  NamedInputs positions = answer.inputs;
  positions.tensors.erase("table");
  const std::vector<int64_t> rows = subject.equations().exact().Buckets(positions);
  const ExactTensor& table = answer.inputs["table"];
  const Format format = FormatOf(subject.io());
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(answer.quantity, answer.out.shape())) {
    const auto at = static_cast<size_t>(place.query * answer.out.shape()[2] + place.last);
    const double want = RoundTo(format, table.At(rows[at], place.head));
    const double got = answer.Value(place);
    comparisons.Add(
        answer.QueryPosition(place), std::fabs(got - want), answer.Limit(place), std::fabs(want),
        [&] {
          return Witness{.where = answer.Text(place), .got = HexFloat(got), .want = HexFloat(want)};
        });
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {{"offsets",
           "pairs of tokens have one number where they are as many rows and columns apart, and an "
           "offset and its opposite add up to the last one",
           "buckets", false, CheckOffsets},
          {"flip", "reversing the table exchanges query and key", "bias", false, CheckFlip},
          {"entries", "a bias is the table's entry of its offset and head", "bias", false,
           CheckEntries},
          WindowTranslationLaw()};
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Attention attention, int64_t h, int64_t w) {
    attention.causal = false;
    return Params{.attention = attention, .window = {.h = h, .w = w}};
  };
  return rc::gen::apply(make, AnyAttention(), rc::gen::element<int64_t>(7, 1, 2, 3, 8, 12, 16),
                        rc::gen::element<int64_t>(7, 1, 2, 5, 8, 12, 24));
}

}  // namespace posgauge::swin
