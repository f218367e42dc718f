#include "posgauge/verify/minimal_case.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "posgauge/verify/case_search.h"

namespace posgauge {

namespace {

// Leaves out runs of items, halves first, then ever shorter ones, the last ones first, as long as
// `keeps(items)` says that what is left still fails. At least `fewest` stay.
template <class Keeps>
void LeaveOut(std::vector<size_t> items, size_t fewest, Keeps keeps) {
  for (size_t run = std::max<size_t>(items.size() / 2, 1);; run /= 2) {
    for (size_t end = items.size(); end > 0;) {
      const size_t begin = end > run ? end - run : 0;
      std::vector<size_t> fewer(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(begin));
      fewer.insert(fewer.end(), items.begin() + static_cast<std::ptrdiff_t>(end), items.end());
      if (fewer.size() >= fewest && keeps(fewer)) items = std::move(fewer);
      end = begin;
    }
    if (run <= 1) return;
  }
}

std::vector<size_t> Numbered(size_t count) {
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  return numbers;
}

void FewerTokens(CaseSearch& search) {
  for (const std::vector<std::string>& group : TokenGroups(search.current())) {
    const PlainCase all = search.current();
    const auto count = static_cast<size_t>(all.inputs[group.front()].shape[0]);
    // One token alone first: most failures need no other.
    bool alone = false;
    for (size_t token = 0; token < std::min<size_t>(count, 16) && count > 1 && !alone; ++token) {
      alone = search.Try(WithTokens(all, group, {token}));
    }
    if (alone || count <= 1) continue;
    LeaveOut(Numbered(count), 1, [&](const std::vector<size_t>& kept) {
      return search.Try(WithTokens(all, group, kept));
    });
  }
}

std::vector<std::string> PositionTensors(const PlainCase& plain) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : plain.inputs.tensors) {
    if (name.ends_with("positions")) names.push_back(name);
  }
  return names;
}

void SmallerPositions(CaseSearch& search) {
  constexpr size_t kMostEach = 16;  // of these one by one; of more only together
  const std::vector<std::string> names = PositionTensors(search.current());
  if (names.empty()) return;
  // All nearer to 0 by one number.
  const PlainCase start = search.current();
  double lowest = HUGE_VAL;
  size_t count = 0;
  for (const std::string& name : names) {
    for (double position : start.inputs[name].values) lowest = std::min(lowest, position);
    count += start.inputs[name].values.size();
  }
  if (count > 1 && lowest > 0) {
    SmallestFailing(0, 1, static_cast<int64_t>(std::floor(lowest)), [&](int64_t nearest) {
      PlainCase moved = start;
      for (const std::string& name : names) {
        for (double& position : moved.inputs.tensors[name].values) {
          position -= std::floor(lowest) - static_cast<double>(nearest);
        }
      }
      return search.Try(moved);
    });
  }
  if (count > kMostEach) return;
  for (const std::string& name : names) {
    for (size_t i = 0; i < start.inputs[name].values.size(); ++i) {
      const PlainCase before = search.current();
      const double position = before.inputs[name].values[i];
      if (position == 0) continue;
      const auto at = [&](double other) {
        PlainCase moved = before;
        moved.inputs.tensors[name].values[i] = other;
        return search.Try(moved);
      };
      const double size = std::fabs(position), whole = std::floor(size);
      if (position < 0 && at(size)) {
        // A positive one says the same.
      } else if (whole != size && !at(std::copysign(whole, position))) {
        continue;
      }
      const double sign = search.current().inputs[name].values[i] < 0 ? -1 : 1;
      SmallestFailing(0, 1, static_cast<int64_t>(whole),
                      [&](int64_t nearer) { return at(sign * static_cast<double>(nearer)); });
    }
  }
}

// Every value tensor of `plain` filled with one number.
PlainCase Filled(PlainCase plain, double value) {
  for (const std::string& name : ValueTensors(plain)) {
    std::ranges::fill(plain.inputs.tensors[name].values, value);
  }
  return plain;
}

// A case of another shape: with the values that are left of the current one, with ones, or with
// those of the first case.
bool TryShapes(CaseSearch& search, const std::optional<PlainCase>& smaller) {
  if (!smaller) return false;
  if (search.Try(*smaller)) return true;
  if (ValueTensors(*smaller).empty()) return false;
  if (search.Try(Filled(*smaller, 1))) return true;
  // The largest number of the current one may have lain beyond the new shape.
  double largest = 1;
  for (const std::string& name : ValueTensors(search.current())) {
    for (const double value : search.current().inputs[name].values) {
      if (std::fabs(value) > largest) largest = std::fabs(value);
    }
  }
  if (std::isfinite(largest) && search.Try(Filled(*smaller, largest))) return true;
  PlainCase planned = *smaller;
  for (const std::string& name : ValueTensors(*smaller)) {
    const ExactTensor& drawn = search.first().inputs[name];
    std::vector<double>& values = planned.inputs.tensors[name].values;
    for (size_t i = 0; i < values.size(); ++i) values[i] = drawn.values[i % drawn.values.size()];
  }
  return search.Try(planned);
}

void FewerHeads(CaseSearch& search) {
  const PlainCase start = search.current();
  const int64_t heads = CallHeads(start);
  if (heads <= 1) return;
  SmallestFailing(1, 1, heads,
                  [&](int64_t fewer) { return TryShapes(search, WithHeads(start, fewer)); });
}

bool TryFields(CaseSearch& search, const PlainCase& from, const nlohmann::ordered_json& fields) {
  const std::optional<Scheme> scheme = WithFields(from.scheme, fields);
  if (!scheme || *scheme == from.scheme) return false;
  return TryShapes(search, UnderScheme(from, *scheme, search.info().quantity));
}

void SmallerWidths(CaseSearch& search) {
  const auto shrink = [&](int64_t lowest, int64_t step, int64_t current, auto fields_for) {
    const PlainCase start = search.current();
    if (current <= lowest) return;
    SmallestFailing(lowest, step, current,
                    [&](int64_t width) { return TryFields(search, start, fields_for(width)); });
  };
  const Scheme scheme = search.current().scheme;
  if (IsRotary(scheme)) {
    const Rotary& rotary = RotaryOf(scheme);
    shrink(2, 2, rotary.rotary_dim + (rotary.rotary_dim < rotary.head_dim ? 2 : 0),
           [](int64_t width) -> nlohmann::ordered_json {
             return {{"head_dim", width}, {"rotary_dim", width}, {"rotary_offset", 0}};
           });
    shrink(2, 2, RotaryOf(search.current().scheme).rotary_dim,
           [](int64_t width) -> nlohmann::ordered_json {
             return {{"rotary_dim", width}};
           });
    const Rotary narrow = RotaryOf(search.current().scheme);
    shrink(narrow.rotary_offset + narrow.rotary_dim, 1, narrow.head_dim,
           [](int64_t width) -> nlohmann::ordered_json {
             return {{"head_dim", width}};
           });
    return;
  }
  const nlohmann::ordered_json fields = ToJson(scheme);
  for (const char* name : {"heads", "head_dim", "width"}) {
    if (!fields.contains(name)) continue;
    shrink(1, 1, fields[name].get<int64_t>(), [&](int64_t width) -> nlohmann::ordered_json {
      return {{name, width}};
    });
  }
}

void DefaultParameters(CaseSearch& search) {
  const nlohmann::ordered_json defaults =
      ToJson(SchemeFromJson({{"scheme", Name(search.current().scheme)}}));
  const nlohmann::ordered_json fields = ToJson(search.current().scheme);
  for (const auto& [name, value] : fields.items()) {
    if (name == "scheme" || name == "head_dim" || name == "rotary_dim" || name == "width" ||
        name == "heads" || value.is_array()) {
      continue;
    }
    const nlohmann::ordered_json usual =
        defaults.contains(name) ? defaults[name] : nlohmann::ordered_json();
    if (value == usual || TryFields(search, search.current(), {{name, usual}})) continue;
    if (!value.is_number_float()) continue;
    for (const double simple : {1.0, 2.0, std::exp2(std::round(std::log2(value.get<double>())))}) {
      if (value.get<double>() == simple) break;
      if (TryFields(search, search.current(), {{name, simple}})) break;
    }
  }
}

// Numbers that are simpler than `value`, the simplest first; of a power of two the smaller ones.
std::vector<double> Simpler(double value) {
  if (std::fabs(value) == 1 || !std::isfinite(value) || value == 0) return {};
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  std::vector<double> simpler = {1, std::copysign(1.0, value)};
  if (std::fabs(fraction) == 0.5) {
    for (int smaller = 1; smaller < std::min(exponent - 1, 16); ++smaller) {
      simpler.push_back(std::ldexp(std::copysign(1.0, value), smaller));
    }
    return simpler;
  }
  simpler.push_back(std::copysign(std::exp2(std::round(std::log2(std::fabs(value)))), value));
  for (const int bits : {2, 3, 5, 8}) {
    const double rounded = std::ldexp(std::round(std::ldexp(fraction, bits)), exponent - bits);
    if (rounded == value) break;
    simpler.push_back(rounded);
  }
  return simpler;
}

void SimplerValues(CaseSearch& search) {
  const std::vector<std::string> names = ValueTensors(search.current());
  if (names.empty() || search.Try(Filled(search.current(), 0))) return;
  search.Try(Filled(search.current(), 1));
  for (const std::string& name : names) {
    for (const double value : {0.0, 1.0}) {
      PlainCase filled = search.current();
      std::ranges::fill(filled.inputs.tensors[name].values, value);
      if (search.Try(filled)) break;
    }
    const PlainCase start = search.current();
    std::vector<size_t> others;
    const std::vector<double>& values = start.inputs[name].values;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != 0) others.push_back(i);
    }
    LeaveOut(others, 0, [&](const std::vector<size_t>& kept) {
      PlainCase sparse = start;
      std::vector<double>& all = sparse.inputs.tensors[name].values;
      std::ranges::fill(all, 0.0);
      for (const size_t i : kept) all[i] = values[i];
      return search.Try(sparse);
    });
    for (size_t i = 0; i < values.size(); ++i) {
      for (const double simpler : Simpler(search.current().inputs[name].values[i])) {
        PlainCase simple = search.current();
        simple.inputs.tensors[name].values[i] = simpler;
        if (search.Try(simple)) break;
      }
    }
  }
}

}  // namespace

int64_t SmallestFailing(int64_t lowest, int64_t step, int64_t current,
                        const std::function<bool(int64_t)>& fails) {
  const int64_t last = (current - lowest) / step;  // in steps
  if (last <= 0) return current;
  constexpr int64_t kOneByOne = 8;
  int64_t holds = -1, failing = last;
  for (int64_t steps = 0; steps < last; steps = steps < kOneByOne ? steps + 1 : steps * 2) {
    if (fails(lowest + steps * step)) {
      failing = steps;
      break;
    }
    holds = steps;
  }
  while (failing - holds > 1) {
    const int64_t middle = std::midpoint(holds, failing);
    (fails(lowest + middle * step) ? failing : holds) = middle;
  }
  return failing == last ? current : lowest + failing * step;
}

std::optional<MinimalCase> Minimize(const KernelInfo& info, const CaseFile& failing,
                                    const JudgedBy& judged_by, const SearchLimits& limits) {
  CaseSearch search(info, failing, judged_by, limits);
  if (!search.Failed()) return std::nullopt;
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    const PlainCase before = search.current();
    FewerTokens(search);
    SmallerPositions(search);
    FewerHeads(search);
    DefaultParameters(search);
    if (round == 0) SimplerValues(search);
    SmallerWidths(search);
    SimplerValues(search);
    if (search.current().scheme == before.scheme && search.current().inputs == before.inputs) break;
  }
  MinimalCase minimal{.asked = search.current().ToFile(info),
                      .failure = search.end().failure,
                      .answer = search.end().answer,
                      .witness = search.end().witness};
  SayWhatMatters(search, minimal);
  minimal.calls = search.calls();
  minimal.complete = !search.Ended();
  return minimal;
}

}  // namespace posgauge
