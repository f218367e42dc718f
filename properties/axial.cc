#include "posgauge/properties/axial.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <rapidcheck.h>

#include "posgauge/properties/axis_laws.h"
#include "posgauge/properties/frequency_laws.h"
#include "posgauge/properties/generators.h"

namespace posgauge::axial {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// Written out here once more: pair `index` of `pairs` in rope over twice as many channels.
struct Alone {
  int64_t index, pairs;
};
Alone AloneOf(const Params& params, int64_t pair) {
  int64_t before = 0, axis = 0;
  while (pair >= before + params.rotary.section[static_cast<size_t>(axis)]) {
    before += params.rotary.section[static_cast<size_t>(axis++)];
  }
  if (params.frequency_index == FrequencyIndex::alternating) {
    const auto axes = static_cast<int64_t>(params.rotary.section.size());
    return {(pair - before) * axes + axis, params.rotary.rotary_dim / 2};
  }
  return {pair - before, params.rotary.section[static_cast<size_t>(axis)]};
}

Verdict CheckSeries(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  return HoldFrequencies(subject, law_case, Relation::equal, [&](int64_t pair, double) {
    const auto [index, pairs] = AloneOf(params, pair);
    return std::pow(params.rotary.base, -static_cast<double>(index) / static_cast<double>(pairs));
  });
}

Verdict CheckBlocks(const Subject& subject, const LawCase& law_case) {
  const Params& params = ParamsOf(subject);
  return HoldPairsAlone(subject, law_case, [&](int64_t pair) {
    const auto [index, pairs] = AloneOf(params, pair);
    Rotary rotary{.head_dim = 2 * pairs, .rotary_dim = 2 * pairs};
    rotary.direction = params.rotary.direction;
    rotary.base = params.rotary.base;
    return PairAlone{rope::Params{.rotary = rotary}, index};
  });
}

}  // namespace

std::vector<Law> Laws(const Params&) {
  return {{"axial_series", "every axis has its series of frequencies: its own, or a share of one",
           kShowFrequencies, true, CheckSeries},
          {"blocks", "every axis is a rope of its own, at the position on that axis",
           "rotate rotate_backward table", false, CheckBlocks}};
}

rc::Gen<Params> AnyParams() {
  const auto make = [](Rotary rotary, int64_t axes, FrequencyIndex index, bool even,
                       bool per_axis) {
    const int64_t pairs = rotary.Pairs(), each = pairs / axes;
    std::vector<int64_t> section(static_cast<size_t>(axes), each);
    // What is left over, and in uneven sections half of every other one, goes to the last.
    section.back() += pairs - axes * each;
    for (int64_t axis = 0; !even && axis + 1 < axes; ++axis) {
      const int64_t moved = section[static_cast<size_t>(axis)] / 2;
      section[static_cast<size_t>(axis)] -= moved;
      section.back() += moved;
    }
    const bool equal = std::ranges::all_of(section, [&](int64_t s) { return s == section[0]; });
    if (per_axis) rotary.pairing = Pairing::half_per_axis;
    rotary.section = std::move(section);
    return Params{.rotary = std::move(rotary),
                  .frequency_index = equal ? index : FrequencyIndex::restarting};
  };
  return rc::gen::apply(make, AnyRotary(), rc::gen::element<int64_t>(2, 3, 4),
                        rc::gen::element(FrequencyIndex::restarting, FrequencyIndex::alternating),
                        rc::gen::element(true, false), rc::gen::element(false, false, true));
}

}  // namespace posgauge::axial
