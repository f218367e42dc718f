#include "posgauge/golden/pretty_json.h"

#include <algorithm>

#include "posgauge/schemes/base/error.h"

namespace posgauge::golden {

namespace {

using nlohmann::ordered_json;

constexpr size_t kColumns = 120;

bool IsPlain(const ordered_json& json) { return !json.is_structured() || json.empty(); }

bool IsPlainList(const ordered_json& json) {
  return json.is_array() && std::all_of(json.begin(), json.end(), IsPlain);
}

bool StaysOnLine(const ordered_json& json, const std::string& line, size_t column) {
  if (IsPlain(json) || IsPlainList(json)) return true;
  return json.is_object() && column + line.size() < kColumns &&
         std::all_of(json.begin(), json.end(), [](const ordered_json& value) {
           return IsPlain(value) || IsPlainList(value);
         });
}

// {"a": 1, "b": [2, 3]}: dump() leaves no spaces.
std::string OnOneLine(const ordered_json& json) {
  if (IsPlain(json)) return json.dump();
  std::string line(1, json.is_object() ? '{' : '[');
  for (const auto& [key, value] : json.items()) {
    if (line.size() > 1) line += ", ";
    if (json.is_object()) line += ordered_json(key).dump() + ": ";
    line += OnOneLine(value);
  }
  line += json.is_object() ? '}' : ']';
  return line;
}

// `column` is where the value begins.
void Append(const ordered_json& json, size_t indent, size_t column, std::string& text) {
  const std::string line = OnOneLine(json);
  if (StaysOnLine(json, line, column)) {
    text += line;
    return;
  }
  const std::string inner(indent + 2, ' ');
  text += json.is_object() ? "{\n" : "[\n";
  bool first = true;
  for (const auto& [key, value] : json.items()) {
    if (!first) text += ",\n";
    first = false;
    std::string label;
    if (json.is_object()) label = ordered_json(key).dump() + ": ";
    text += inner + label;
    Append(value, indent + 2, inner.size() + label.size(), text);
  }
  text += '\n';
  text.append(indent, ' ');
  text += json.is_object() ? '}' : ']';
}

}  // namespace

std::string PrettyJson(const ordered_json& json) {
  std::string text;
  try {
    Append(json, 0, 0, text);
  } catch (const ordered_json::exception&) {
    throw ParameterError("text in JSON must be UTF-8");
  }
  return text + "\n";
}

}  // namespace posgauge::golden
