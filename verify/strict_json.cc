#include "posgauge/verify/strict_json.h"

#include <set>
#include <vector>

#include "posgauge/schemes/base/error.h"

namespace posgauge {

namespace {

using nlohmann::json;
using Event = json::parse_event_t;

// "[json.exception.parse_error.101] parse error at line 1, column 2: ..." without the tag.
std::string Reason(const std::exception& error) {
  const std::string text = error.what();
  const size_t tag_end = text.find("] ");
  return tag_end == std::string::npos ? text : text.substr(tag_end + 2);
}

}  // namespace

json ParseStrictJson(std::string_view text, const std::string& path) {
  // The parser would take a zero byte for the end of the text.
  if (const size_t zero = text.find('\0'); zero != text.npos) {
    throw FormatError(fmt::format("{}: not JSON: a zero byte at byte {}", path, zero));
  }
  std::vector<std::set<std::string>> keys;  // of the objects that are open; arrays hold none
  const auto check = [&](int, Event event, json& parsed) {
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        keys.emplace_back();
        if (keys.size() > kMaxJsonDepth) {
          throw FormatError(
              fmt::format("{}: JSON must not be nested deeper than {}", path, kMaxJsonDepth));
        }
        break;
      case Event::key:
        if (!keys.back().insert(parsed.get<std::string>()).second) {
          throw FormatError(
              fmt::format("{}: the key {} must not occur twice", path, Excerpt(parsed)));
        }
        break;
      case Event::object_end:
      case Event::array_end:
        keys.pop_back();
        break;
      case Event::value:
        break;
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), check);
  } catch (const json::exception& error) {
    throw FormatError(fmt::format("{}: not JSON: {}", path, Reason(error)));
  }
}

std::string Excerpt(const json& value) {
  constexpr size_t kMostCharacters = 80;
  std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  if (text.size() > kMostCharacters) text = text.substr(0, kMostCharacters) + "...";
  return text;
}

}  // namespace posgauge
