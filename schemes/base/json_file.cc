#include "posgauge/schemes/base/json_file.h"

#include <algorithm>
#include <set>
#include <vector>

#include "posgauge/schemes/base/error.h"
#include "posgauge/schemes/base/fields.h"
#include "posgauge/schemes/base/read_file.h"

namespace posgauge {

namespace {

using nlohmann::json;

// Below any stack: copying and printing JSON recurse. Published configs nest 4 deep.
constexpr size_t kDeepest = 64;
constexpr size_t kLargestFile = 16 << 20;

// "config.json:3:14": line and column of a byte, from 1.
std::string Place(std::string_view text, size_t byte, const std::string& source) {
  const std::string_view before = text.substr(0, byte);
  const size_t newline = before.rfind('\n');
  const size_t line_start = newline == before.npos ? 0 : newline + 1;
  return fmt::format("{}:{}:{}", source, 1 + std::count(before.begin(), before.end(), '\n'),
                     before.size() - line_start + 1);
}

// Walks the text without building anything and throws for what a lenient reader lets through. Of
// the parser's own errors it keeps the place, which its exceptions do not always hold.
class StrictReader {
 public:
  StrictReader(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(json::number_integer_t) { return true; }
  bool number_unsigned(json::number_unsigned_t) { return true; }
  bool number_float(json::number_float_t, const json::string_t&) { return true; }
  bool string(json::string_t&) { return true; }
  bool binary(json::binary_t&) { return true; }
  bool start_object(size_t) { return Enter(); }
  bool start_array(size_t) { return Enter(); }
  bool end_object() { return Leave(); }
  bool end_array() { return Leave(); }

  bool key(json::string_t& name) {
    if (!keys_.back().insert(name).second) {
      throw FormatError(fmt::format(
          "{}: the key {} appears twice in one object, and readers disagree on which counts",
          source_, Shown(name)));
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&, const json::exception& error) {
    const size_t byte = position == 0 ? 0 : position - 1;  // the parser counts what it has read
    throw FormatError(fmt::format("{}: {}", Place(text_, byte, source_), Reason(byte, error)));
  }

 private:
  bool Enter() {
    keys_.emplace_back();
    if (keys_.size() > kDeepest) {
      throw FormatError(fmt::format("{}: nested deeper than {} levels", source_, kDeepest));
    }
    return true;
  }

  bool Leave() {
    keys_.pop_back();
    return true;
  }

  std::string Reason(size_t byte, const json::exception& error) const {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow) return "a number must fit in binary64 (largest 1.8e308)";
    if (byte >= text_.size()) return "the JSON ends too early";
    if (text_[byte] == 'N' || text_[byte] == 'I') {
      return "NaN and Infinity are not JSON; numbers must be finite";
    }
    return fmt::format("not JSON at {}", Shown(std::string(text_.substr(byte, 20))));
  }

  std::string_view text_;
  const std::string& source_;
  std::vector<std::set<std::string>> keys_;  // one an open object or list
};

}  // namespace

json ParseJson(std::string_view text, const std::string& source) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) {
    throw FormatError(fmt::format("{}: is empty, expected JSON", source));
  }
  // The parser would take a zero byte for the end of the text.
  if (const size_t zero = text.find('\0'); zero != text.npos) {
    throw FormatError(fmt::format("{}: a zero byte is not JSON", Place(text, zero, source)));
  }
  StrictReader strict(text, source);
  json::sax_parse(text, &strict);
  return json::parse(text);
}

json ReadJson(const std::filesystem::path& path) {
  return ParseJson(ReadFile(path, kLargestFile), path.string());
}

}  // namespace posgauge
