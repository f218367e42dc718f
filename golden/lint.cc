#include "posgauge/golden/lint.h"

#include <algorithm>
#include <map>
#include <set>

#include "posgauge/golden/manifest.h"
#include "posgauge/golden/manifest_schema.h"
#include "posgauge/golden/sha256.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/schemes/base/json_file.h"
#include "posgauge/verify/atomic_file.h"

namespace posgauge::golden {

namespace {

namespace fs = std::filesystem;

// What a case asks: its scheme, quantity and inputs. Dtypes may be spread over cases.
std::string Question(const Manifest& manifest, const Case& golden_case) {
  std::string question = ToJson(manifest.scheme).dump();
  question += VariantName(golden_case.quantity);
  for (const auto& [name, tensor] : golden_case.inputs) {
    question += fmt::format("{}[{}]", name, fmt::join(tensor.shape(), ","));
    const auto bytes = tensor.bytes();
    question.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return Sha256(question);
}

std::string Answer(const Case& golden_case) {
  std::string answer = DepartureToJson(golden_case.departure).dump();
  for (Dtype dtype : golden_case.dtypes) answer += fmt::format(",{}", Name(dtype));
  return answer;
}

class Linter {
 public:
  explicit Linter(Lint& lint) : lint_(lint) {}

  void Check(const fs::path& path) {
    ++lint_.files;
    const std::string file = path.string();
    // Also of what cannot be read, so that one mistake is one finding.
    for (std::string_view ending : kPayloadEndings) {
      payloads_.insert(fs::path(path).replace_extension(ending));
    }
    try {
      const auto violation = SchemaViolation(ParseJson(ReadFile(path, kMaxManifest), file));
      if (violation) Find(file, "schema", *violation);
      const Files files = ReadFiles(path);
      const Manifest manifest = ReadManifest(path);
      CheckNames(path, files, manifest);
      CheckProvenance(file, manifest);
      CheckCases(file, manifest);
    } catch (const Error& error) {
      const std::string what = error.what();
      const bool named = what.starts_with(file + ": ");
      Find(file, "format", named ? what.substr(file.size() + 2) : what);
    }
  }

  const std::set<fs::path>& payloads() const { return payloads_; }

  void Find(const std::string& file, const std::string& rule, const std::string& what) {
    lint_.findings.push_back({file, rule, what});
  }

 private:
  void CheckNames(const fs::path& path, const Files& files, const Manifest& manifest) {
    const std::string file = path.string(), stem = path.stem().string();
    if (path.parent_path().filename() != Name(manifest.scheme)) {
      Find(file, "name",
           fmt::format("must lie in a folder {}, its scheme's word", Name(manifest.scheme)));
    }
    const std::string payload =
        ParseJson(files.manifest, file)["payload"]["file"].get<std::string>();
    const std::string wanted = stem + PayloadEnding(files, file);
    if (payload != wanted) {
      Find(file, "name", fmt::format("its payload must be {}, is {}", wanted, payload));
    }
    if (stem.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos) {
      Find(file, "name", "must be lower-case letters and digits joined by '-'");
    }
  }

  void CheckProvenance(const std::string& file, const Manifest& manifest) {
    const auto require = [&](bool holds, const std::string& what) {
      if (!holds) Find(file, "provenance", what);
    };
    require(!manifest.generator.empty() && !manifest.version.empty(),
            "must say what made it, and which version");
    require(!manifest.comment.empty(), "must say what it is about, comment is empty");
    require(!manifest.cases.empty(), "must have cases");
    for (const Case& golden_case : manifest.cases) {
      require(
          !golden_case.comment.empty() && !golden_case.flags.empty(),
          fmt::format("case {} must say why it exists, by a comment and flags", golden_case.id));
      require(golden_case.result == Result::valid ||
                  (!golden_case.fault.empty() && !golden_case.cause.empty()),
              fmt::format("case {} must name its fault or dialect, and the cause", golden_case.id));
    }
  }

  void CheckCases(const std::string& file, const Manifest& manifest) {
    std::set<std::string> right;
    for (const Case& golden_case : manifest.cases) {
      if (golden_case.result == Result::valid) right.insert(Question(manifest, golden_case));
    }
    for (const Case& golden_case : manifest.cases) {
      ++lint_.cases;
      const std::string question = Question(manifest, golden_case);
      if (golden_case.result != Result::valid && !right.contains(question)) {
        Find(file, "label",
             fmt::format("case {} is {}, and no case has the right answer to the same inputs",
                         golden_case.id, VariantName(golden_case.result)));
      }
      const std::string place = fmt::format("{}, case {}", file, golden_case.id);
      // Two models may have the same positions, and each its own vectors.
      const auto [at, is_new] =
          asked_.emplace(question + Answer(golden_case) + manifest.source, place);
      if (!is_new) {
        Find(file, "duplicate",
             fmt::format("case {} asks what {} does", golden_case.id, at->second));
      }
    }
  }

  Lint& lint_;
  std::map<std::string, std::string> asked_;  // a question and its answer: where it stands
  std::set<fs::path> payloads_;
};

}  // namespace

Lint LintCorpus(const fs::path& root, int64_t most_bytes) {
  Lint lint;
  Linter linter(lint);
  for (const fs::path& path : FilesIn(root, ".json")) linter.Check(path);
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    lint.bytes += static_cast<int64_t>(entry.file_size());
    const fs::path& path = entry.path();
    const bool known = path.extension() == ".json" || linter.payloads().contains(path);
    if (!known) linter.Find(path.string(), "stray", "no manifest names it");
  }
  if (lint.bytes > most_bytes) {
    linter.Find(root.string(), "size",
                fmt::format("{} bytes, at most {} are allowed", lint.bytes, most_bytes));
  }
  std::ranges::stable_sort(lint.findings, {}, &LintFinding::file);
  return lint;
}

}  // namespace posgauge::golden
