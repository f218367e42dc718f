#include "posgauge/cli/corpus_options.h"

#include "posgauge/cli/golden_folder.h"

namespace posgauge::cli {

CorpusOptions::CorpusOptions() : root(DefaultGoldenFolder()) {}

void CorpusOptions::AddTo(CLI::App& command) {
  command.add_option("path", root, "a folder or one manifest")->capture_default_str();
  const auto list = [&](const char* name, std::vector<std::string>& words, const char* text) {
    command.add_option(name, words, text)->delimiter(',');
  };
  list("--scheme", selection.schemes, "only of these schemes");
  list("--quantity", selection.quantities, "only these quantities");
  list("--dtype", selection.dtypes, "only values of these dtypes");
  list("--result", selection.results, "only valid, acceptable or invalid ones");
  list("--fault", selection.faults, "only answers by these faults or dialects");
  list("--flag", selection.flags, "only cases with one of these flags");
}

std::vector<golden::PlacedManifest> CorpusOptions::Read() const {
  golden::CheckSelection(selection);
  std::vector<golden::PlacedManifest> corpus = golden::ReadCorpus(root);
  golden::Select(corpus, selection);
  return corpus;
}

}  // namespace posgauge::cli
