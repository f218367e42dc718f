#include "posgauge/verify/repro.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "posgauge/schemes/base/scalars.h"
#include "posgauge/verify/plan.h"

namespace posgauge {

namespace {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

template <class Number>
Number ParseNumber(std::string_view what, std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  Require(error == std::errc() && rest == end && !text.empty(),
          "repro id: {} must be a number, got '{}'", what, text);
  return value;
}

// The part after its letter: "h4" is "4".
std::string_view After(char letter, std::string_view what, std::string_view part) {
  Require(!part.empty() && part.front() == letter, "repro id: {} must begin with '{}', got '{}'",
          what, letter, part);
  return part.substr(1);
}

// The value of a field without characters that a shell or the id minds: a list as 1.0:2.5.
std::string SettingOf(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::vector<std::string> entries;
  for (const auto& entry : value) entries.push_back(entry.dump());
  return fmt::format("{}", fmt::join(entries, ":"));
}

// The same as ParseScheme takes it: a list as [1.0,2.5].
std::string AsSetting(std::string setting, const std::vector<std::string>& lists) {
  const size_t equals = setting.find('=');
  const bool is_list =
      std::find(lists.begin(), lists.end(), setting.substr(0, equals)) != lists.end();
  if (equals == std::string::npos || !is_list) return setting;
  std::replace(setting.begin(), setting.end(), ':', ',');
  return fmt::format("{}=[{}]", setting.substr(0, equals), setting.substr(equals + 1));
}

}  // namespace

std::vector<double> ReproId::Positions() const {
  if (const auto* position = std::get_if<double>(&positions)) return {*position};
  const Plan& plan = std::get<Plan>(positions);
  std::vector<int64_t> lengths = LengthsOf(scheme);
  if (plan.model_length) lengths.push_back(*plan.model_length);
  return PlanPositions(plan.count, plan.largest, lengths, seed);
}

std::string ReproId::Text() const {
  std::string settings;
  const nlohmann::ordered_json defaults = ToJson(SchemeFromJson({{"scheme", Name(scheme)}}));
  const nlohmann::ordered_json fields = ToJson(scheme);
  for (const auto& [name, value] : fields.items()) {
    if (value == defaults[name]) continue;
    settings += fmt::format(",{}={}", name, SettingOf(value));
  }
  std::string where;
  if (const auto* position = std::get_if<double>(&positions)) {
    where = fmt::format("p{}", *position);
  } else {
    const Plan& plan = std::get<Plan>(positions);
    where = fmt::format("n{}-{}", plan.count, plan.largest);
    if (plan.model_length) where += fmt::format("-{}", *plan.model_length);
  }
  return fmt::format("{}/{}/{}{}/{}/h{}/s{}", check, kernel, Name(scheme), settings, where, heads,
                     seed);
}

ReproId ReproId::Parse(std::string_view text) {
  Require(std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; }),
          "repro id: must be one word of printable ASCII, got {}", Shown(text));
  const std::vector<std::string> parts = Split(text, '/');
  Require(parts.size() == 6,
          "repro id: expected check/kernel/scheme/positions/heads/seed, got '{}'", text);
  ReproId id;
  id.check = parts[0];
  id.kernel = parts[1];
  Require(!id.check.empty() && !id.kernel.empty(), "repro id: check and kernel must not be empty");
  std::vector<std::string> settings = Split(parts[2], ',');
  const std::string name = settings.front();
  settings.erase(settings.begin());
  // Fields that are not named keep the scheme's own defaults, also where ParseScheme would couple
  // head_dim and rotary_dim.
  Scheme scheme = SchemeFromJson({{"scheme", name}});
  for (std::string& setting : settings) setting = AsSetting(setting, ListFields(name));
  Apply(scheme, settings);
  id.scheme = scheme;
  if (parts[3].starts_with('p')) {
    const auto position = ParseNumber<double>("position", After('p', "positions", parts[3]));
    Require(std::isfinite(position), "repro id: position must be finite, got '{}'", parts[3]);
    id.positions = position;
  } else {
    const std::vector<std::string> plan = Split(After('n', "positions", parts[3]), '-');
    Require(plan.size() == 2 || plan.size() == 3,
            "repro id: a plan of positions is n<count>-<largest> or n<count>-<largest>-<length>, "
            "got '{}'",
            parts[3]);
    Plan& parsed = id.positions.emplace<Plan>();
    parsed.count = ParseNumber<int64_t>("count", plan[0]);
    parsed.largest = ParseNumber<int64_t>("largest position", plan[1]);
    if (plan.size() == 3) parsed.model_length = ParseNumber<int64_t>("model length", plan[2]);
  }
  id.heads = ParseNumber<int64_t>("heads", After('h', "heads", parts[4]));
  Require(id.heads >= 1 && id.heads <= 4096, "repro id: heads must be in 1..4096, got {}",
          id.heads);
  id.seed = ParseNumber<uint64_t>("seed", After('s', "seed", parts[5]));
  return id;
}

}  // namespace posgauge
