// posgauge golden lint: what the rules of a corpus do not allow, without recomputing it.
#include "posgauge/golden/lint.h"

#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/cli/golden_folder.h"
#include "posgauge/cli/golden_record.h"
#include "posgauge/schemes/base/fields.h"

namespace posgauge::cli {

namespace {

using namespace golden;
using nlohmann::ordered_json;

struct LintOptions {
  std::string root = DefaultGoldenFolder();
  double most_mebibytes = static_cast<double>(kMostCorpusBytes >> 20);
  bool json = false;
};

int LintFolder(const LintOptions& options) {
  Require(options.most_mebibytes >= 0 && options.most_mebibytes <= 0x1p30,
          "--most-mebibytes must be in 0..2^30, got {}", options.most_mebibytes);
  const Lint lint = LintCorpus(options.root, static_cast<int64_t>(options.most_mebibytes * 0x1p20));
  if (options.json) {
    ordered_json record{{"version", 1},
                        {"files", lint.files},
                        {"cases", lint.cases},
                        {"bytes", lint.bytes},
                        {"findings", ordered_json::array()}};
    for (const LintFinding& finding : lint.findings) {
      record["findings"].push_back(
          {{"file", finding.file}, {"rule", finding.rule}, {"what", finding.what}});
    }
    fmt::print("{}\n", record.dump(2));
  } else {
    for (const LintFinding& finding : lint.findings) {
      fmt::print("{}: {}: {}\n", finding.file, finding.rule, finding.what);
    }
    fmt::print("{}: {} manifests, {} cases, {} bytes: {}\n", options.root, lint.files, lint.cases,
               lint.bytes,
               lint.files == 0         ? "nothing to check"
               : lint.findings.empty() ? "clean"
                                       : fmt::format("{} findings", lint.findings.size()));
  }
  if (!lint.findings.empty()) return kViolated;
  return lint.files > 0 ? kHolds : kNothingDone;
}

}  // namespace

void AddGoldenLint(CLI::App& golden, int& exit_code) {
  CLI::App* command = golden.add_subcommand(
      "lint", "Schema, names, provenance, duplicates, labels and size of a corpus");
  auto options = std::make_shared<LintOptions>();
  command->add_option("path", options->root, "a folder")->capture_default_str();
  command->add_option("--most-mebibytes", options->most_mebibytes, "what all files may take")
      ->capture_default_str();
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] { exit_code = LintFolder(*options); });
}

}  // namespace posgauge::cli
