#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "posgauge/golden/corpus.h"

namespace posgauge::cli {

/// A golden corpus and which of its cases are meant, on the command line.
struct CorpusOptions {
  std::string root;
  golden::Selection selection;

  CorpusOptions();
  void AddTo(CLI::App& command);
  /// What is meant, perhaps nothing. Throws ParameterError, FileError and FormatError.
  std::vector<golden::PlacedManifest> Read() const;
};

}  // namespace posgauge::cli
