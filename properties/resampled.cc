#include "posgauge/properties/resampled.h"

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "posgauge/properties/attention_laws.h"
#include "posgauge/verify/hex_float.h"

namespace posgauge::resampled {

namespace {

const Params& ParamsOf(const Subject& subject) { return std::get<Params>(subject.scheme()); }

// Whether the target's middle lies on the table's. One target of aligned corners is the first of
// them.
bool IsSymmetric(const Params& params) {
  const bool first_corner = params.align_corners && (params.target_h == 1 || params.target_w == 1);
  return params.offset == 0 && !params.scale_h && !params.scale_w && !first_corner;
}

// The weights of each row add up to 1: a table of one number stays it.
Verdict CheckConstant(const Subject& subject, const LawCase& c) {
  NamedInputs inputs = InputsOf(subject, c);
  const double number = inputs["table"].values[0];
  std::ranges::fill(inputs.tensors.find("table")->second.values, number);
  const EquationAnswer rows(subject, inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(rows.quantity, rows.out.shape())) {
    comparisons.Add(rows.QueryPosition(place), std::fabs(rows.Value(place) - number),
                    rows.Limit(place), std::fabs(number), [&] {
                      return Witness{.where = rows.Text(place),
                                     .got = HexFloat(rows.Value(place)),
                                     .want = HexFloat(number)};
                    });
  }
  return comparisons.Take();
}

// Whole rows that are the table's own, bit for bit, whatever the rest of the table holds.
Verdict CompareKept(const Subject& subject, const LawCase& c,
                    const std::vector<std::pair<double, int64_t>>& kept) {
  NamedInputs inputs = WithPositions(InputsOf(subject, c), std::vector<int64_t>(kept.size(), 0));
  std::vector<double>& positions = inputs.tensors.find("positions")->second.values;
  for (size_t i = 0; i < kept.size(); ++i) positions[i] = kept[i].first;
  const EquationAnswer rows(subject, inputs);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(rows.quantity, rows.out.shape())) {
    const double want =
        inputs["table"].At(kept[static_cast<size_t>(place.query)].second, place.last);
    comparisons.Add(rows.QueryPosition(place), std::fabs(rows.Value(place) - want),
                    rows.Limit(place), std::fabs(want), [&] {
                      return Witness{.where = rows.Text(place),
                                     .got = HexFloat(rows.Value(place)),
                                     .want = HexFloat(want)};
                    });
  }
  return comparisons.Take();
}

Verdict CheckPrefix(const Subject& subject, const LawCase& c) {
  std::vector<std::pair<double, int64_t>> kept;
  for (int64_t row = 0; row < ParamsOf(subject).prefix; ++row) {
    kept.emplace_back(static_cast<double>(row), row);
  }
  return CompareKept(subject, c, kept);
}

Verdict CheckIdentity(const Subject& subject, const LawCase& c) {
  std::vector<std::pair<double, int64_t>> kept;
  for (double position : c.inputs["positions"].values) {
    kept.emplace_back(position, static_cast<int64_t>(position));
  }
  return CompareKept(subject, c, kept);
}

// The corners of the target are those of the table. A target of one has the first of them only.
Verdict CheckCorners(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  std::vector<std::pair<double, int64_t>> kept;
  for (const bool last_row : {false, true}) {
    for (const bool last_column : {false, true}) {
      if ((last_row && params.target_h == 1) || (last_column && params.target_w == 1)) continue;
      const int64_t to_h = last_row ? params.target_h - 1 : 0;
      const int64_t to_w = last_column ? params.target_w - 1 : 0;
      const int64_t from_h = last_row ? params.grid_h - 1 : 0;
      const int64_t from_w = last_column ? params.grid_w - 1 : 0;
      kept.emplace_back(static_cast<double>(params.prefix + to_h * params.target_w + to_w),
                        params.prefix + from_h * params.grid_w + from_w);
    }
  }
  return CompareKept(subject, c, kept);
}

// A grid turned by half a turn gives the target turned so.
Verdict CheckMirror(const Subject& subject, const LawCase& c) {
  const Params& params = ParamsOf(subject);
  const EquationAnswer rows(subject, InputsOf(subject, c));
  NamedInputs turned = rows.inputs;
  const auto turn = [&](int64_t count, int64_t row) {
    return row < params.prefix ? row : params.prefix + count - 1 - (row - params.prefix);
  };
  const ExactTensor& table = rows.inputs["table"];
  for (int64_t row = 0; row < table.shape[0]; ++row) {
    for (int64_t channel = 0; channel < params.width; ++channel) {
      turned.tensors.find("table")
          ->second.values[static_cast<size_t>(row * params.width + channel)] =
          table.At(turn(params.grid_h * params.grid_w, row), channel);
    }
  }
  for (double& position : turned.tensors.find("positions")->second.values) {
    position = static_cast<double>(
        turn(params.target_h * params.target_w, static_cast<int64_t>(position)));
  }
  const EquationAnswer other(subject, turned);
  Comparisons comparisons;
  for (EquationPlace place : PlacesOf(rows.quantity, rows.out.shape())) {
    CompareWithin(comparisons, other, place, rows, place);
  }
  return comparisons.Take();
}

}  // namespace

std::vector<Law> Laws(const Params& params) {
  std::vector<Law> laws = {
      {"constant", "a table of one number stays it", "table", false, CheckConstant},
  };
  if (params.prefix > 0) {
    laws.push_back({"prefix", "rows of the prefix are kept", "table", false, CheckPrefix});
  }
  if (params.align_corners) {
    laws.push_back(
        {"corners", "corners of the target are those of the table", "table", true, CheckCorners});
  }
  if (!IsSymmetric(params)) return laws;
  laws.push_back({"mirror", "a grid turned by half a turn gives the target turned so",
                  "table embed", false, CheckMirror});
  if (params.grid_h == params.target_h && params.grid_w == params.target_w) {
    laws.push_back(
        {"identity", "a grid of the same size is the table", "table", false, CheckIdentity});
  }
  return laws;
}

rc::Gen<Params> AnyParams() {
  const auto make = [](int64_t width, int64_t prefix, int64_t grid_h, int64_t grid_w,
                       int64_t target_h, int64_t target_w, Filter filter, double cubic,
                       int64_t form) {
    Params params{.width = width,
                  .grid_h = grid_h,
                  .grid_w = grid_w,
                  .target_h = target_h,
                  .target_w = target_w,
                  .prefix = prefix,
                  .filter = filter,
                  .cubic = cubic};
    if (form == 1) params.align_corners = true;
    if (form == 2 || form == 3) params.antialias = true;
    if (form == 3 || form == 4) params.offset = 0.1;
    if (form == 5) {
      params.scale_h = (static_cast<double>(target_h) + 0.1) / static_cast<double>(grid_h);
      params.scale_w = (static_cast<double>(target_w) + 0.1) / static_cast<double>(grid_w);
    }
    return params;
  };
  const auto side = rc::gen::inRange<int64_t>(1, 12);
  return rc::gen::apply(make, rc::gen::element<int64_t>(1, 3, 8, 17),
                        rc::gen::inRange<int64_t>(0, 3), side, side, side, side,
                        rc::gen::element(Filter::bilinear, Filter::bicubic),
                        rc::gen::element(-0.75, -0.5, -1.0, -0.1), rc::gen::inRange<int64_t>(0, 6));
}

}  // namespace posgauge::resampled
