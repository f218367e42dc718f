// No content of a file crashes the reader or is read as something else.
#include <fstream>
#include <sstream>

#include "model_config_reading.h"

namespace posgauge::config_test {
namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("posgauge_config_{}.json", reinterpret_cast<uintptr_t>(this))) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::filesystem::path& Path() const { return path_; }

 private:
  std::filesystem::path path_;
};

template <class Expected>
void ExpectRefused(const std::string& content, const std::string& rest) {
  const TemporaryFile file(content);
  try {
    ReadModelConfig(file.Path(), {});
    ADD_FAILURE() << "read: " << content.substr(0, 80);
  } catch (const Expected& error) {
    EXPECT_EQ(error.what(), file.Path().string() + rest);
  }
}

TEST(MalformedConfig, SaysWhere) {
  ExpectRefused<FormatError>("", ": is empty, expected JSON");
  ExpectRefused<FormatError>(" \n", ": is empty, expected JSON");
  ExpectRefused<FormatError>("{\n  \"rope_theta\": }", ":2:17: not JSON at \"}\"");
  ExpectRefused<FormatError>("{\"rope_theta\": NaN}",
                             ":1:16: NaN and Infinity are not JSON; numbers must be finite");
  ExpectRefused<FormatError>("{\"rope_theta\": -Infinity}",
                             ":1:17: NaN and Infinity are not JSON; numbers must be finite");
  ExpectRefused<FormatError>("{\"rope_theta\": 1e400}",
                             ":1:20: a number must fit in binary64 (largest 1.8e308)");
  ExpectRefused<FormatError>("{\"a\": 1, \"b\": {\"a\": 1, \"a\": 2}}",
                             ": the key \"a\" appears twice in one object, and readers disagree on "
                             "which counts");
  ExpectRefused<FormatError>("{} {}", ":1:4: not JSON at \"{}\"");
  ExpectRefused<FormatError>(std::string("{}\0{", 4), ":1:3: a zero byte is not JSON");
  ExpectRefused<FormatError>(std::string(100000, '['), ": nested deeper than 64 levels");
  ExpectRefused<FileError>(std::string((16 << 20) + 1, ' '),
                           ": cannot read: longer than 16777216 bytes");
  ExpectRefused<ParameterError>("[]", ": a config must be a JSON object, got a list");
  ExpectRefused<ParameterError>("null", ": a config must be a JSON object, got null");
}

TEST(MalformedConfig, FilesThatAreNotThere) {
  EXPECT_THROW(ReadModelConfig("/nonexistent/config.json", {}), FileError);
  EXPECT_THROW(ReadModelConfig(std::filesystem::temp_directory_path(), {}), FileError);
}

// One line that begins with the source, or a reading.
void ExpectReadOrRefused(const std::string& text) {
  try {
    Read(text, {.pairing = {}, .length = 100000});
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with("config.json:")) << message;
    EXPECT_EQ(message.find('\n'), message.npos) << message;
  }
}

std::string Content(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

TEST(MalformedConfig, EveryTruncationIsRefused) {
  for (const auto& entry : std::filesystem::directory_iterator(ModelPath("x").parent_path())) {
    if (entry.path().extension() != ".json") continue;
    const std::string whole = Content(entry.path());
    const size_t end = whole.find_last_of('}');
    for (size_t length = 0; length <= end; ++length) {
      EXPECT_THROW(Read(whole.substr(0, length)), FormatError) << entry.path() << " " << length;
    }
  }
}

TEST(MalformedConfig, EveryByteReplacedIsReadOrRefused) {
  for (const std::string name : {"llama-3.1-8b", "gemma-3-27b", "deepseek-v3", "ministral-3-3b"}) {
    const std::string whole = Content(ModelPath(name));
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const char replacement : {'\0', '"', '{', '-', '9', 'e', '\x80', '\n'}) {
        std::string changed = whole;
        changed[at] = replacement;
        ExpectReadOrRefused(changed);
      }
    }
  }
}

TEST(MalformedConfig, EveryValueReplacedIsReadOrRefused) {
  const std::vector<json> values = {nullptr,        true,   -1, 0,  1,      1e300,
                                    -1e300,         1e-300, 7,  "", "yarn", json::array(),
                                    json::object(), {1, 2}};
  for (const std::string name : {"llama-3.1-8b", "gemma-3-1b", "deepseek-v3", "gpt-j-6b"}) {
    const json whole = ReadJson(ModelPath(name));
    const json flat = whole.flatten();
    for (const auto& [pointer, ignored] : flat.items()) {
      for (const json& value : values) {
        json changed = whole;
        changed[json::json_pointer(pointer)] = value;
        ExpectReadOrRefused(changed.dump());
      }
    }
  }
}

}  // namespace
}  // namespace posgauge::config_test
