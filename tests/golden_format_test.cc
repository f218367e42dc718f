// The readers in the documentation of the format read the shipped vectors.
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "posgauge/verify/atomic_file.h"
#include "posgauge/verify/safetensors.h"
#include "temporary_folder.h"

namespace posgauge::golden {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = POSGAUGE_SOURCE_DIR;

// The fenced Python blocks of the format's page.
std::vector<std::string> Snippets() {
  std::ifstream file(kRoot / "docs/golden-format.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> snippets;
  const std::string fence = "```python\n";
  for (size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    snippets.push_back(text.substr(at, text.find("```", at) - at));
  }
  return snippets;
}

std::string Output(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  for (size_t got = 0; (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.append(buffer, got);
  }
  const int status = pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command << "\n" << output;
  return output;
}

TEST(golden_format, PythonReadsWhatWasWritten) {
  const std::string python = "/usr/bin/python3";
  const std::vector<std::string> snippets = Snippets();
  ASSERT_EQ(snippets.size(), 2u);
  // The first needs numpy; the second nothing.
  const bool has_numpy = Output(python +
                                " -c 'import importlib.util as u;"
                                "print(u.find_spec(\"numpy\") is not None)'") == "True\n";
  TemporaryFolder folder;
  for (size_t i = has_numpy ? 0 : 2; i < 2 * snippets.size(); ++i) {
    const fs::path manifest =
        kRoot / "golden/vectors/rope" / (i % 2 == 0 ? "special-inputs.json" : "eight-bits.json");
    WriteFileAtomically(folder / "read.py", snippets[i / 2]);
    std::istringstream lines(Output(
        fmt::format("{} {} {} 2>&1", python, (folder / "read.py").string(), manifest.string())));
    Safetensors payload = ReadSafetensors(fs::path(manifest).replace_extension(".safetensors"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name, word;
      words >> name;
      ASSERT_TRUE(payload.tensors.contains(name)) << line;
      const Tensor& tensor = payload.tensors.at(name);
      for (size_t k = 0; k < tensor.size(); ++k) {
        ASSERT_TRUE(words >> word) << line;
        const double read = std::strtod(word.c_str(), nullptr), value = tensor.Value(k);
        EXPECT_TRUE(std::isnan(value) ? std::isnan(read)
                                      : read == value && std::signbit(read) == std::signbit(value))
            << name << "[" << k << "] " << word;
      }
      EXPECT_FALSE(words >> word) << line;
      payload.tensors.erase(name);
    }
    EXPECT_EQ(payload.tensors.size(), 0u) << "tensors that the snippet did not print";
  }
}

}  // namespace
}  // namespace posgauge::golden
