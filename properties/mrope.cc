#include "posgauge/properties/mrope.h"

#include <algorithm>

#include <rapidcheck.h>

#include "posgauge/properties/axis_laws.h"
#include "posgauge/properties/comparisons.h"
#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"
#include "posgauge/properties/pairs.h"

namespace posgauge::mrope {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

Verdict CheckGeometricSeries(const Subject& subject, const LawCase& law_case) {
  return HoldFrequencies(subject, law_case, Relation::equal,
                         [](int64_t, double plain) { return plain; });
}

Scheme Rope(const Subject& subject) { return rope::Params{.rotary = ParamsOf(subject).rotary}; }

// Text has equal positions on all axes. Where the kernel promises it, the bits of rope.
Verdict CheckEqualAxes(const Subject& subject, const LawCase& law_case) {
  const LawCase c = OnEqualAxes(subject, law_case);
  if (!subject.info().Declares("axes") || !subject.info().Serves(Rope(subject))) {
    return HoldPairsAlone(subject, c, [&](int64_t pair) { return PairAlone{Rope(subject), pair}; });
  }
  const Subject rope(subject.info(), Rope(subject));
  std::vector<double> positions;
  for (size_t row = 0; row < subject.axes().Tokens(c.positions); ++row) {
    positions.push_back(subject.axes().Farthest(c.positions, row));
  }
  const std::vector<Named> want = rope.Answer(positions, c.x);
  const std::vector<Named> got = subject.Answer(c.positions, c.x);
  Comparisons comparisons;
  for (size_t output = 0; output < want.size(); ++output) {
    const Tensor &one = want[output].tensor, &several = got[output].tensor;
    for (size_t i = 0; i < one.size(); ++i) {
      comparisons.AddExact(
          positions[i / (one.size() / positions.size())], one.Bits(i) == several.Bits(i), [&] {
            return Witness{.where = fmt::format("{}, element {}", want[output].name, i),
                           .got = fmt::format("{:.17g}", several.Value(i)),
                           .want = fmt::format("{:.17g}", one.Value(i))};
          });
    }
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {{"geometric_series",
           "frequencies fall from 1 to base^(-(d-2)/d), each base^(-2/d) times the one before",
           kShowFrequencies, true, CheckGeometricSeries},
          {"equal_axes", "the same position on every axis is rope at that position",
           "rotate rotate_backward table", false, CheckEqualAxes}};
}

rc::Gen<Params> AnyParams() {
  // Sections in every order that they allow: thirds, nearly, or all of them on one axis.
  const auto make = [](Rotary rotary, Order order, bool four, bool lopsided, double share) {
    const int64_t pairs = rotary.Pairs();
    const auto drawn = [&](int64_t most) {
      return std::min(most, static_cast<int64_t>(share * static_cast<double>(most + 1)));
    };
    if (order == Order::ernie) {
      const int64_t each = lopsided ? drawn(pairs / 2) : pairs / 3;
      return Params{.rotary = rotary, .section = {each, each, pairs - 2 * each}, .order = order};
    }
    const int64_t height = lopsided ? drawn(pairs) : pairs / 3;
    const int64_t width = lopsided ? drawn(pairs - height) : (pairs - height) / 2;
    std::vector<int64_t> section = {pairs - height - width, height, width};
    if (order == Order::interleaved_ggml) four = true;
    if (order == Order::interleaved) four = false;
    if (order == Order::openpangu) {
      // Two axes, or three of which the first has a pair.
      if (four || section[0] == 0) section = {pairs - height, height};
      return Params{.rotary = rotary, .section = section, .order = order};
    }
    if (four) {
      section.push_back(section[0] / 2);
      section[0] -= section[3];
    }
    return Params{.rotary = rotary, .section = section, .order = order};
  };
  return rc::gen::apply(make, AnyRotary(),
                        rc::gen::element(Order::contiguous, Order::interleaved, Order::ernie,
                                         Order::interleaved_ggml, Order::openpangu),
                        rc::gen::element(false, true), rc::gen::element(false, false, true),
                        rc::gen::element(0.0, 0.25, 0.5, 0.75, 1.0));
}

}  // namespace posgauge::mrope
