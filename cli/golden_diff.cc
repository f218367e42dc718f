// posgauge golden diff: what changed between two versions of a corpus, and why.
#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/command.h"
#include "posgauge/cli/golden_record.h"
#include "posgauge/golden/corpus_diff.h"
#include "posgauge/verify/atomic_file.h"

namespace posgauge::cli {

namespace {

using namespace golden;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

struct DiffOptions {
  std::string before, after;
  bool json = false;
};

// The changelog of a corpus: in its folder, or beside that as in the repository; empty without one.
std::string Changelog(const fs::path& root) {
  constexpr uint64_t kMostChangelog = 1 << 20;
  for (const fs::path& folder : {root, root / ".."}) {
    std::error_code ignored;
    const fs::path path = folder / "CHANGELOG.md";
    if (fs::is_regular_file(path, ignored)) return ReadFile(path, kMostChangelog);
  }
  return "";
}

std::string Text(const ValueChange& change) {
  std::string text = fmt::format("{} {}: {} of {} values changed", change.output,
                                 Name(change.dtype), change.changed, change.of);
  if (change.changed > 0) text += fmt::format(", the farthest by {} ulp", change.farthest);
  if (change.distances > 0) text += fmt::format(", {} distances", change.distances);
  return text;
}

ordered_json Record(const CaseChange& change) {
  ordered_json record{{"manifest", change.place}};
  if (!change.id.empty()) record["id"] = change.id;
  record["what"] = change.what;
  record["reasons"] = change.reasons;
  record["values"] = ordered_json::array();
  for (const ValueChange& values : change.values) {
    record["values"].push_back({{"output", values.output},
                                {"dtype", Name(values.dtype)},
                                {"changed", values.changed},
                                {"of", values.of},
                                {"farthest_ulp", values.farthest},
                                {"distances", values.distances}});
  }
  return record;
}

int Diff(const DiffOptions& options) {
  const std::vector<CaseChange> changes =
      DiffCorpora(ReadCorpus(options.before), ReadCorpus(options.after));
  const std::vector<std::string> log =
      NewLines(Changelog(options.before), Changelog(options.after));
  if (options.json) {
    ordered_json record{{"version", 1}, {"changes", ordered_json::array()}, {"changelog", log}};
    for (const CaseChange& change : changes) record["changes"].push_back(Record(change));
    fmt::print("{}\n", record.dump(2));
  } else {
    for (const CaseChange& change : changes) {
      fmt::print("{}{}{}: {}\n", change.place, change.id.empty() ? "" : " ", change.id,
                 change.what);
      for (const std::string& reason : change.reasons) fmt::print("  {}\n", reason);
      for (const ValueChange& values : change.values) fmt::print("  {}\n", Text(values));
    }
    for (const std::string& line : log) fmt::print("changelog: {}\n", line);
    fmt::print("{} changes\n", changes.size());
  }
  return changes.empty() ? kHolds : kViolated;
}

}  // namespace

void AddGoldenDiff(CLI::App& golden, int& exit_code) {
  CLI::App* command =
      golden.add_subcommand("diff", "What changed between two versions of a corpus, and why");
  auto options = std::make_shared<DiffOptions>();
  command->add_option("old", options->before, "a folder or one manifest")->required();
  command->add_option("new", options->after, "a folder or one manifest")->required();
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] { exit_code = Diff(*options); });
}

}  // namespace posgauge::cli
