// posgauge golden export: a corpus, or some of it, in another form.
#include "posgauge/golden/export.h"

#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "posgauge/cli/case_folder.h"
#include "posgauge/cli/command.h"
#include "posgauge/cli/corpus_options.h"
#include "posgauge/cli/golden_record.h"
#include "posgauge/schemes/base/error.h"
#include "posgauge/verify/atomic_file.h"

namespace posgauge::cli {

namespace {

using namespace golden;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

struct ExportOptions {
  CorpusOptions corpus;
  std::string format, out;
  bool json = false;
};

// The folder appears whole or not at all: it is made beside its place and renamed. What a process
// that is killed leaves is named for what it is.
void WriteFolder(const fs::path& out, const std::map<std::string, std::string>& files) {
  const fs::path whole = fs::absolute(out).lexically_normal();
  const fs::path place = whole.has_filename() ? whole : whole.parent_path();
  MakeFolder(place.parent_path());
  const fs::path partial =
      place.parent_path() / fmt::format("{}.partial-{}", place.filename().string(), getpid());
  std::error_code error;
  try {
    MakeFolder(partial);
    for (const auto& [name, bytes] : files) {
      MakeFolder((partial / name).parent_path());
      WriteFileAtomically(partial / name, bytes);
    }
    fs::rename(partial, place, error);
    if (error) throw FileError(fmt::format("{}: {}", out.string(), error.message()));
  } catch (...) {
    fs::remove_all(partial, error);
    throw;
  }
}

int ExportCorpus(const ExportOptions& options) {
  const auto format = ParseVariant<ExportFormat>("--format", options.format);
  std::error_code ignored;
  Require(!options.out.empty(), "--out must name a folder");
  Require(!fs::exists(fs::symlink_status(options.out, ignored)),
          "--out must not exist yet, so that nothing is mixed with it: {}", options.out);
  const std::map<std::string, std::string> files = Export(options.corpus.Read(), format);
  if (!files.empty()) WriteFolder(options.out, files);
  size_t bytes = 0;
  for (const auto& [name, content] : files) bytes += content.size();
  if (options.json) {
    ordered_json record{{"version", 1},
                        {"format", options.format},
                        {"folder", options.out},
                        {"bytes", bytes},
                        {"files", ordered_json::array()}};
    for (const auto& [name, content] : files) record["files"].push_back(name);
    fmt::print("{}\n", record.dump(2));
  } else {
    fmt::print("{}: {} files, {} bytes as {}\n", options.out, files.size(), bytes, options.format);
  }
  return files.empty() ? kNothingDone : kHolds;
}

}  // namespace

void AddGoldenExport(CLI::App& golden, int& exit_code) {
  CLI::App* command = golden.add_subcommand("export", "A corpus, or some of it, in another form");
  auto options = std::make_shared<ExportOptions>();
  options->corpus.AddTo(*command);
  command
      ->add_option("--format", options->format,
                   "safetensors, npz, json, onnx (backend tests), c, cpp or rust (arrays)")
      ->required();
  command->add_option("--out", options->out, "folder, which must not exist")->required();
  command->add_flag("--json", options->json, "print JSON");
  command->callback([options, &exit_code] { exit_code = ExportCorpus(*options); });
}

}  // namespace posgauge::cli
