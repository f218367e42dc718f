// What of a minimal case could be otherwise: each thing is changed alone and the kernel asked
// again.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "posgauge/verify/case_search.h"

namespace posgauge {

namespace {

class Probe {
 public:
  Probe(CaseSearch& search, MinimalCase& minimal)
      : search_(search), minimal_(minimal), smallest_(search.current()) {}

  void All() {
    Tokens();
    Heads();
    Width();
    Parameters();
    Values();
  }

 private:
  void Say(bool matters, std::string what) {
    (matters ? minimal_.matters : minimal_.does_not_matter).push_back(std::move(what));
  }

  bool FailsAt(const std::string& name, double position) {
    PlainCase moved = smallest_;
    moved.inputs.tensors[name].values[0] = position;
    return search_.Fails(moved);
  }

  void Tokens() {
    for (const std::vector<std::string>& group : TokenGroups(smallest_)) {
      const ExactTensor& positions = smallest_.inputs[group.front()];
      const std::string name = group.front() == "positions"         ? "position"
                               : group.front() == "query_positions" ? "query position"
                                                                    : "key position";
      if (positions.shape[0] > 1) {
        Say(true, fmt::format("{} {}s in one call", positions.shape[0], name));
        continue;
      }
      if (positions.values.size() > 1) {
        Say(true, fmt::format("position ({})", fmt::join(positions.values, ", ")));
        continue;
      }
      const double at = positions.values[0];
      const std::vector<double> farther = {at + 1, 2 * at + 1, 4 * at + 17};
      const bool onwards =
          std::ranges::all_of(farther, [&](double other) { return FailsAt(group.front(), other); });
      Say(at != 0 || !onwards, at == 0 && onwards ? name
                               : onwards          ? fmt::format("{} >= {}", name, at)
                                                  : fmt::format("{} {}", name, at));
    }
  }

  void Heads() {
    int64_t heads = CallHeads(smallest_);
    if (ActsInAttention(smallest_.scheme)) heads = AttentionOf(smallest_.scheme).heads;
    if (heads == 1) Say(false, "heads");
    if (heads > 1) Say(true, fmt::format("heads >= {}", heads));
  }

  void Width() {
    if (!IsRotary(smallest_.scheme)) return;
    const Rotary& rotary = RotaryOf(smallest_.scheme);
    const Rotary& before = RotaryOf(search_.first().scheme);
    if (rotary.rotary_dim < rotary.head_dim) {
      Say(true, "rotary_dim < head_dim");
    } else if (before.rotary_dim < before.head_dim) {
      Say(false, "rotary_dim < head_dim");
    }
    if (rotary.rotary_dim > 2) {
      Say(true, fmt::format("rotary_dim >= {}", rotary.rotary_dim));
    } else {
      Say(false, "rotary_dim");
    }
  }

  // Other values that a field could have.
  static std::vector<nlohmann::ordered_json> Others(const FieldInfo& field,
                                                    const nlohmann::ordered_json& value) {
    std::vector<nlohmann::ordered_json> others;
    if (value.is_boolean()) return {!value.get<bool>()};
    if (value.is_number_integer()) {
      return {2 * value.get<int64_t>() + 1, 4 * value.get<int64_t>() + 2};
    }
    if (value.is_number()) return {2 * value.get<double>(), 4 * value.get<double>()};
    for (const std::string& choice : field.choices) {
      if (value.is_string() && choice != value.get<std::string>()) others.emplace_back(choice);
    }
    return others;
  }

  void Parameters() {
    const nlohmann::ordered_json fields = ToJson(smallest_.scheme);
    const std::vector<SchemeInfo> all = AllSchemes();
    const auto scheme = std::ranges::find(all, Name(smallest_.scheme), &SchemeInfo::name);
    for (const FieldInfo& field : scheme->fields) {
      const std::vector<std::string> sizes = {"head_dim", "rotary_dim", "rotary_offset", "heads",
                                              "width"};
      if (!fields.contains(field.name) || std::ranges::find(sizes, field.name) != sizes.end()) {
        continue;
      }
      bool tried = false, fails = true;
      for (const nlohmann::ordered_json& other : Others(field, fields[field.name])) {
        const std::optional<Scheme> changed = WithFields(smallest_.scheme, {{field.name, other}});
        if (!changed || !search_.info().Serves(*changed)) continue;
        const std::optional<PlainCase> plain =
            UnderScheme(smallest_, *changed, search_.info().quantity);
        if (!plain) continue;
        tried = true;
        fails = fails && search_.Fails(*plain);
      }
      if (!tried) continue;
      const nlohmann::ordered_json& value = fields[field.name];
      Say(!fails, fails ? field.name
                        : fmt::format("{} = {}", field.name,
                                      value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }

  void Values() {
    for (const std::string& name : ValueTensors(smallest_)) {
      const ExactTensor* drawn = search_.first().inputs.Find(name);
      const auto with = [&](auto value_at) {
        PlainCase other = smallest_;
        std::vector<double>& values = other.inputs.tensors[name].values;
        for (size_t i = 0; i < values.size(); ++i) values[i] = value_at(i);
        return search_.Fails(other);
      };
      const bool fails = with([](size_t) { return 1.0; }) && with([](size_t) { return -0.75; }) &&
                         with([&](size_t i) { return drawn->values[i % drawn->values.size()]; });
      Say(!fails, "values of " + name);
    }
  }

  CaseSearch& search_;
  MinimalCase& minimal_;
  const PlainCase smallest_;
};

// "x 1 at [0, 0, 0], else 0"
std::string ValuesText(const std::string& name, const ExactTensor& tensor) {
  constexpr size_t kMost = 4;
  std::vector<std::string> others;
  size_t count = 0;
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    if (tensor.values[i] == 0) continue;
    if (++count > kMost) continue;
    std::vector<int64_t> place;
    auto rest = static_cast<int64_t>(i);
    for (size_t axis = tensor.shape.size(); axis-- > 0;) {
      place.insert(place.begin(), rest % tensor.shape[axis]);
      rest /= tensor.shape[axis];
    }
    others.push_back(fmt::format("{} at [{}]", tensor.values[i], fmt::join(place, ", ")));
  }
  if (count == 0) return fmt::format("{} 0", name);
  if (count > kMost) others.push_back(fmt::format("{} more", count - kMost));
  return fmt::format("{} {}{}", name, fmt::join(others, ", "),
                     count < tensor.values.size() ? ", else 0" : "");
}

}  // namespace

void SayWhatMatters(CaseSearch& search, MinimalCase& minimal) {
  const PlainCase& smallest = search.current();
  minimal.text = Text(smallest.scheme);
  for (const auto& [name, tensor] : smallest.inputs.tensors) {
    if (name.ends_with("positions")) {
      minimal.text += fmt::format("; {} {}", name, fmt::join(tensor.values, ", "));
    }
  }
  if (const int64_t heads = CallHeads(smallest); heads > 0) {
    minimal.text += fmt::format("; {} head{}", heads, heads == 1 ? "" : "s");
  }
  for (const std::string& name : ValueTensors(smallest)) {
    minimal.text += "; " + ValuesText(name, smallest.inputs[name]);
  }
  Probe(search, minimal).All();
  // What a limit left untried was not shown either way.
  if (search.Ended()) minimal.matters.clear();
}

}  // namespace posgauge
