#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "posgauge/golden/manifest.h"

namespace posgauge::golden {

/// A manifest and where it is in its corpus: "rope/llama-2-7b", a path without extension.
struct PlacedManifest {
  std::string place;
  Manifest manifest;
};

/// Every manifest below a folder, in the order of their places; of one file that manifest, placed
/// by its stem. Throws FileError and FormatError.
std::vector<PlacedManifest> ReadCorpus(const std::filesystem::path& root);

/// Which cases are meant: those that have one of each list's words; an empty list is no condition.
struct Selection {
  std::vector<std::string> schemes, quantities, dtypes, results, flags;
  std::vector<std::string> faults;  // of wrong answers and of dialects
};

/// Throws ParameterError for a word that names no scheme, quantity, dtype or result.
void CheckSelection(const Selection& selection);

/// Removes what is not meant: cases, dtypes of the cases that stay, notes of flags that no case has
/// any more; a manifest without cases too.
void Select(std::vector<PlacedManifest>& corpus, const Selection& selection);

}  // namespace posgauge::golden
