#include "posgauge/golden/corpus.h"

#include <algorithm>

#include "posgauge/golden/midpoint.h"
#include "posgauge/schemes/base/error.h"

namespace posgauge::golden {

namespace {

bool Meant(const std::vector<std::string>& words, std::string_view word) {
  return words.empty() || std::ranges::find(words, word) != words.end();
}

bool Meant(const Selection& selection, const Case& golden_case) {
  return Meant(selection.quantities, VariantName(golden_case.quantity)) &&
         Meant(selection.results, VariantName(golden_case.result)) &&
         Meant(selection.faults, golden_case.fault) &&
         (selection.flags.empty() ||
          std::ranges::any_of(golden_case.flags, [&](const std::string& flag) {
            return Meant(selection.flags, flag);
          }));
}

// What is left is what a manifest of these dtypes alone would be.
void KeepDtypes(Case& golden_case, const std::vector<std::string>& dtypes) {
  if (dtypes.empty()) return;
  const auto dropped = [&](Dtype dtype) { return !Meant(dtypes, Name(dtype)); };
  std::erase_if(golden_case.dtypes, dropped);
  for (auto& [name, roundings] : golden_case.outputs) {
    std::erase_if(roundings, [&](const auto& entry) { return dropped(entry.first); });
    for (auto& [dtype, rounding] : roundings) {
      rounding.midpoint = SmallestMidpointDistance(roundings, dtype);
    }
  }
}

}  // namespace

std::vector<PlacedManifest> ReadCorpus(const std::filesystem::path& root) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(root, ignored)) {
    return {{root.stem().string(), ReadManifest(root)}};
  }
  std::vector<PlacedManifest> corpus;
  for (const std::filesystem::path& path : FilesIn(root, ".json")) {
    const std::filesystem::path place = path.lexically_relative(root);
    corpus.push_back(
        {std::filesystem::path(place).replace_extension().generic_string(), ReadManifest(path)});
  }
  return corpus;
}

void CheckSelection(const Selection& selection) {
  std::vector<std::string> words;
  for (const SchemeInfo& info : AllSchemes()) words.push_back(info.name);
  for (const std::string& word : selection.schemes) {
    Require(std::ranges::find(words, word) != words.end(), "--scheme must be one of {}, got '{}'",
            fmt::join(words, ", "), word);
  }
  for (const std::string& word : selection.quantities) ParseVariant<Quantity>("--quantity", word);
  for (const std::string& word : selection.results) ParseVariant<Result>("--result", word);
  for (const std::string& word : selection.dtypes) {
    if (word != Name(Dtype::i32)) ParseFloatDtype("--dtype", word);
  }
}

void Select(std::vector<PlacedManifest>& corpus, const Selection& selection) {
  for (auto& [place, manifest] : corpus) {
    std::erase_if(manifest.cases, [&](const Case& golden_case) {
      return !Meant(selection.schemes, Name(manifest.scheme)) || !Meant(selection, golden_case);
    });
    for (Case& golden_case : manifest.cases) KeepDtypes(golden_case, selection.dtypes);
    std::erase_if(manifest.cases,
                  [](const Case& golden_case) { return golden_case.dtypes.empty(); });
    std::erase_if(manifest.notes, [&](const auto& note) {
      return std::ranges::none_of(manifest.cases, [&](const Case& golden_case) {
        return std::ranges::find(golden_case.flags, note.first) != golden_case.flags.end();
      });
    });
  }
  std::erase_if(corpus, [](const PlacedManifest& placed) { return placed.manifest.cases.empty(); });
}

}  // namespace posgauge::golden
